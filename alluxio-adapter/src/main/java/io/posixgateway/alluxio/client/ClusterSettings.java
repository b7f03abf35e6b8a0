package io.posixgateway.alluxio.client;

import alluxio.client.file.FileSystemContext;
import alluxio.conf.PropertyKey;
import alluxio.exception.status.AlluxioStatusException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Asks Alluxio's master for the settings that it has for clients, before the first call. Any thread.
 *
 * <p>Alluxio's client would do so itself, under a lock that every call takes and without a deadline: one answer that is lost
 * would hold all calls of a volume, where no interrupt reaches them. Here it has a thread of its own, which is given up after
 * a while, and another one asks anew, with twice the time: a master that is merely slow is heard at last. All of it takes
 * {@code alluxio.user.rpc.retry.max.duration}, as any other call that is repeated; who waits can be interrupted.
 */
final class ClusterSettings {
    private static final long FIRST_TIMEOUT_NANOS = 3_000_000_000L;
    private static final long PAUSE_NANOS = 100_000_000L;

    private final FileSystemContext context;
    private final Clock clock;
    private final long limitNanos;

    // Guarded by this.
    private @Nullable Question question;
    private long timeoutNanos = FIRST_TIMEOUT_NANOS;

    private volatile boolean known;

    ClusterSettings(FileSystemContext context, Clock clock) {
        this.context = context;
        this.clock = clock;
        this.limitNanos = context.getClusterConf()
                .getDuration(PropertyKey.USER_RPC_RETRY_MAX_DURATION)
                .toNanos();
    }

    private final class Question {
        private final CountDownLatch over = new CountDownLatch(1);
        private final Thread thread = new Thread(this::ask, "alluxio-settings");
        private final long timeoutNanos;
        private volatile @Nullable Exception failure;

        Question(long timeoutNanos) {
            this.timeoutNanos = timeoutNanos;
        }

        Question start() {
            thread.setDaemon(true);
            thread.start();
            return this;
        }

        private void ask() {
            try {
                context.getClientContext().loadConfIfNotLoaded(context.getMasterAddress());
                known = true;
            } catch (AlluxioStatusException | RuntimeException e) {
                failure = e;
            } finally {
                over.countDown();
            }
        }

        /** Returns when it is over, at the latest when nobody should wait for it any longer. */
        void await() throws InterruptedException {
            if (!clock.await(over, timeoutNanos)) {
                thread.interrupt();
                over.countDown();
            }
        }

        boolean isOver() {
            return over.getCount() == 0;
        }
    }

    /**
     * Returns when the settings are known.
     *
     * @throws StoreException EINTR; or what keeps the master from answering
     */
    void await() throws StoreException {
        if (known) {
            return;
        }
        long began = clock.nanos();
        try {
            for (Question asked = ask(); !known; asked = ask()) {
                asked.await();
                if (known) {
                    return;
                }
                if (clock.nanos() - began > limitNanos) {
                    throw failure(asked.failure);
                }
                clock.sleep(PAUSE_NANOS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(Errno.EINTR, "Interrupted while fetching Alluxio's configuration", e);
        }
    }

    private synchronized Question ask() {
        Question current = question;
        if (current == null || current.isOver()) {
            current = new Question(timeoutNanos).start();
            question = current;
            timeoutNanos = Math.max(timeoutNanos, Math.min(2 * timeoutNanos, limitNanos));
        }
        return current;
    }

    private static StoreException failure(@Nullable Exception cause) {
        return cause == null
                ? StoreException.silence("Alluxio's master does not answer a request for its configuration", null)
                : ErrnoTable.exception("fetch the configuration of Alluxio's master", cause);
    }
}
