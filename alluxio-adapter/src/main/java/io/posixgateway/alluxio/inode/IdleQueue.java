package io.posixgateway.alluxio.inode;

import org.jspecify.annotations.Nullable;

/** Inodes that nobody holds, the one that came first to be dropped first; linked through themselves. Any thread. */
final class IdleQueue {
    private @Nullable Inode first;
    private @Nullable Inode last;
    private int size;

    /** @param inode that is not in the queue */
    synchronized void add(Inode inode) {
        Inode before = last;
        if (before == null) {
            first = inode;
        } else {
            before.nextIdle = inode;
        }
        last = inode;
        size++;
    }

    /** Takes out the one that came first, if there are more than so many; else null. */
    synchronized @Nullable Inode poll(int least) {
        Inode taken = size > least ? first : null;
        if (taken != null) {
            size--;
            first = taken.nextIdle;
            taken.nextIdle = null;
            if (first == null) {
                last = null;
            }
        }
        return taken;
    }
}
