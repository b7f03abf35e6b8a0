package io.posixgateway.fuse.memory;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Inodes by node id: pages of 1024, so that finding one allocates nothing and needs no lock.
 *
 * <p>An id is used again after its inode is freed, with the next generation. Adding and removing happen under the tree's
 * lock; finding does not.
 */
final class InodeTable {
    private static final int PAGE = 1024;

    private volatile AtomicReferenceArray<@Nullable Inode>[] pages = newPages(0);
    private final ArrayDeque<Long> freeIds = new ArrayDeque<>();
    private long nextId = 1;
    private long nextGeneration = 1;
    private volatile int count;

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static AtomicReferenceArray<@Nullable Inode>[] newPages(int length) {
        return (AtomicReferenceArray<@Nullable Inode>[]) new AtomicReferenceArray[length];
    }

    /** The inode, or null. */
    @Nullable
    Inode find(long node) {
        AtomicReferenceArray<@Nullable Inode>[] all = pages;
        if (node <= 0 || node / PAGE >= all.length) {
            return null;
        }
        return all[(int) (node / PAGE)].get((int) (node % PAGE));
    }

    /** An id for an inode to be added; 1 the first time. */
    long takeId() {
        Long free = freeIds.poll();
        return free != null ? free : nextId++;
    }

    long takeGeneration() {
        return nextGeneration++;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate")
    void add(Inode inode) {
        int page = (int) (inode.node / PAGE);
        if (page >= pages.length) {
            AtomicReferenceArray<@Nullable Inode>[] grown = Arrays.copyOf(pages, page + 1);
            grown[page] = new AtomicReferenceArray<>(PAGE);
            pages = grown;
        }
        pages[page].set((int) (inode.node % PAGE), inode);
        count++;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate")
    void remove(Inode inode) {
        pages[(int) (inode.node / PAGE)].set((int) (inode.node % PAGE), null);
        freeIds.add(inode.node);
        count--;
    }

    int count() {
        return count;
    }
}
