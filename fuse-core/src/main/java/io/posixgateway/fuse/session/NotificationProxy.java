package io.posixgateway.fuse.session;

import java.nio.ByteBuffer;

/**
 * Writes notifications to the kernel from another process. The kernel takes a directory's lock, or a page's, before it acts on one;
 * who holds that may wait for an answer of ours, and a thread that waits for it cannot be killed. A process that waited there
 * itself when it is killed would not end, and its successor, which could answer, would wait for its end.
 */
@FunctionalInterface
public interface NotificationProxy {
    /** There is nobody to write it now. */
    int AWAY = 1;

    /**
     * Waits as long as the kernel does. Any thread.
     *
     * @param messages its first bytes, which stay the caller's: of each notification, one behind the other, struct fuse_out_header with
     *     unique 0 and what follows
     * @return what the kernel said of the last one, 0 or a negative errno; or {@link #AWAY}
     */
    int carry(ByteBuffer messages, int bytes);
}
