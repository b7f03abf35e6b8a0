package io.posixgateway.alluxio.inode;

import io.posixgateway.alluxio.client.NameCodec;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Every inode by node id, and the tree they form. Any thread.
 *
 * <p>A node lives as long as the kernel knows it or a handle is open. Beyond that it is kept as a cache, first come first
 * dropped, as long as there are no more than {@code most} nodes and they take no more than their bytes. When there are
 * {@link #CROWD} times as many, since the kernel knows them, it is to be asked to let go of some. A directory with known
 * children is never dropped before them, so a child's path always leads up through nodes of this table.
 *
 * <p>The place of an inode (parent and name) and the names in directories change together under this object's monitor.
 */
public final class InodeTable {
    private static final int BASE = 2;
    /** Alluxio's file ids are a counter above 24 bits, so these bits of a node id are free for {@link #split}. */
    private static final int SPLIT_SHIFT = 56;

    private static final int MOST_SPLITS = 15;
    private static final int GENERATIONS = 8;
    /** So many of the idle nodes that came last stay however many there are: somebody may be about to use them. */
    private static final int MOST_FRESH = 1024;
    /** So many idle nodes are looked at to make room for one. */
    private static final int MOST_TRIES = 4;
    /** The same where some take much memory. */
    private static final int MOST_TRIES_FOR_BYTES = 512;

    private static final int CROWD = 2;
    /** Of no use for so long where fewer files were found than had to go. */
    private static final long IN_VAIN_NANOS = 60_000_000_000L;
    /** This part of the limit is made free at once. */
    private static final int CROWD_SHARE = 16;

    private final int most;
    private final CacheBytes bytes;
    private final Clock clock;
    private final String rootPath;
    private final NameCodec names;
    private final Inode root;
    private final NodeTable nodes = new NodeTable();
    /** File ids that belong to a node which began with another one. */
    private final LongTable<Inode> laterIds = new LongTable<>();

    private final InodeNumbers numbers;

    private final IdleQueue idle = new IdleQueue();
    private final LongAdder evicted = new LongAdder();
    private volatile NodeIdListener numbering = NodeIdListener.NOBODY;
    private volatile int generation;
    private volatile Runnable crowded = () -> {};
    /** Since when it is of no use to ask for it, and whether it is; see {@link #crowd}. */
    private volatile long inVainNanos;

    private volatile boolean inVain;
    private int nextStripe;

    /**
     * @param rootPath path in Alluxio of the mount's root
     * @param rootFileId its file id
     * @param bytes of this table alone; what the facts of its inodes take is counted there
     * @param names between the names here and those in Alluxio's paths, but for object stores
     */
    public InodeTable(String rootPath, long rootFileId, int most, CacheBytes bytes, NameCodec names, Clock clock) {
        this.clock = clock;
        this.names = names;
        this.rootPath = rootPath.equals("/") ? "" : rootPath;
        this.most = most;
        this.bytes = bytes;
        this.numbers = new InodeNumbers(nodes, laterIds, most, bytes);
        this.root = new Inode(FileSystem.ROOT, rootFileId, true, bytes);
        nodes.putIfAbsent(root);
        lookedUp(root);
    }

    public Inode root() {
        return root;
    }

    /** Between the names in a directory and those in Alluxio's paths. */
    public NameCodec names(Inode directory) {
        return directory.isInObjectStore() ? names.forObjectStore() : names;
    }

    public @Nullable Inode get(long node) {
        return nodes.get(node);
    }

    /** The inode numbers that are shown. */
    public InodeNumbers numbers() {
        return numbers;
    }

    /** Nodes known now. */
    public int size() {
        return nodes.size();
    }

    /** Memory that the nodes take with their attributes and names, those that are missing too. */
    public long estimatedBytes() {
        return bytes.sum(nodes.size());
    }

    /** The most memory of those that nobody uses. */
    public long mostBytes() {
        return bytes.most();
    }

    /** Nodes dropped so far to make room for others. */
    public long evicted() {
        return evicted.sum();
    }

    /** The most nodes kept of those that nobody uses. */
    public int most() {
        return most;
    }

    /** The node id that a file has unless it replaced another. */
    public static long nodeOf(long fileId) {
        return fileId + BASE;
    }

    /** The file id that a node began with; not for the root. */
    public static long fileIdOf(long node) {
        return (node & ((1L << SPLIT_SHIFT) - 1)) - BASE;
    }

    /** The inode of a file, if there is one. */
    public @Nullable Inode known(long fileId) {
        Inode later = laterIds.get(fileId + BASE);
        Inode first = fileId == root.fileId() ? root : nodes.get(nodeOf(fileId));
        return later != null ? later : first;
    }

    /** The inode of a file wherever it is, made if need be; not yet in the tree if it is new. */
    public Inode of(long fileId, boolean directory) {
        Inode known = known(fileId);
        if (known != null) {
            return known;
        }
        Inode fresh = new Inode(nodeOf(fileId), fileId, directory, bytes);
        numbers.entered(fresh);
        Inode other = nodes.putIfAbsent(fresh);
        if (other != null) {
            return other;
        }
        rest(fresh);
        return fresh;
    }

    /** The node's content is about to be in another file of Alluxio: whoever finds that file has found this node. */
    public synchronized void expect(Inode inode, long newFileId) {
        laterIds.put(newFileId + BASE, inode);
        Inode parent = inode.parent;
        Name name = name(inode);
        if (parent != null && name != null) {
            parent.dentries().replacing(name, inode);
        }
    }

    /** It is not, after all. */
    public synchronized void expectNoMore(Inode inode, long newFileId, long nowNanos) {
        if (inode.fileId() != newFileId && laterIds.get(newFileId + BASE) == inode) {
            laterIds.remove(newFileId + BASE);
        }
        listed(inode, nowNanos);
    }

    private void listed(Inode inode, long nowNanos) {
        Inode parent = inode.parent;
        Name name = name(inode);
        if (parent != null && name != null) {
            parent.dentries().replaced(name, nowNanos);
        }
    }

    /** The node's content is now in another file of Alluxio: who finds the former at its name found what was before. */
    public synchronized void replaced(Inode inode, long newFileId, long nowNanos) {
        unlist(inode);
        numbers.replaced(inode, newFileId);
        inode.changeFileId(newFileId);
        laterIds.put(newFileId + BASE, inode);
        Inode parent = inode.parent;
        if (parent != null) {
            parent.dentries().put(inode, nowNanos);
        }
        listed(inode, nowNanos);
    }

    private void unlist(Inode inode) {
        if (laterIds.get(inode.fileId() + BASE) == inode) {
            laterIds.remove(inode.fileId() + BASE);
        }
    }

    /** What the table knows of an inode number that stat(2) showed; null: nothing. */
    public @Nullable Inode ofNumber(long number) {
        Long file = numbers.file(number);
        Inode later = file == null ? null : laterIds.get(file + BASE);
        Inode found = later != null ? later : nodes.get(file == null ? number : nodeOf(file));
        return found != null && found.number() == number ? found : null;
    }

    /** How many processes served the mount before: the nodes that this one splits off get other numbers than theirs. */
    public void generation(int processes) {
        generation = processes % GENERATIONS;
    }

    /**
     * Gives the place of a file in the tree to a new node, which the kernel finds when it looks the name up again; those who
     * have the old node open keep it. False: the file has no place, or too many nodes already.
     */
    public synchronized boolean split(Inode inode, long nowNanos) {
        Inode parent = inode.parent;
        Name name = name(inode);
        if (parent == null || name == null) {
            return false;
        }
        for (int turn = 0; turn <= MOST_SPLITS; turn++) {
            long mark = turn == 0 ? 0 : (long) generation * (MOST_SPLITS + 1) + turn;
            Inode fresh = new Inode(nodeOf(inode.fileId()) | mark << SPLIT_SHIFT, inode.fileId(), false, bytes);
            if (nodes.putIfAbsent(fresh) == null) {
                if (turn > 0) {
                    fresh.markOurs();
                }
                fresh.changeNumber(inode.number());
                Facts facts = inode.facts();
                if (facts != null) {
                    fresh.see(facts);
                }
                laterIds.put(inode.fileId() + BASE, fresh);
                attach(parent, name, fresh, nowNanos);
                rest(fresh);
                return true;
            }
        }
        return false;
    }

    /** As {@link #replaced}, by others; false when that file is a node of its own already, which is not being replaced itself. */
    public synchronized boolean adopt(Inode inode, long newFileId, long nowNanos) {
        Inode there = known(newFileId);
        if (there != null && there != inode && !there.isGoing()) {
            return false;
        }
        replaced(inode, newFileId, nowNanos);
        numbering.moved(inode.node(), newFileId);
        return true;
    }

    /** Tells who hears from now on. */
    public void tell(NodeIdListener listener) {
        numbering = listener;
    }

    /** A node that the kernel knows from an earlier process; kept until the kernel forgets it. */
    public Inode restore(long node, long fileId, boolean directory) {
        Inode known = nodes.get(node);
        if (known != null) {
            return known;
        }
        Inode fresh = new Inode(node, fileId, directory, bytes);
        nodes.putIfAbsent(fresh);
        lookedUp(fresh);
        laterIds.put(fileId + BASE, fresh);
        return fresh;
    }

    /** Puts an inode at a name. What was there before is taken out. */
    public synchronized void attach(Inode parent, Name name, Inode found, long nowNanos) {
        Inode directory = kept(parent);
        Inode child = kept(found);
        byte[] before = child.name;
        if (child.parent != directory || before == null || !name.isOf(before)) {
            Inode replaced = child(directory, name);
            if (replaced != null && replaced != child) {
                detach(replaced);
            }
            leaveParent(child, false);
            child.name = name.toBytes();
            bytes.add(CacheBytes.of(name.length()));
            child.parent = directory;
            child.loosen(null);
        }
        directory.dentries().put(child, nowNanos);
    }

    /**
     * Puts an inode at a name where Alluxio said it is.
     *
     * @param askedNanos when Alluxio was asked
     * @return false: what is known of the name is younger than that, and something else
     */
    public synchronized boolean attachSeen(Inode directory, Name name, Inode child, long askedNanos, long nowNanos) {
        Dentries.Dentry dentry = directory.dentries().find(name);
        if (dentry != null && dentry.child() != child && dentry.seenNanos() - askedNanos > 0) {
            return false;
        }
        attach(directory, name, child, nowNanos);
        return true;
    }

    /** The inode was seen at its name again. */
    public synchronized void confirm(Inode directory, Name name, Inode child, long nowNanos) {
        byte[] kept = child.name;
        boolean younger = nowNanos - child.seenNanos > 0;
        if (younger && child.parent == directory && kept != null && name.isOf(kept)) {
            directory.dentries().put(child, nowNanos);
        }
    }

    private void leaveParent(Inode child, boolean gone) {
        Inode parent = child.parent;
        byte[] name = child.name;
        if (parent != null && name != null) {
            parent.dentries().remove(child, gone);
            bytes.add(-CacheBytes.of(name.length));
        }
        child.parent = null;
        child.name = null;
    }

    /** The name leads nowhere; the names of which that is no longer known, in its place. */
    public synchronized Collection<Name> missing(Inode parent, Name name, long nowNanos) {
        Inode directory = kept(parent);
        Inode child = child(directory, name);
        if (child != null) {
            detach(child);
        }
        return directory.dentries().putMissing(name, nowNanos);
    }

    /** As {@link #missing}; null: something was seen, or put, there after Alluxio was asked, and stays. */
    public synchronized @Nullable Collection<Name> missingSeen(
            Inode directory, Name name, long askedNanos, long nowNanos) {
        Dentries.Dentry dentry = directory.dentries().find(name);
        boolean later = dentry != null && dentry.child() != null && dentry.seenNanos() - askedNanos > 0;
        return later ? null : missing(directory, name, nowNanos);
    }

    /** As {@link #missing}, by this mount. */
    public synchronized Collection<Name> taken(Inode directory, Name name, long nowNanos) {
        directory.dentries().putTaken(name);
        return missing(directory, name, nowNanos);
    }

    /** The inode has its name no more: takes it out of its directory; its path stays what it was, for those who still hold it. */
    public synchronized void detach(Inode child) {
        detach(child, true);
    }

    private void detach(Inode child, boolean gone) {
        if (child.parent != null) {
            child.loosen(path(child));
        }
        leaveParent(child, gone);
    }

    /** The file is at this path now, which the tree does not know. */
    public synchronized void loose(Inode inode, String path) {
        leaveParent(inode, false);
        inode.loosen(path);
    }

    /** The path in Alluxio; null when it was never placed. */
    public synchronized @Nullable String path(Inode inode) {
        if (inode == root) {
            return rootPath.isEmpty() ? "/" : rootPath;
        }
        ArrayDeque<String> parts = new ArrayDeque<>();
        Inode at = inode;
        for (Inode up = at.parent; up != null && at.name != null; up = at.parent) {
            parts.addFirst(names(up).stored(at.name));
            at = up;
        }
        String start = at == root ? rootPath : at.loosePath();
        if (start == null) {
            return null;
        }
        StringBuilder path = new StringBuilder(start);
        for (String part : parts) {
            path.append('/').append(part);
        }
        return path.toString();
    }

    /** The last name of its path in Alluxio, in the tree or not; empty when that is not known. */
    public String lastName(Inode inode) {
        String path = path(inode);
        return path == null ? "" : path.substring(path.lastIndexOf('/') + 1);
    }

    /** The directory that an inode is in; null when that is not known. */
    public synchronized @Nullable Inode parent(Inode inode) {
        return inode.parent;
    }

    /** The same without waiting for a change that is under way; null: it is in no directory, or just being moved. */
    public @Nullable Inode parentNow(Inode inode) {
        return inode.parent;
    }

    /** Its name there. */
    public synchronized @Nullable Name name(Inode inode) {
        byte[] name = inode.name;
        return name == null ? null : Name.of(name);
    }

    /** The known child of this name; null: none is known. */
    public @Nullable Inode child(Inode directory, Name name) {
        Dentries.Dentry dentry = directory.dentries().find(name);
        return dentry == null ? null : dentry.child();
    }

    /** Its file is no more: its number may be another's, and its name is to be looked up again. */
    public void gone(Inode inode) {
        numbers.gone(inode);
        doubt(inode);
    }

    /** Its name is to be looked up again before it is believed; it stays in the tree until then. */
    public synchronized void doubt(Inode inode) {
        Inode parent = inode.parent;
        if (parent != null) {
            parent.dentries().doubt(inode);
        }
    }

    /** The path of a name in a directory. */
    public @Nullable String path(Inode directory, Name name) {
        String parent = path(directory);
        if (parent == null) {
            return null;
        }
        return (parent.equals("/") ? "/" : parent + "/") + names(directory).stored(name);
    }

    /**
     * The kernel is told of a node, which stays from now on until it is forgotten. Where it was dropped since it was found, it
     * comes back, or the one of its number that is there by now counts in its place.
     */
    public void lookedUp(Inode inode) {
        Inode at = inode;
        while (!at.lookedUp()) {
            at = bringBack(at);
        }
    }

    /** What the table has of a node that it has let go of: that one again, or another. */
    private synchronized Inode bringBack(Inode inode) {
        Inode other = nodes.putIfAbsent(inode);
        if (other != null && other != inode) {
            return other;
        }
        if (inode.isDropped()) {
            inode.comeBack();
            numbers.cameBack(inode);
            if (fileIdOf(inode.node()) != inode.fileId()) {
                laterIds.put(inode.fileId() + BASE, inode);
                numbering.moved(inode.node(), inode.fileId());
            }
            if (inode.startResting()) {
                idle.add(inode);
            }
        }
        return inode;
    }

    private Inode kept(Inode inode) {
        return inode.isDropped() ? bringBack(inode) : inode;
    }

    /** Is this inode at this name? */
    public synchronized boolean isAt(Inode directory, Name name, Inode inode) {
        byte[] kept = inode.name;
        return inode.parent == directory && kept != null && name.isOf(kept);
    }

    /** The kernel forgets; returns the inode if the kernel knows it no more. */
    public @Nullable Inode forget(long node, long lookups) {
        Inode inode = nodes.get(node);
        if (inode == null || inode == root || !inode.forget(lookups)) {
            return null;
        }
        leave(inode);
        return inode;
    }

    /** The last handle was closed. */
    public void released(Inode inode) {
        if (inode != root && inode.idle()) {
            leave(inode);
        }
    }

    /** Keeps it as a cache; but a node whose number is not its file's ends here, and the file's next one is its own. */
    private void leave(Inode inode) {
        if (fileIdOf(inode.node()) == inode.fileId()) {
            rest(inode);
            return;
        }
        synchronized (this) {
            drop(inode);
            if (nodes.get(inode.node()) != inode) {
                numbering.gone(inode.node());
            }
        }
    }

    /** Keeps an idle inode as a cache, dropping older ones when there are too many. */
    private void rest(Inode inode) {
        if (inode.startResting()) {
            idle.add(inode);
        }
        int tries = bytes.tooMany(nodes.size()) ? MOST_TRIES_FOR_BYTES : MOST_TRIES;
        while ((nodes.size() > most || bytes.tooMany(nodes.size())) && tries-- > 0) {
            Inode oldest = idle.poll(Math.min(MOST_FRESH, most / 2));
            if (oldest == null) {
                break;
            }
            oldest.stopResting();
            drop(oldest);
            if (nodes.get(oldest.node()) != oldest) {
                evicted.increment();
            }
        }
        if (isCrowded() && !(inVain && clock.nanos() - inVainNanos < IN_VAIN_NANOS)) {
            crowded.run();
        }
    }

    private boolean isCrowded() {
        int size = nodes.size();
        return size > (long) CROWD * most || bytes.sum(size) / CROWD > bytes.most();
    }

    /** This is run, often, while the kernel knows more nodes than are to be kept, by whoever adds one; it must not wait. */
    public void whenCrowded(Runnable hears) {
        crowded = hears;
    }

    /**
     * Files that nobody has open, of which the kernel is to let go so that they can be dropped, others each time; none where that is
     * not needed.
     */
    public List<Inode> crowd(int atMost) {
        List<Inode> found = new ArrayList<>();
        if (!isCrowded()) {
            return found;
        }
        long over = nodes.size() - (long) CROWD * most;
        long wanted = Math.min(atMost, Math.max(over, 0) + Math.max(1, most / CROWD_SHARE));
        for (int looked = 0; looked < nodes.stripes() && found.size() < wanted; looked++) {
            for (Inode inode : nodes.some(nextStripe())) {
                if (found.size() < wanted && !inode.isDirectory() && inode.isKnown() && inode.handles() == 0) {
                    found.add(inode);
                }
            }
        }
        inVainNanos = clock.nanos();
        inVain = found.size() < wanted; // what makes the crowd is open, or directories
        return found;
    }

    private synchronized int nextStripe() {
        nextStripe = (nextStripe + 1) % nodes.stripes();
        return nextStripe;
    }

    private synchronized void drop(Inode inode) {
        if (!inode.idle() || nodes.get(inode.node()) != inode) {
            return;
        }
        if (inode.isDirectory() && inode.dentries().children() > 0) {
            if (inode.startResting()) {
                idle.add(inode);
            }
            return;
        }
        if (inode.drop()) {
            detach(inode, inode.unlinked());
            nodes.remove(inode.node());
            unlist(inode);
            if (inode.unlinked()) {
                numbers.gone(inode);
            }
        }
    }
}
