package io.posixgateway.alluxio;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one place where a failure of Alluxio becomes an answer: logged, at most every ten seconds, when it is an EIO. */
final class Failures {
    private static final Logger LOG = LoggerFactory.getLogger(Failures.class);
    private static final long QUIET_NANOS = 10_000_000_000L;

    private final LongSupplier clock;
    private final String volume;
    private final AtomicLong nextLogNanos;
    private final AtomicLong unlogged = new AtomicLong();

    Failures(String volume, LongSupplier clock) {
        this.volume = volume;
        this.clock = clock;
        this.nextLogNanos = new AtomicLong(clock.getAsLong());
    }

    /** The negative errno to answer. */
    int answer(String operation, StoreException failure) {
        if (failure.errno() != Errno.EIO) {
            LOG.debug("{} on {}: {}", operation, volume, failure.getMessage());
            return -failure.errno();
        }
        long now = clock.getAsLong();
        long due = nextLogNanos.get();
        if (now - due >= 0 && nextLogNanos.compareAndSet(due, now + QUIET_NANOS)) {
            LOG.warn(
                    "{} on {} answered with EIO ({} more since the last such line): {}",
                    operation,
                    volume,
                    unlogged.getAndSet(0),
                    failure.getMessage());
        } else {
            unlogged.incrementAndGet();
        }
        return -Errno.EIO;
    }
}
