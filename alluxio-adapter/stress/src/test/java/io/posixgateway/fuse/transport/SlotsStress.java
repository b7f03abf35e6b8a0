package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.time.Clock;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The slots of requests: one of {@link MessageSlots} is with one lane, or handed over, or free; each of the
 * {@link FinishedExchanges} is taken once, and whoever pushes onto an empty list is told so.
 */
public final class SlotsStress {
    private SlotsStress() {}

    /** A lane hands a slot over while the pool answers the request in another. */
    @JCStressTest
    @Outcome(id = "2, 3, 0", expect = Expect.ACCEPTABLE, desc = "All slots are there, each once.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "A slot was lost, or is with two, or is still counted as handed over.")
    @State
    public static class OffloadWhileAnswered {
        /** One is free: with none, who hands over has to wait for the answer, and nothing is at the same time. */
        private final MessageSlots slots = new MessageSlots(3, 4096, Clock.system());

        private final DeviceWorker lane = new DeviceWorker(-1, slots.take());
        private final MessageSlot answered = lane.current;
        private MessageSlot handedOver;

        public OffloadWhileAnswered() {
            answered.begin(lane, 40);
            answered.offload();
            lane.current.begin(lane, 40);
        }

        @Actor
        public void answer() {
            answered.reply(-5, 0);
        }

        @Actor
        public void offload() {
            MessageSlot from = lane.current;
            handedOver = from.offload() == null ? null : from;
        }

        @Arbiter
        public void end(III_Result r) {
            Set<MessageSlot> all = new HashSet<>(Set.of(lane.current));
            r.r1 = handedOver == null ? 1 : 2;
            if (handedOver != null) {
                handedOver.reply(-5, 0);
            }
            int count = 1;
            for (MessageSlot slot = slots.take(); slot != null && count < 9; slot = slots.take()) {
                all.add(slot);
                count++;
            }
            r.r2 = all.size() == count ? count : -count;
            r.r3 = outstanding();
            slots.unmap();
        }

        private int outstanding() {
            try {
                return slots.awaitAnswered(0) ? 0 : 1;
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Two give back while the queue's thread takes. */
    @JCStressTest
    @Outcome(
            id = {"0, 2, 1", "1, 1, 2", "2, 0, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "Each is taken once, and one wake-up tells of those left.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "One is lost, or comes twice, or lies there without a wake-up.")
    @State
    public static class FinishWhileTaken {
        private final FinishedExchanges finished = new FinishedExchanges();
        private final UringExchange one = exchange(0);
        private final UringExchange other = exchange(1);

        private int wakes;

        private static UringExchange exchange(int slot) {
            return new UringExchange(null, slot, 0, ByteBuffer.allocate(256), null);
        }

        private static int count(UringExchange first) {
            int count = 0;
            for (UringExchange at = first; at != null && count < 9; at = at.next) {
                count++;
            }
            return count;
        }

        @Actor
        public void finish() {
            wakes = (finished.push(one) ? 1 : 0) + (finished.push(other) ? 1 : 0);
        }

        @Actor
        public void take(III_Result r) {
            r.r1 = count(finished.takeAll());
        }

        @Arbiter
        public void end(III_Result r) {
            r.r2 = count(finished.takeAll());
            r.r3 = wakes;
        }
    }

    /** Two give back at the same moment. */
    @JCStressTest
    @Outcome(id = "2, 1", expect = Expect.ACCEPTABLE, desc = "Both are there, and one of them wakes.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "One is lost, or none wakes.")
    @State
    public static class TwoFinish {
        private final FinishedExchanges finished = new FinishedExchanges();
        private boolean firstWakes;
        private boolean secondWakes;

        @Actor
        public void one() {
            firstWakes = finished.push(FinishWhileTaken.exchange(0));
        }

        @Actor
        public void other() {
            secondWakes = finished.push(FinishWhileTaken.exchange(1));
        }

        @Arbiter
        public void end(II_Result r) {
            r.r1 = FinishWhileTaken.count(finished.takeAll());
            r.r2 = (firstWakes ? 1 : 0) + (secondWakes ? 1 : 0);
        }
    }
}
