package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class RemoteReaderTest {
    private static final int PART_BYTES = 300_000;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final byte[] content = new byte[10_500_000];
    private final BufferBudget budget = new BufferBudget(64 << 20);
    private final BestEffortExecutor helpers = new BestEffortExecutor(4, "help");
    private final AtomicInteger streamReads = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicInteger singleReads = new AtomicInteger();
    private final AtomicInteger besideReads = new AtomicInteger();
    private final AtomicInteger acrossBlocks = new AtomicInteger();
    private final AtomicInteger atOnce = new AtomicInteger();
    private final AtomicInteger mostAtOnce = new AtomicInteger();
    private final AtomicInteger outOfOrder = new AtomicInteger();
    private final AtomicLong streamAt = new AtomicLong();
    private boolean placed;
    private long blockBytes = Long.MAX_VALUE;
    /** What others fetch comes when this one waits for it; null: at once. */
    private volatile @Nullable Thread awaited;

    private volatile long failsAt = -1;
    private volatile long breaksAt = -1;
    private volatile CountDownLatch hangs = new CountDownLatch(0);
    private volatile long hangsFrom;

    /** Reads the content, and counts how. */
    private final class CountingSource implements StoreReader {
        @Override
        public int read(long offset, ByteBuffer into) throws StoreException {
            if (placed) {
                return readOnce(offset, into);
            }
            streamReads.incrementAndGet();
            if (streamAt.getAndSet(offset) > offset) {
                outOfOrder.incrementAndGet();
            }
            return put(offset, into);
        }

        @Override
        public int readOnce(long offset, ByteBuffer into) throws StoreException {
            singleReads.incrementAndGet();
            return put(offset, into);
        }

        @Override
        public long rangeAvailable(long offset) {
            return placed && singleReads.get() > 0 ? blockBytes - offset % blockBytes : 0;
        }

        @Override
        public int readRange(long offset, ScatterTarget rooms) throws StoreException {
            besideReads.incrementAndGet();
            int total = 0;
            int wanted = (int) Math.min(rooms.bytes(), rangeAvailable(offset));
            acrossBlocks.addAndGet(rooms.bytes() > Math.max(wanted, 1 << 20) ? 1 : 0);
            while (total < wanted) {
                ByteBuffer into = rooms.next();
                int limit = into.limit();
                into.limit(Math.min(limit, into.position() + Math.min(PART_BYTES, wanted - total)));
                total += put(offset + total, into);
                into.limit(limit);
                rooms.came();
            }
            return total;
        }

        private int put(long offset, ByteBuffer into) throws StoreException {
            mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
            try {
                if (offset >= hangsFrom) {
                    hangs.await();
                }
                Thread reader = awaited;
                if (reader != null && reader != Thread.currentThread()) {
                    Eventually.holds("it is waited for", () -> reader.getState() == Thread.State.WAITING);
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            } finally {
                atOnce.decrementAndGet();
            }
            if (offset == breaksAt) {
                throw new AssertionError("as meant");
            }
            if (offset == failsAt) {
                throw new StoreException(Errno.EIO, "no", null);
            }
            int count = (int) Math.min(into.remaining(), content.length - offset);
            bytes.addAndGet(count);
            into.put(content, (int) offset, count);
            return count;
        }

        @Override
        public void close() {}
    }

    @AfterEach
    void endHelpers() {
        helpers.close();
    }

    private RemoteReader reader(long readAheadBytes) {
        new Random(7).nextBytes(content);
        return new RemoteReader(CountingSource::new, content.length, readAheadBytes, budget, helpers);
    }

    /** A reader that is closed does not wait for what helpers still fetch; they give its memory back. */
    private void awaitUsed(long bytes) throws Exception {
        Waiting.until("all memory is given back", LIMIT, () -> budget.usedBytes() == bytes);
    }

    private void check(RemoteReader reader, int offset, int count) throws Exception {
        ByteBuffer into = ByteBuffer.allocateDirect(count);
        int wanted = Math.max(0, Math.min(count, content.length - offset));
        assertThat(reader.read(offset, into)).isEqualTo(wanted);
        assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(content, Math.min(offset, content.length), wanted));
    }

    @Test
    void requestsSlightlyOutOfOrderStillMakeOneStream() throws Exception {
        try (RemoteReader reader = reader(8 << 20)) {
            int step = 128 << 10;
            for (int at = 0; at < content.length; at += 2 * step) {
                check(reader, at + step, step);
                check(reader, at, step);
            }
            assertThat(singleReads).hasValue(0);
            assertThat(streamReads).hasValue(11);
        }
        awaitUsed(0);
    }

    @Test
    void randomRequestsAreReadByThemselves() throws Exception {
        try (RemoteReader reader = reader(1 << 20)) {
            Random random = new Random(8);
            for (int i = 0; i < 100; i++) {
                check(reader, (3 << 20) + random.nextInt(7_000_000), 4096);
            }
            assertThat(singleReads).hasValueGreaterThan(80);
        }
        awaitUsed(0);
    }

    @Test
    void randomRequestsBringLittleMoreThanWhatTheyAskFor() throws Exception {
        Random random = new Random(9);
        int count = 64 << 10;
        int asked = 0;
        for (int file = 0; file < 10; file++) {
            try (RemoteReader reader = reader(8 << 20)) {
                for (int i = 0; i < 20; i++) {
                    int at = random.nextInt((content.length - 2 * count) / count) * count;
                    check(reader, at, count);
                    check(reader, at + count, count);
                    asked += 2 * count;
                }
            }
        }
        assertThat(bytes.get()).isLessThan(3L * asked);
    }

    @Test
    void aSequenceFromTheMiddleMovesTheStreamThere() throws Exception {
        int step = 128 << 10;
        int from = 5 << 20;
        try (RemoteReader reader = reader(8 << 20)) {
            for (int at = from; at < content.length; at += step) {
                check(reader, at, step);
            }
            assertThat(singleReads).hasValueLessThanOrEqualTo(4);
            assertThat(bytes.get()).isEqualTo(content.length - from);
        }
        awaitUsed(0);
    }

    @Test
    void withoutMemoryForAWindowAllIsStillRead() throws Exception {
        budget.take(64 << 20);
        try (RemoteReader reader = reader(8 << 20)) {
            for (int at = 0; at < content.length; at += 1_000_000) {
                check(reader, at, 1_000_000);
            }
            check(reader, content.length, 10);
        }
        budget.give(64 << 20);
        awaitUsed(0);
    }

    @Test
    void whatComesNextIsFetchedAheadAndReadWithoutWaiting() throws Exception {
        int step = 1 << 20;
        try (RemoteReader reader = reader(8 << 20)) {
            assertThat(reader.readBuffered(0, ByteBuffer.allocate(step))).isEqualTo(-1);
            check(reader, 0, step);
            check(reader, step, step);
            for (int at = 2 * step; at < content.length; at += step) {
                ByteBuffer into = ByteBuffer.allocate(step);
                int count = reader.readBuffered(at, into);
                while (count < 0) {
                    Thread.onSpinWait();
                    count = reader.readBuffered(at, into);
                }
                assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(content, at, count));
            }
            assertThat(streamReads).hasValue(11);
        }
        awaitUsed(0);
    }

    @Test
    void whatAWorkerHasIsFetchedInSeveralChunksAtOnceAndFurtherAheadWhenSomebodyWaits() throws Exception {
        placed = true;
        blockBytes = 1 << 20;
        awaited = Thread.currentThread();
        CountDownLatch hanging = new CountDownLatch(1);
        hangs = hanging;
        hangsFrom = 4 << 20;
        try (RemoteReader reader = reader(8 << 20)) {
            for (int at = 0; at < 4 << 20; at += 128 << 10) {
                check(reader, at, 128 << 10);
            }
            Waiting.until("several are fetched at once", LIMIT, () -> atOnce.get() > 2);
            hanging.countDown();
            for (int at = 4 << 20; at < content.length; at += 128 << 10) {
                check(reader, at, 128 << 10);
            }
            assertThat(streamReads).hasValue(0);
            assertThat(bytes).hasValue(content.length);
        }
        awaitUsed(0);
    }

    @Test
    void whatNoWorkerHasIsFetchedInOrder() throws Exception {
        awaited = Thread.currentThread();
        try (RemoteReader reader = reader(8 << 20)) {
            for (int at = 0; at < content.length; at += 128 << 10) {
                check(reader, at, 128 << 10);
            }
            assertThat(mostAtOnce).hasValue(1);
            assertThat(streamReads).hasValue(11);
            assertThat(outOfOrder).hasValue(0);
        }
        awaitUsed(0);
    }

    @Test
    void aChunkThatFailedIsForWhoAsksForIt() throws Exception {
        placed = true;
        failsAt = 5 << 20;
        try (RemoteReader reader = reader(8 << 20)) {
            for (int at = 0; at < 5 << 20; at += 128 << 10) {
                check(reader, at, 128 << 10);
            }
            assertThatThrownBy(() -> check(reader, 5 << 20, 4096)).isInstanceOf(StoreException.class);
            failsAt = -1;
            for (int at = 5 << 20; at < content.length; at += 128 << 10) {
                check(reader, at, 128 << 10);
            }
        }
        awaitUsed(0);
    }

    @Test
    void anErrorOfWhoFetchesAheadLeavesNobodyWaiting() throws Exception {
        placed = true;
        try (RemoteReader reader = reader(8 << 20)) {
            for (int at = 0; at < 6 << 20; at += 1 << 20) {
                check(reader, at, 1 << 20);
                breaksAt = 7 << 20;
            }
            Waiting.until("nobody fetches", LIMIT, () -> atOnce.get() == 0);
            breaksAt = -1;
            for (int at = 6 << 20; at < content.length; at += 128 << 10) {
                check(reader, at, 128 << 10);
            }
        }
        awaitUsed(0);
    }

    @Test
    void aReaderClosedWhileSomethingIsFetchedKeepsNoMemory() throws Exception {
        placed = true;
        CountDownLatch hanging = new CountDownLatch(1);
        hangs = hanging;
        hangsFrom = 3 << 20;
        RemoteReader reader = reader(8 << 20);
        for (int at = 0; at < 3 << 20; at += 128 << 10) {
            check(reader, at, 128 << 10);
        }
        Waiting.until("somebody fetches", LIMIT, () -> atOnce.get() > 0);
        reader.close();
        hanging.countDown();
        awaitUsed(0);
    }

    @Test
    void whatIsStillToBeReadKeepsItsMemoryWhenThereIsLittle() throws Exception {
        placed = true;
        awaited = Thread.currentThread();
        budget.take((64 << 20) - (3 << 20));
        try (RemoteReader reader = reader(8 << 20)) {
            for (int at = 0; at < content.length; at += 128 << 10) {
                check(reader, at, 128 << 10);
            }
            assertThat(bytes).hasValue(content.length);
        }
        awaitUsed((64 << 20) - (3 << 20));
    }

    @Test
    void whoGaveUpWaitingReadsByItself() throws Exception {
        placed = true;
        try (RemoteReader reader = reader(8 << 20)) {
            check(reader, 0, 128 << 10);
            hangs = new CountDownLatch(1);
            Thread fetches = new Thread(() -> readQuietly(reader, 1 << 20));
            fetches.start();
            Waiting.until("it fetches", LIMIT, () -> atOnce.get() == 1);
            Thread waits = new Thread(() -> readQuietly(reader, 1 << 20));
            waits.start();
            Waiting.until("it waits", LIMIT, () -> waits.getState() == Thread.State.WAITING);
            waits.interrupt();
            waits.join(60_000);
            assertThat(waits.isAlive()).isFalse();
            CountDownLatch hanging = hangs;
            hangs = new CountDownLatch(0);
            check(reader, 1 << 20, 128 << 10);
            assertThat(fetches.isAlive()).isTrue();
            hanging.countDown();
            fetches.join(60_000);
        }
        awaitUsed(0);
    }

    @Test
    void whatIsReadInSequenceForLongComesInFewCalls() throws Exception {
        placed = true;
        awaited = Thread.currentThread();
        try (RemoteReader reader = reader(8 << 20)) {
            for (int at = 0; at < content.length; at += 128 << 10) {
                check(reader, at, 128 << 10);
            }
            assertThat(besideReads).as("calls for ten chunks").hasValueLessThan(10);
            assertThat(bytes).hasValue(content.length);
        }
        awaitUsed(0);
    }

    @Test
    void noCallGoesBeyondItsBlock() throws Exception {
        placed = true;
        blockBytes = 3_500_000;
        try (RemoteReader reader = reader(8 << 20)) {
            for (int at = 0; at < content.length; at += 128 << 10) {
                check(reader, at, 128 << 10);
            }
            assertThat(bytes).hasValue(content.length);
            assertThat(acrossBlocks).hasValue(0);
        }
        awaitUsed(0);
    }

    @Test
    void aReaderClosedWhileOthersCopyKeepsNoMemoryAndTheyGetWhatTheyAskedFor() throws Exception {
        placed = true;
        for (int round = 0; round < 50; round++) {
            RemoteReader reader = reader(8 << 20);
            for (int at = 0; at < 3 << 20; at += 1 << 20) {
                check(reader, at, 1 << 20);
            }
            AtomicInteger wrong = new AtomicInteger();
            CountDownLatch copying = new CountDownLatch(1);
            Thread copies = new Thread(() -> {
                ByteBuffer into = ByteBuffer.allocateDirect(1 << 20);
                copying.countDown();
                while (reader.readBuffered(2 << 20, into.clear()) > 0) {
                    if (!into.flip().equals(ByteBuffer.wrap(content, 2 << 20, 1 << 20))) {
                        wrong.incrementAndGet();
                    }
                }
            });
            copies.start();
            copying.await();
            reader.close();
            RemoteReader other = reader(8 << 20);
            check(other, 5 << 20, 1 << 20);
            other.close();
            copies.join(60_000);
            assertThat(copies.isAlive()).isFalse();
            assertThat(wrong).hasValue(0);
            awaitUsed(0);
        }
    }

    private static void readQuietly(RemoteReader reader, long at) {
        try {
            reader.read(at, ByteBuffer.allocateDirect(4096));
        } catch (StoreException e) {
            assertThat(e.errno()).isEqualTo(Errno.ETIMEDOUT);
        }
    }
}
