package io.posixgateway.alluxio.inode;

import org.jspecify.annotations.Nullable;

/** Inodes that nobody holds, the one that came first to be dropped first; linked through themselves. Any thread. */
final class IdleQueue {
    private @Nullable Inode first;
    private @Nullable Inode last;

    /** @param inode that is not in the queue */
    synchronized void add(Inode inode) {
        Inode before = last;
        if (before == null) {
            first = inode;
        } else {
            before.nextIdle = inode;
        }
        last = inode;
    }

    /** Takes out the one that came first; null: there is none. */
    synchronized @Nullable Inode poll() {
        Inode taken = first;
        if (taken != null) {
            first = taken.nextIdle;
            taken.nextIdle = null;
            if (first == null) {
                last = null;
            }
        }
        return taken;
    }
}
