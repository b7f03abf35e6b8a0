package io.posixgateway.alluxio.meta;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Orders requests to Alluxio and changes by this mount, as attr_gencount does in the Linux NFS client. One per mount; any thread.
 *
 * <p>A response is older than a change if its request was issued before the change was complete: it may have been executed before it. So
 * each inode, and each missing name, keeps the generation of its last change, or of the request whose response was applied last, whichever
 * is later; a response to an earlier request is not applied. A change of unknown outcome counts as in flight. The generation of a change
 * is odd, that of a request even: a change that is evicted raises its directory's, a response that is evicted does not.
 */
public final class Generation {
    private final AtomicLong last = new AtomicLong();

    /** Returns the generation of a request. To be called before it is sent, and before its path is made. */
    public long issued() {
        return last.addAndGet(2);
    }

    /** Returns the generation of a change by this mount. To be called when it is complete, or its outcome is unknown. */
    public long changed() {
        return last.addAndGet(2) + 1;
    }

    /** Returns whether it is that of a change. */
    static boolean isChange(long generation) {
        return (generation & 1) != 0;
    }
}
