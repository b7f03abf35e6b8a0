package io.posixgateway.alluxio.meta;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Inodes that nobody holds, the one that came first to be dropped first; linked through themselves. Any thread. */
final class IdleList {
    /** When the first came is known to about so much. */
    private static final long MARK_NANOS = 1_000_000_000L;
    /** With more marks than these, every other is given up: the older the queue, the less exact. */
    private static final int MAX_MARKS = 512;

    private @Nullable Inode first;
    private @Nullable Inode last;
    private int size;
    private long added;
    private final ArrayDeque<Mark> marks = new ArrayDeque<>();

    /** The one after so many, and those behind it until the next mark, came then. */
    private record Mark(long after, long nanos) {}

    /** @param inode that is not in the queue */
    synchronized void add(Inode inode, long nowNanos) {
        Mark latest = marks.peekLast();
        if (latest == null || nowNanos - latest.nanos >= MARK_NANOS) {
            mark(nowNanos);
        }
        Inode before = last;
        if (before == null) {
            first = inode;
        } else {
            before.nextIdle = inode;
        }
        last = inode;
        size++;
        added++;
    }

    private void mark(long nowNanos) {
        if (marks.size() == MAX_MARKS) {
            thinOut();
        }
        marks.addLast(new Mark(added, nowNanos));
    }

    /** The first mark counts for the first inode, and stays. */
    private void thinOut() {
        for (int i = 0; i < MAX_MARKS; i += 2) {
            marks.addLast(marks.removeFirst());
            marks.removeFirst();
        }
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
            forgetMarks();
        }
        return taken;
    }

    /** The mark that counts for the first stays. */
    private void forgetMarks() {
        long taken = added - size;
        Mark mark = marks.pollFirst();
        while (!marks.isEmpty() && marks.getFirst().after <= taken) {
            mark = marks.pollFirst();
        }
        if (mark != null && size > 0) {
            marks.addFirst(mark);
        }
    }

    synchronized int size() {
        return size;
    }

    /** When the first came, a while early at most; {@link Long#MAX_VALUE}: there are no more than so many. */
    synchronized long oldestNanos(int least) {
        Mark mark = marks.peekFirst();
        return mark == null || size <= least ? Long.MAX_VALUE : mark.nanos;
    }
}
