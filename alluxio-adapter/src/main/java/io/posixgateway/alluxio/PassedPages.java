package io.posixgateway.alluxio;

import io.posixgateway.alluxio.inode.ListingPage;
import io.posixgateway.fuse.spi.Name;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * Pages of a listing that are no longer at hand, so that seekdir(3) leads back behind any of their names, whatever became of these. The
 * latest {@link #MOST_NAMES} names. Guarded by its {@link DirectoryHandle}.
 */
final class PassedPages {
    private static final int MOST_NAMES = 20_000;

    private final Deque<ListingPage> pages = new ArrayDeque<>();
    private int names;

    void add(ListingPage page) {
        if (page.count() == 0) {
            return;
        }
        pages.addLast(page);
        names += page.count();
        while (names > MOST_NAMES) {
            names -= pages.removeFirst().count();
        }
    }

    void clear() {
        pages.clear();
        names = 0;
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
