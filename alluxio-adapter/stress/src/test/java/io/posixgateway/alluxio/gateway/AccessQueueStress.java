package io.posixgateway.alluxio.gateway;

import io.posixgateway.fuse.dispatch.RequestRecord;
import io.posixgateway.fuse.wire.Opcode;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The {@link AccessQueue}: a record is read once or counted as dropped, and its room is free again. */
public final class AccessQueueStress {
    private static final RequestRecord RECORD = new RequestRecord(1, Opcode.READ, 1, 0, 0, 0, "", 0, 0, 0, 0, 0);

    private AccessQueueStress() {}

    /** Two answer requests while there is room for one; one of them reads. */
    @JCStressTest
    @Outcome(id = "2, 1", expect = Expect.ACCEPTABLE, desc = "Read or dropped; there is room for one again.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "A record was lost, read twice, or its room was.")
    @State
    public static class OfferWhilePolled {
        private final AccessQueue queue = new AccessQueue(1);
        private int read;

        @Actor
        public void offer() {
            queue.offer(RECORD);
        }

        @Actor
        public void offerAndPoll() {
            queue.offer(RECORD);
            read += queue.poll() == null ? 0 : 1;
        }

        @Arbiter
        public void end(II_Result r) {
            int left = drain();
            r.r1 = read + left + (int) queue.dropped();
            queue.offer(RECORD);
            queue.offer(RECORD);
            r.r2 = drain();
        }

        private int drain() {
            int count = 0;
            while (queue.poll() != null) {
                count++;
            }
            return count;
        }
    }
}
