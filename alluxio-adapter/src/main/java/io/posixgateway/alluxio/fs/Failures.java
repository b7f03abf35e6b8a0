package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one place where a failure of Alluxio becomes an answer: logged, at most every ten seconds for each errno, where an
 * operator can do something about it. EACCES is such a failure only if Alluxio refused the login, whatever was asked for.
 */
final class Failures {
    private static final Logger LOG = LoggerFactory.getLogger(Failures.class);
    private static final long QUIET_NANOS = 10_000_000_000L;

    private final Clock clock;
    private final String volume;
    private final Map<Integer, Logged> logged;
    private final Logged loginRefused;

    /** When an errno is told again, and how often it was not. */
    private static final class Logged {
        private final String name;
        private final AtomicLong nextNanos;
        private final AtomicLong left = new AtomicLong();

        private Logged(String name, long nowNanos) {
            this.name = name;
            this.nextNanos = new AtomicLong(nowNanos);
        }
    }

    Failures(String volume, Clock clock) {
        this.volume = volume;
        this.clock = clock;
        long now = clock.nanos();
        this.loginRefused = new Logged("EACCES", now);
        this.logged = Map.of(
                Errno.EIO, new Logged("EIO", now),
                Errno.ENOSPC, new Logged("ENOSPC", now),
                Errno.EOPNOTSUPP, new Logged("EOPNOTSUPP", now));
    }

    /** The negative errno to answer. */
    int answer(String operation, StoreException failure) {
        Logged errno = failure.isLoginRefused() ? loginRefused : logged.get(failure.errno());
        if (errno == null) {
            LOG.debug("{} on {}: {}", operation, volume, failure.getMessage());
            return -failure.errno();
        }
        long now = clock.nanos();
        long due = errno.nextNanos.get();
        if (now - due >= 0 && errno.nextNanos.compareAndSet(due, now + QUIET_NANOS)) {
            LOG.warn(
                    "{} on {} failed with {} ({} more since the last such line): {}",
                    operation,
                    volume,
                    errno.name,
                    errno.left.getAndSet(0),
                    failure.getMessage());
        } else {
            errno.left.incrementAndGet();
        }
        return -failure.errno();
    }
}
