package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.PathLimit;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Refuses renames after which something could not be reached any more, as its path would be too long. Stateless; waits.
 *
 * <p>Of a directory that gets a longer path all that is below it counts. What this mount knows is looked at in memory; of directories
 * that it never listed, {@link #MAX_LISTED} parts are listed, those with the longest paths first. So what lies deep in a large
 * tree that nobody has looked at here may be missed.
 */
public final class MovedPaths {
    private static final int PAGE = 1000;
    private static final int MAX_LISTED = 64;

    private final Store store;
    private final Metadata metadata;

    public MovedPaths(Store store, Metadata metadata) {
        this.store = store;
        this.metadata = metadata;
    }

    /**
     * A directory, or the rest of it, that is to be looked at.
     *
     * @param below its path below what is moved; empty: itself
     * @param inode null: it is not known
     * @param startAfter the last name that was seen; null: what is known of it is still to be looked at
     */
    private record Directory(
            String below, @Nullable Inode inode, @Nullable String startAfter) {}

    /** @throws StoreException ENAMETOOLONG */
    public void check(Inode moved, String from, Inode newParent, Name newName) throws StoreException {
        String to = metadata.newPathOf(newParent, newName);
        if (moved.isDirectory() && PathLimit.isLonger(to, from)) {
            new Walk(from, to, newParent).look(moved);
        }
    }

    /** One look at all that is moved. One thread. */
    private final class Walk {
        private final String from;
        private final String to;
        private final Inode newParent;
        private final PriorityQueue<Directory> open =
                new PriorityQueue<>(Comparator.comparingInt((Directory each) -> -each.below.length()));
        private int listed;
        /** As {@link Store#longestPath}, once that matters. */
        private @Nullable Integer longest;

        Walk(String from, String to, Inode newParent) {
            this.from = from;
            this.to = to;
            this.newParent = newParent;
        }

        void look(Inode moved) throws StoreException {
            open.add(new Directory("", moved, null));
            for (Directory next = open.poll(); next != null; next = open.poll()) {
                Inode inode = next.inode;
                if (inode != null && next.startAfter == null) {
                    lookInMemory(next.below, inode);
                } else if (listed++ < MAX_LISTED) {
                    list(next);
                }
            }
        }

        private void lookInMemory(String below, Inode directory) throws StoreException {
            for (Inode child : directory.dentries().snapshot()) {
                Name name = metadata.nameOf(child);
                if (name != null) {
                    add(below + "/" + metadata.locations().stored(directory, name), child.isDirectory(), child);
                }
            }
            if (!directory.dentries().complete()) {
                open.add(new Directory(below, directory, ""));
            }
        }

        private void list(Directory directory) throws StoreException {
            String last = directory.startAfter == null ? "" : directory.startAfter;
            Store.Page page = page(from + directory.below, last);
            for (FileStatus status : page.entries()) {
                last = status.name();
                if (!metadata.isKnown(directory.inode, last)) {
                    add(directory.below + "/" + last, status.directory(), null);
                }
            }
            if (page.more()) {
                open.add(new Directory(directory.below, directory.inode, last));
            }
        }

        /** Empty where it is gone by now. */
        private Store.Page page(String path, String startAfter) throws StoreException {
            try {
                return store.list(path, startAfter, PAGE + 1).truncateAtStableCursor();
            } catch (StoreException e) {
                if (e.errno() == Errno.ENOENT || e.errno() == Errno.EINVAL) {
                    return new Store.Page(List.of(), false);
                }
                throw e;
            }
        }

        private int longest() throws StoreException {
            Integer known = longest;
            if (known == null) {
                known = store.longestPath(metadata.pathOf(newParent));
                longest = known;
            }
            return known;
        }

        private void add(String below, boolean directory, @Nullable Inode inode) throws StoreException {
            String path = to + below;
            if (!PathLimit.isSafe(path) && !PathLimit.fits(path, longest())) {
                throw PathLimit.tooLong(path);
            }
            if (directory) {
                open.add(new Directory(below, inode, null));
            }
        }
    }
}
