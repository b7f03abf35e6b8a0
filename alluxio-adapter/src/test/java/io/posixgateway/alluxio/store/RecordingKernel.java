package io.posixgateway.alluxio.store;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Features;
import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.spi.Name;
import java.io.FileDescriptor;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A kernel that remembers what it was told, in order, and which nodes it knows. Any thread. */
public final class RecordingKernel implements Kernel {
    private static final long LIMIT_SECONDS = 60;
    private static final int MAX_WRITE_BYTES = 1 << 20;

    private final boolean passthrough;
    private final boolean gathersWrites;
    private final boolean readOnly;
    private final List<Notification> notifications = new ArrayList<>();
    private final Map<Long, Long> lookups = new HashMap<>();
    /** What names led to when they were last seen. */
    private final Map<FuseRequests.Place, Long> names = new HashMap<>();
    /** By node: descriptors, and what else refers to it but its name. */
    private final Map<Long, Integer> references = new HashMap<>();

    private final Set<Long> nameless = new HashSet<>();
    private int backingFiles;
    /** By number, those that it was not told to close. */
    private final Set<Integer> openBackingFiles = new HashSet<>();

    RecordingKernel() {
        this(false, false, false);
    }

    /**
     * @param passthrough does it read files by itself that it is given?
     * @param gathersWrites is its writeback cache on?
     * @param readOnly is the mount?
     */
    RecordingKernel(boolean passthrough, boolean gathersWrites, boolean readOnly) {
        this.passthrough = passthrough;
        this.gathersWrites = gathersWrites;
        this.readOnly = readOnly;
    }

    /**
     * Something it was told.
     *
     * @param node whose attributes or pages are invalid, or the directory of the name
     * @param name that is invalid; empty: none is
     * @param offset of the pages; -1: attributes alone
     */
    public record Notification(long node, String name, long offset) {
        /** Attributes and all pages of a node. */
        public static Notification content(long node) {
            return new Notification(node, "", 0);
        }

        /** Attributes of a node. */
        public static Notification attributes(long node) {
            return new Notification(node, "", -1);
        }

        /** A name in a directory. */
        public static Notification entry(long parent, String name) {
            return new Notification(parent, name, 0);
        }
    }

    synchronized void looked(long parent, String name, long node) {
        lookups.merge(node, 1L, Long::sum);
        names.put(new FuseRequests.Place(parent, name), node);
    }

    /** The name is gone; returns the node that had it, 0: none is known. */
    synchronized long lost(FuseRequests.Place place) {
        Long node = names.remove(place);
        if (node == null) {
            return 0;
        }
        nameless.add(node);
        return node;
    }

    /** A descriptor, or something else that is no name. */
    synchronized void refer(long node) {
        references.merge(node, 1, Integer::sum);
    }

    synchronized void referNoMore(long node) {
        references.computeIfPresent(node, (key, count) -> count > 1 ? count - 1 : null);
    }

    /** How often it was told of a node that it needs no more; 0: it needs it. */
    synchronized long unusedLookups(long node) {
        boolean unused = nameless.contains(node) && !references.containsKey(node);
        return unused ? lookups.getOrDefault(node, 0L) : 0;
    }

    synchronized void moved(FuseRequests.Place from, FuseRequests.Place to) {
        Long node = names.remove(from);
        if (node != null) {
            names.put(to, node);
        }
    }

    synchronized void forgot(long node, long count) {
        lookups.computeIfPresent(node, (key, known) -> known > count ? known - count : null);
    }

    /** The nodes that it knows, and how often it looked each up. */
    synchronized Map<Long, Long> known() {
        return Map.copyOf(lookups);
    }

    /** All so far. */
    public synchronized List<Notification> notifications() {
        return List.copyOf(notifications);
    }

    public synchronized void clear() {
        notifications.clear();
    }

    /** All so far, which are forgotten. */
    public synchronized List<Notification> take() {
        List<Notification> taken = List.copyOf(notifications);
        notifications.clear();
        return taken;
    }

    /** Waits until it was told this. */
    public void await(Notification notification) throws InterruptedException {
        await(notification::equals, notification.toString());
    }

    private synchronized void await(Predicate<Notification> wanted, String what) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (notifications.stream().noneMatch(wanted)) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                throw new AssertionError("not told within " + LIMIT_SECONDS + " s: " + what + " but " + notifications);
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    private synchronized int told(Notification notification) {
        notifications.add(notification);
        notifyAll();
        return notification.node == FuseRequests.ROOT || lookups.containsKey(notification.node) ? 0 : -Errno.ENOENT;
    }

    @Override
    public Features features() {
        return new Features(41, MAX_WRITE_BYTES, false, passthrough, gathersWrites, false, false, readOnly);
    }

    @Override
    public int invalidateInode(long node, long offset, long lengthBytes) {
        return told(new Notification(node, "", offset));
    }

    @Override
    public int store(long node, long offset, ByteBuffer bytes) {
        return -Errno.ENOENT;
    }

    @Override
    public int invalidateEntry(long parent, Name name) {
        return told(Notification.entry(parent, name.toString()));
    }

    @Override
    public Batch batch() {
        return new Batch() {
            @Override
            public void invalidateInode(long node, long offset, long lengthBytes) {
                told(new Notification(node, "", offset));
            }

            @Override
            public void invalidateEntry(long parent, Name name) {
                told(Notification.entry(parent, name.toString()));
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public int notifyDelete(long parent, long child, Name name) {
        return told(Notification.entry(parent, name.toString()));
    }

    @Override
    public synchronized int openBacking(FileDescriptor file) {
        if (!passthrough) {
            return -Errno.EOPNOTSUPP;
        }
        openBackingFiles.add(++backingFiles);
        return backingFiles;
    }

    @Override
    public synchronized int closeBacking(int backingId) {
        openBackingFiles.remove(backingId);
        return 0;
    }

    /** How many files it may read by itself. */
    public synchronized int openBackingFiles() {
        return openBackingFiles.size();
    }
}
