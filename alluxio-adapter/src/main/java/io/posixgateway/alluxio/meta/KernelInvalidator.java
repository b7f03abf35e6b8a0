package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.Clock;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Tells the kernel what it must no longer believe, on threads of its own, because an invalidation may wait for requests of
 * the same node: as long as a worker takes that answers a read. Some wait at the same time, so that one of them does not keep all
 * others. They are told in any order. Nothing is dropped: what waits to be told is not put there again, so there is at most one notification
 * of each file and of each name that waits.
 */
public final class KernelInvalidator implements AutoCloseable {
    private static final long LAST_WORDS_MILLIS = 1000;
    /** So long an open waits for a notification. */
    private static final long AWAITED_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** So many may be told at the same time. */
    private static final int MAX_THREADS = 8;
    /** So many files the kernel is to let go of at once, and so long that is not repeated. */
    private static final int MAX_PRUNED = 10_000;

    private static final long PRUNING_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    /** No request that nobody waits for any more is done later. */
    private static final long UNSURE_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** So many files may have appends that were refused. */
    private static final int MAX_REFUSED = 1000;

    /** By node, the thread whose append is refused: its next request the kernel begins after every notification of the file so far. */
    private final Map<Long, Integer> refused = new ConcurrentHashMap<>();

    /** Notifications that are told beside those in {@link #telling}. */
    private final AtomicInteger direct = new AtomicInteger();

    /** What waits to be told. A notification is taken out before it is told, so that what changes meanwhile is told again. */
    private final Set<Notification> waiting = ConcurrentHashMap.newKeySet();

    /** What is being told. A notification is put here before it is taken out of those that wait. */
    private final Set<Notification> telling = ConcurrentHashMap.newKeySet();

    private final ThreadPoolExecutor teller;
    private final Clock clock;
    private final AtomicLong prunedNanos;
    private volatile @Nullable Kernel kernel;

    public KernelInvalidator(Clock clock) {
        this.clock = clock;
        this.prunedNanos = new AtomicLong(clock.nanos() - PRUNING_NANOS);
        teller = new ThreadPoolExecutor(
                MAX_THREADS,
                MAX_THREADS,
                10,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                task -> new UnpinnedThread(task, "kernel-notices"),
                new ThreadPoolExecutor.DiscardPolicy());
        teller.allowCoreThreadTimeOut(true);
    }

    /** Two that are equal tell the same. */
    private interface Notification {
        void tell(Kernel mounted);

        /** Whose attributes change; 0: none. */
        default long changedNode() {
            return 0;
        }
    }

    private record Changed(long node) implements Notification {
        @Override
        public void tell(Kernel mounted) {
            mounted.invalidateInode(node, 0, 0);
        }

        @Override
        public long changedNode() {
            return node;
        }
    }

    private record Moved(long directory, Name name) implements Notification {
        @Override
        public void tell(Kernel mounted) {
            mounted.invalidateEntry(directory, name);
        }
    }

    /** A name led nowhere. A directory that has it by now is not to be taken from those who are in it, or have mounts there. */
    private record Appeared(Inode directory, Name name) implements Notification {
        @Override
        public void tell(Kernel mounted) {
            Dentries.Dentry now = directory.dentries().find(name);
            Inode child = now == null ? null : now.child();
            if (child == null || !child.isDirectory() || !child.isKnown()) {
                mounted.invalidateEntry(directory.node(), name);
            }
        }
    }

    /** The kernel knows more files than are to be kept. Letting go of a name that nobody uses, it forgets the file. */
    private record Crowded(InodeTable table) implements Notification {
        @Override
        public void tell(Kernel mounted) {
            try (Kernel.Batch batch = mounted.batch()) {
                for (Inode inode : table.pruneCandidates().some(MAX_PRUNED)) {
                    Inode parent = table.parent(inode);
                    Name name = table.name(inode);
                    if (parent != null && name != null) {
                        batch.invalidateEntry(parent.node(), name);
                    }
                }
            }
        }
    }

    private void later(Notification notification) {
        Kernel mounted = kernel;
        if (mounted != null && waiting.add(notification)) {
            teller.execute(() -> tell(notification, mounted));
        }
    }

    /** One thread at a time tells a notification, and what came meanwhile once more: one that waits long takes one thread. */
    private void tell(Notification notification, Kernel mounted) {
        do {
            if (!telling.add(notification)) {
                return;
            }
            try {
                while (waiting.remove(notification)) {
                    notification.tell(mounted);
                    refused.remove(notification.changedNode());
                }
            } finally {
                telling.remove(notification);
                toldOne();
            }
        } while (waiting.contains(notification));
    }

    private synchronized void toldOne() {
        notifyAll();
    }

    /**
     * As {@link #lengthChanged}. When this returns, the notification of a change, from which on the kernel believes no reply to an earlier
     * request, does not wait any more either; unless that takes long, as it waits for reads.
     *
     * @param pid the thread whose append is refused after this; 0: it is not known
     */
    public synchronized void awaitLength(long node, int pid) {
        lengthChanged(node);
        Notification changed = new Changed(node);
        long deadline = clock.nanos() + AWAITED_NANOS;
        try {
            for (long left = AWAITED_NANOS; left > 0 && isPending(changed); left = deadline - clock.nanos()) {
                clock.waitOn(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // of a killed program
        }
        if (pid != 0) {
            if (refused.size() >= MAX_REFUSED) {
                refused.clear(); // these are refused once more
            }
            refused.put(node, pid);
        }
    }

    /**
     * A reply to this thread shows attributes that were requested for it. If its append was refused, and no notification of the file came
     * since, the kernel drops them for none: it then knows the length.
     */
    public Attr requested(int pid, Inode inode, Attr attr) {
        boolean quiet = isRefused(inode, pid) && direct.get() == 0 && !isPending(new Changed(inode.node()));
        if (quiet && isRefused(inode, pid)) { // in this order: a notification takes it out before it is done
            inode.told(attr);
        }
        return attr;
    }

    private boolean isRefused(Inode inode, int pid) {
        return pid != 0 && refused.getOrDefault(inode.node(), 0) == pid;
    }

    /**
     * A reply shows these attributes, which were known before the request: so the kernel knows the length, unless a notification has it drop
     * what replies to earlier requests say.
     */
    public Attr shown(Inode inode, Attr attr) {
        boolean news = !inode.isDirectory() && !inode.isLengthTold();
        if (news && ((waiting.isEmpty() && telling.isEmpty()) || !isPending(new Changed(inode.node())))) {
            inode.told(attr);
        }
        return attr;
    }

    /** In this order, which is that in which a notification goes through them: else one between them would be missed. */
    private boolean isPending(Notification notification) {
        return waiting.contains(notification) || telling.contains(notification);
    }

    /** From now on there is a kernel to tell. */
    public void started(Kernel mounted) {
        kernel = mounted;
    }

    /** Does the kernel know the node? Yes if that cannot be told. */
    public boolean isKnown(long node) {
        Kernel mounted = kernel;
        return mounted == null || invalidateAttributes(mounted, node) != -Errno.ENOENT;
    }

    private int invalidateAttributes(Kernel mounted, long node) {
        direct.incrementAndGet();
        try {
            return mounted.invalidateInode(node, -1, 0);
        } finally {
            refused.remove(node);
            direct.decrementAndGet();
        }
    }

    /** Attributes and pages of the node are old. */
    public void changed(long node) {
        later(new Changed(node));
    }

    /** Attributes of a file that is being opened are old. When this returns, the kernel has been told; it waits for nothing then. */
    public void lengthChanged(long node) {
        Kernel mounted = kernel;
        if (mounted != null) {
            invalidateAttributes(mounted, node);
        }
    }

    /** The same where the notification of a change still waits, such as for pages of other files that Alluxio is asked for. */
    public void tellLength(long node) {
        boolean isAnyPending = !(waiting.isEmpty() && telling.isEmpty()); // in this order, as below
        if (isAnyPending && isPending(new Changed(node))) {
            lengthChanged(node);
        }
    }

    /** Too many files are known to the kernel: it is to let go of some, so many a second. */
    public void crowded(InodeTable table) {
        long now = clock.nanos();
        long before = prunedNanos.get();
        if (now - before >= PRUNING_NANOS && prunedNanos.compareAndSet(before, now)) {
            later(new Crowded(table));
        }
    }

    /** Names that led nowhere, of which that is not known any more. */
    public void moved(Inode directory, Collection<Name> names) {
        names.forEach(name -> later(new Appeared(directory, name)));
    }

    /**
     * A change of a name, or of what has it, has failed. Where its outcome is unknown it counts as in flight for a while: what the kernel
     * and the table know of the name, and of the times of its directory, is asked for again, each time. Where others have put something of
     * another kind there, it is asked for again once.
     */
    public void unsure(InodeTable table, Inode directory, Name name, StoreException failure) {
        boolean isOtherKind = failure.errno() == Errno.EISDIR || failure.errno() == Errno.ENOTDIR;
        Inode child = table.child(directory, name);
        if (failure.isOutcomeUnknown()) {
            unsure(table, directory, name, clock.nanos() + UNSURE_NANOS);
            if (child != null) {
                lengthChanged(child.node());
            }
        } else if (isOtherKind && child != null) {
            forget(table, child);
        }
    }

    private void unsure(InodeTable table, Inode directory, Name name, long untilNanos) {
        table.unsure(directory, name, untilNanos);
        later(new Appeared(directory, name.copy()));
        lengthChanged(directory.node());
    }

    /** The outcome of a change of a name, or of what has it, was unknown until now: both are asked for again. */
    public void resolved(InodeTable table, Inode directory, Name name) {
        unsure(table, directory, name, clock.nanos());
        Inode child = table.child(directory, name);
        if (child != null) {
            forget(table, child);
        }
    }

    /** As {@link #unsure}, of attributes. What has no name, as the root, is asked for once; an orphan stays what was last seen. */
    public void unsure(InodeTable table, Inode inode, StoreException failure) {
        if (failure.isOutcomeUnknown() && !inode.unlinked()) {
            inode.invalidateAttr(table.generation().changed());
            lengthChanged(inode.node());
        }
        Inode parent = table.parent(inode);
        Name name = table.name(inode);
        if (parent != null && name != null) {
            unsure(table, parent, name, failure);
        }
    }

    /**
     * For how long attributes may be believed is different now, of a file and of all below it: the kernel is to ask for them
     * again. It keeps its pages.
     */
    public void askAgain(Inode inode) {
        Kernel mounted = kernel;
        if (mounted != null) {
            teller.execute(() -> askAgain(mounted, inode));
        }
    }

    private void askAgain(Kernel mounted, Inode top) {
        ArrayDeque<Inode> left = new ArrayDeque<>(List.of(top));
        for (Inode inode = left.poll(); inode != null; inode = left.poll()) {
            invalidateAttributes(mounted, inode.node());
            if (inode.isDirectory()) {
                left.addAll(inode.dentries().snapshot());
            }
        }
    }

    /** Forgets what is believed of a file, here and in the kernel: attributes, pages, and its name. */
    public void forget(InodeTable table, Inode inode) {
        Moved moved = doubt(table, inode);
        later(new Changed(inode.node()));
        if (moved != null) {
            later(moved);
        }
    }

    /** Forgets it here, and its name; null: it has none. */
    private static @Nullable Moved doubt(InodeTable table, Inode inode) {
        inode.forgetPages(table.generation().changed());
        Inode parent = table.parent(inode);
        Name name = table.name(inode);
        if (parent == null || name == null) {
            return null;
        }
        table.doubt(inode);
        return new Moved(parent.node(), name);
    }

    /** Forgets many. One thread. */
    public final class Forgetting implements AutoCloseable {
        private final Kernel.@Nullable Batch batch;

        private Forgetting(@Nullable Kernel mounted) {
            batch = mounted == null ? null : mounted.batch();
        }

        /** As {@link KernelInvalidator#forget}. */
        public void forget(InodeTable table, Inode inode) {
            Moved moved = doubt(table, inode);
            if (batch != null && moved != null) {
                batch.invalidateEntry(moved.directory(), moved.name());
            }
            if (batch != null) {
                batch.invalidateInode(inode.node(), 0, 0);
            }
        }

        /** The same of a name that leads nowhere. */
        public void forget(Inode directory, Name name) {
            if (batch != null) {
                batch.invalidateEntry(directory.node(), name);
            }
        }

        /** When this returns, the kernel has been told. */
        @Override
        public void close() {
            if (batch != null) {
                direct.incrementAndGet();
                try {
                    batch.close();
                } finally {
                    refused.clear();
                    direct.decrementAndGet();
                }
            }
        }
    }

    /** To forget many, and have told the kernel then. Not on a thread that serves it: an invalidation may wait for requests. */
    public Forgetting forgetting() {
        return new Forgetting(kernel);
    }

    /** Another process goes on with the mount: tells what waits, if that does not take long. */
    public void lastWords() {
        teller.shutdown();
        try {
            if (!teller.awaitTermination(LAST_WORDS_MILLIS, TimeUnit.MILLISECONDS)) {
                teller.shutdownNow();
            }
        } catch (InterruptedException e) {
            teller.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        kernel = null;
        teller.shutdownNow();
    }
}
