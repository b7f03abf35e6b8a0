package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.ListingPage;
import io.posixgateway.fuse.spi.Name;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Pages of a listing that are no longer at hand, so that seekdir(3) leads back behind any of their names, whatever became of these. The
 * latest {@link #MAX_NAMES} names, or fewer where others have the {@link Room}. Guarded by its {@link DirectoryHandle}.
 */
final class PassedPages {
    private static final int MAX_NAMES = 20_000;

    private final Room room;
    private final Deque<ListingPage> pages = new ArrayDeque<>();
    private int names;
    private boolean closed;

    /** For all open directories of a volume together, as no budget of cached metadata counts their names. Any thread. */
    static final class Room {
        private final AtomicInteger left;

        /** @param most names */
        Room(int most) {
            this.left = new AtomicInteger(most);
        }

        private boolean take(int count) {
            boolean taken = left.addAndGet(-count) >= 0;
            if (!taken) {
                left.addAndGet(count);
            }
            return taken;
        }
    }

    PassedPages(Room room) {
        this.room = room;
    }

    void add(ListingPage page) {
        if (page.count() == 0 || closed) {
            return;
        }
        while (!pages.isEmpty() && names + page.count() > MAX_NAMES) {
            dropFirst();
        }
        while (!room.take(page.count())) {
            if (pages.isEmpty()) {
                return;
            }
            dropFirst();
        }
        pages.addLast(page);
        names += page.count();
    }

    private void dropFirst() {
        int count = pages.removeFirst().count();
        names -= count;
        room.left.addAndGet(count);
    }

    void clear() {
        while (!pages.isEmpty()) {
            dropFirst();
        }
    }

    /** The room that it has is given back, and none is taken any more. */
    void close() {
        closed = true;
        clear();
    }

    /** The name that the entry of this offset had; false: it is on none of the pages. */
    boolean find(long offset, Name into) {
        for (Iterator<ListingPage> latest = pages.descendingIterator(); latest.hasNext(); ) {
            ListingPage page = latest.next();
            int behind = page.behind(offset, 0);
            if (behind > 0) {
                page.name(behind - 1, into);
                return true;
            }
        }
        return false;
    }
}
