package io.posixgateway.alluxio.inode;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The order of the requests that a mount issues to Alluxio and of the changes that it completes, as attr_gencount of the Linux NFS client
 * is it. One of a mount; any thread.
 *
 * <p>A response is older than a change if its request was issued before the change was complete: it may be of the time before. So each
 * inode, and each name that leads nowhere, has the generation of its last change, or of the request whose response was applied last,
 * whichever is later; a response whose request was issued before that is not applied. The generation of a change is odd, that of a request
 * even: what is forgotten of a change is kept for its directory as a whole, while a response may be forgotten.
 */
public final class Generation {
    private final AtomicLong last = new AtomicLong();

    /** To be called before a request is sent, and before its path is made. */
    public long issued() {
        return last.addAndGet(2);
    }

    /** To be called when a change by this mount is complete, or its outcome is unknown: responses to earlier requests are older. */
    public long changed() {
        return last.addAndGet(2) + 1;
    }

    /** Is it that of a change by this mount? */
    static boolean isChange(long generation) {
        return (generation & 1) != 0;
    }
}
