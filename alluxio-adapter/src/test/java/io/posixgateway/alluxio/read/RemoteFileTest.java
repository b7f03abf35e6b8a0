package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RemoteFileTest {
    private static final int STEP = 128 << 10;

    private final byte[] content = new byte[24 << 20];
    private final BufferBudget budget = new BufferBudget(256 << 20);
    private final BestEffortExecutor helpers = new BestEffortExecutor(4, "help");
    private final AtomicLong fetchedBytes = new AtomicLong();
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger opened = new AtomicInteger();
    private final RemoteFile file = new RemoteFile(
            content.length, () -> new RemoteReader(CountingSource::new, content.length, 8 << 20, budget, helpers));

    private final class CountingSource implements StoreReader {
        CountingSource() {
            open.incrementAndGet();
            opened.incrementAndGet();
        }

        @Override
        public int read(long offset, ByteBuffer into) {
            int count = (int) Math.min(into.remaining(), content.length - offset);
            into.put(content, (int) offset, count);
            fetchedBytes.addAndGet(count);
            return count;
        }

        @Override
        public void close() {
            open.decrementAndGet();
        }
    }

    @BeforeEach
    void fill() {
        new Random(9).nextBytes(content);
    }

    @AfterEach
    void endHelpers() {
        helpers.close();
    }

    private void handles(int count) {
        for (int i = 0; i < count; i++) {
            assertThat(file.join()).isTrue();
        }
    }

    private void endAll(int count) throws Exception {
        for (int i = 1; i < count; i++) {
            assertThat(file.leave()).isFalse();
        }
        assertThat(file.leave()).isTrue();
        file.close();
        assertThat(file.join()).isFalse();
        assertThat(open).hasValue(0);
        Waiting.until("all memory is given back", Duration.ofSeconds(60), () -> budget.usedBytes() == 0);
    }

    private void check(int offset) throws StoreException {
        ByteBuffer into = ByteBuffer.allocate(STEP);
        assertThat(file.read(offset, into)).isEqualTo(STEP);
        assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(content, offset, STEP));
    }

    @Test
    void whoReadsTheSamePartSharesAStreamWhoeverAsksForWhichPage() throws Exception {
        handles(4);
        for (int at = 0; at < content.length; at += 4 * STEP) {
            for (int reader = 3; reader >= 0; reader--) {
                check(at + reader * STEP);
            }
        }
        assertThat(opened).hasValue(1);
        assertThat(fetchedBytes).hasValue(content.length);
        endAll(4);
    }

    @Test
    void whoReadsElsewhereGetsAStreamOfHisOwn() throws Exception {
        handles(2);
        int half = content.length / 2;
        for (int at = 0; at < half - (8 << 20); at += STEP) {
            check(at);
            check(half + at);
        }
        assertThat(opened).hasValue(2);
        assertThat(fetchedBytes.get()).as("each part once, and ahead of each").isLessThan(half + (8 << 20));
        endAll(2);
    }
}
