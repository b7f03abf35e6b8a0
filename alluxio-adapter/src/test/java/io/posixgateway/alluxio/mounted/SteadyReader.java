package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.QuietTime;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread that reads again and again while servers come and go. It counts what it got right, what failed with EIO, how long
 * the slowest read took, and keeps the first answer that should never have come.
 */
final class SteadyReader implements AutoCloseable {
    private static final long PAUSE_NANOS = 20_000_000L;

    private final Thread thread;
    private final AtomicInteger good = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicLong longestNanos = new AtomicLong();
    private final AtomicReference<@Nullable Throwable> wrong = new AtomicReference<>();
    private volatile boolean stopped;

    /** One read, which throws an AssertionError when the bytes are not the right ones. */
    interface Reading {
        void run() throws IOException;
    }

    SteadyReader(String name, Reading reading) {
        thread = new Thread(() -> run(reading), name);
        thread.setDaemon(true);
        thread.start();
    }

    private void run(Reading reading) {
        while (!stopped) {
            QuietTime time = QuietTime.sinceNow();
            try {
                reading.run();
                good.incrementAndGet();
            } catch (IOException e) {
                if (String.valueOf(e.getMessage()).endsWith("Input/output error")) {
                    failed.incrementAndGet();
                } else {
                    wrong.compareAndSet(null, e);
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            } catch (AssertionError | RuntimeException e) {
                wrong.compareAndSet(null, e);
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            longestNanos.accumulateAndGet(time.quiet().toNanos(), Math::max);
        }
    }

    /** Reads that gave the right bytes. */
    int good() {
        return good.get();
    }

    /** Reads that gave EIO. */
    int failed() {
        return failed.get();
    }

    /** The slowest read so far, in {@link QuietTime}. */
    private Duration longest() {
        return Duration.ofNanos(longestNanos.get());
    }

    /**
     * Ends the thread, and fails when a read gave wrong bytes, another error than EIO, or took longer than this in
     * {@link QuietTime}.
     */
    void endHonestly(Duration longest) throws InterruptedException {
        close();
        thread.join(TimeUnit.MINUTES.toMillis(2));
        assertThat(thread.isAlive()).as("%s hangs in a read", thread.getName()).isFalse();
        assertThat(wrong.get())
                .as("what %s should never have got", thread.getName())
                .isNull();
        assertThat(longest()).as("longest read of %s", thread.getName()).isLessThan(longest);
    }

    @Override
    public void close() {
        stopped = true;
    }
}
