package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.wire.Opcode;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs what escaped a file system: the first of each kind with its trace, the others shortly, at debug level. */
final class Failures {
    private static final Logger LOG = LoggerFactory.getLogger(Failures.class);
    private static final int KINDS = 256;

    private final Set<String> seen = ConcurrentHashMap.newKeySet();

    /**
     * Never throws, though the failure's own methods do. A want of memory goes to who ends the process, too.
     *
     * @param who threw it
     */
    @SuppressWarnings("CatchingUnchecked")
    void log(String who, Opcode opcode, long node, Throwable failure) {
        try {
            write(who, opcode, node, failure);
        } catch (Throwable again) {
            LOG.error(
                    "{} of node {} failed with EIO: {} threw {}, which cannot be described",
                    opcode.label(),
                    node,
                    who,
                    failure.getClass().getName());
        }
        if (failure instanceof OutOfMemoryError) {
            uncaught(failure);
        }
    }

    private void write(String who, Opcode opcode, long node, Throwable failure) {
        String kind = opcode + " " + failure.getClass().getName();
        if (seen.size() < KINDS && seen.add(kind)) {
            LOG.error(
                    "{} of node {} failed with EIO: {} threw an exception (further ones are logged at debug level)",
                    opcode.label(),
                    node,
                    who,
                    failure);
        } else {
            LOG.debug("{} of node {} failed with EIO: {}", opcode.label(), node, failure.toString());
        }
    }

    /** Tells who ends a process that is out of memory, as if nobody had caught it. */
    static void uncaught(Throwable failure) {
        Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
    }
}
