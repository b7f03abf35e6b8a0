package io.posixgateway.fuse.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A queue whose kernel says what the test wants. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UringQueueTest {
    private static final int NO_FD = -1;

    private final TransportConfig sizes = new TransportConfig(1 << 17, 1, 2, 0, false);
    private final SessionMetrics metrics = new SessionMetrics(new ManualClock());
    private final RingMemory memory = RingMemory.own(UringTransport.memoryBytes(sizes));
    private final UringTransport transport = new UringTransport(NO_FD, sizes, metrics, memory);
    private final List<Exchange> handled = new ArrayList<>();
    private final List<String> broken = new ArrayList<>();

    @AfterEach
    void close() {
        transport.close();
    }

    private static final class SaidRing implements Ring {
        private final Deque<Integer> results = new ArrayDeque<>();
        private int added;

        SaidRing(int... results) {
            for (int result : results) {
                this.results.add(result);
            }
        }

        @Override
        public long open(long[] geometry, ByteBuffer box) {
            return 1;
        }

        @Override
        public int enter(long ring, int commits, int spinMicros) {
            return results.remove();
        }

        @Override
        public void grow(long ring, long address, int count) {
            added += count;
        }

        @Override
        public void flush(long ring, int commits) {}

        @Override
        public void wake(long ring) {}

        @Override
        public void close(long ring) {}
    }

    private void run(int... results) {
        run(new SaidRing(results), handled::add);
    }

    private void run(SaidRing ring, RequestHandler handler) {
        transport.whenBroken(broken::add);
        new UringQueue(transport, ring, 0, memory.address(), handler, metrics).run();
    }

    @Test
    void enter_failsForAWhile_isTriedAgain() {
        run(-Errno.EAGAIN, -Errno.EBUSY, -Errno.ENOMEM, -Errno.EINTR, 1, -Errno.ENOTCONN);
        assertThat(handled).hasSize(1);
        assertThat(broken).isEmpty();
    }

    /** Else the calls of one CPU would hang, and nobody would see why. */
    @Test
    void enter_failsForGood_tellsThatTheConnectionCannotBeServed() {
        run(-Errno.EBADF);
        assertThat(broken).singleElement().asString().contains("queue 0");
    }

    /** Else what could be answered at once would wait with them. */
    @Test
    void request_whileMostEntriesWait_findsAnEntry() {
        SaidRing ring = new SaidRing(1, -Errno.ENOTCONN);
        run(ring, exchange -> {
            exchange.offload();
        });
        assertThat(ring.added).isEqualTo(2);
    }

    @Test
    void request_whileOthersNeedNotWait_addsNoEntry() {
        SaidRing ring = new SaidRing(1, 2, -Errno.ENOTCONN);
        run(ring, exchange -> exchange.reply(0, 0));
        assertThat(ring.added).isZero();
    }
}
