package io.posixgateway.alluxio.gateway;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The folders of volumes that calls work on: one at a time on each. A call goes on when its caller has given up and calls again; what
 * the first has yet to remove may be the next volume's of that name by then. Where Alluxio leaves the first without an answer, the next
 * one ends it; one that takes long because there is much to do continues. Any thread.
 */
final class FoldersInUse {
    /** So long no step takes that Alluxio answers. */
    private static final long LONG_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Clock clock;
    /** By folder. Guarded by this. */
    private final Map<String, Use> uses = new HashMap<>();

    FoldersInUse(Clock clock) {
        this.clock = clock;
    }

    /** What is done meanwhile. */
    interface Work {
        /** @param step is to be run after each step: the work makes progress */
        boolean run(Runnable step) throws IOException;
    }

    /** A call at work. Guarded by the map's monitor. */
    private static final class Use {
        private final Thread thread = Thread.currentThread();
        private long steppedNanos;
        private long steps;
        private boolean interrupted;

        private Use(long sinceNanos) {
            this.steppedNanos = sinceNanos;
        }
    }

    /**
     * Does what is to be done with a folder.
     *
     * @param folder the cluster, and the path in it, in one spelling
     * @throws TreeException EBUSY: another call is at it
     */
    boolean alone(String folder, Work work) throws IOException {
        Use use = begin(folder);
        try {
            return work.run(() -> step(use));
        } finally {
            end(folder, use);
        }
    }

    private synchronized void step(Use use) {
        use.steppedNanos = clock.nanos();
        use.steps++;
    }

    private synchronized Use begin(String folder) throws TreeException {
        Use there = uses.get(folder);
        if (there == null) {
            Use use = new Use(clock.nanos());
            uses.put(folder, use);
            return use;
        }
        if (clock.nanos() - there.steppedNanos > LONG_NANOS) {
            there.interrupted = true;
            there.thread.interrupt();
        }
        throw new TreeException(
                Errno.EBUSY,
                "another call for " + folder + " is in progress; retry when it has finished (" + there.steps
                        + " entries so far)");
    }

    private synchronized void end(String folder, Use use) {
        uses.remove(folder, use);
        if (use.interrupted && Thread.interrupted()) {
            use.interrupted = false; // what the thread does next is of others
        }
    }
}
