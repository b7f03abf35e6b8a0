package io.posixgateway.alluxio.cache;

import io.posixgateway.alluxio.inode.Inode;
import io.posixgateway.alluxio.inode.InodeTable;
import io.posixgateway.fuse.jni.FreeThread;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.spi.Name;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Tells the kernel what it must no longer believe, on a thread of its own, because an invalidation may wait for requests of
 * the same node. When too much is to be told, the rest is dropped: the kernel's own timeouts follow the time to live anyway.
 */
public final class KernelNotices implements AutoCloseable {
    private static final int MOST_WAITING = 8192;

    private final ThreadPoolExecutor teller;
    private volatile @Nullable Kernel kernel;

    public KernelNotices() {
        teller = new ThreadPoolExecutor(
                1,
                1,
                10,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(MOST_WAITING),
                task -> new FreeThread(task, "kernel-notices"),
                new ThreadPoolExecutor.DiscardPolicy());
        teller.allowCoreThreadTimeOut(true);
    }

    /** From now on there is a kernel to tell. */
    public void started(Kernel mounted) {
        kernel = mounted;
    }

    /** Does the kernel know the node? Yes if that cannot be told. */
    public boolean isKnown(long node) {
        Kernel mounted = kernel;
        return mounted == null || mounted.invalidateInode(node, -1, 0) != -Errno.ENOENT;
    }

    /** Attributes and pages of the node are old. */
    public void changed(long node) {
        Kernel mounted = kernel;
        if (mounted != null) {
            teller.execute(() -> mounted.invalidateInode(node, 0, 0));
        }
    }

    /** The name may lead elsewhere. */
    private void moved(long directory, Name name) {
        Kernel mounted = kernel;
        if (mounted != null) {
            Name kept = name.copy();
            teller.execute(() -> mounted.invalidateEntry(directory, kept));
        }
    }

    /** Names that led nowhere, of which that is not known any more; nobody changes the collection. */
    public void moved(Inode directory, Collection<Name> names) {
        Kernel mounted = kernel;
        if (mounted != null && !names.isEmpty()) {
            teller.execute(() -> names.forEach(name -> mounted.invalidateEntry(directory.node(), name)));
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

    private static void askAgain(Kernel mounted, Inode top) {
        ArrayDeque<Inode> left = new ArrayDeque<>(List.of(top));
        for (Inode inode = left.poll(); inode != null; inode = left.poll()) {
            mounted.invalidateInode(inode.node(), -1, 0);
            if (inode.isDirectory()) {
                left.addAll(inode.dentries().snapshot());
            }
        }
    }

    /** Forgets what is believed of a file, here and in the kernel: attributes, pages, and its name. */
    public void forget(InodeTable table, Inode inode) {
        inode.forgetFacts();
        changed(inode.node());
        Inode parent = table.parent(inode);
        Name name = table.name(inode);
        if (parent != null && name != null) {
            table.doubt(inode);
            moved(parent.node(), name);
        }
    }

    /** The same of a name that leads nowhere. */
    public void forgetNow(Inode directory, Name name) {
        Kernel mounted = kernel;
        if (mounted != null) {
            mounted.invalidateEntry(directory.node(), name);
        }
    }

    /**
     * As {@link #forget}, and the kernel has been told when this returns, of however many. Not on a thread that serves it: an
     * invalidation may wait for requests.
     */
    public void forgetNow(InodeTable table, Inode inode) {
        inode.forgetFacts();
        Inode parent = table.parent(inode);
        Name name = table.name(inode);
        if (parent != null && name != null) {
            table.doubt(inode);
            forgetNow(parent, name);
        }
        Kernel mounted = kernel;
        if (mounted != null) {
            mounted.invalidateInode(inode.node(), 0, 0);
        }
    }

    @Override
    public void close() {
        kernel = null;
        teller.shutdownNow();
    }
}
