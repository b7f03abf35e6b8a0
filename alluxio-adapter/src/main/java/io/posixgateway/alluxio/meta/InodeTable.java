package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Every inode by node id, and the tree they form. Any thread.
 *
 * <p>A node lives as long as the kernel knows it or a handle is open. Beyond that it is kept as a cache, first come first
 * dropped, as long as there are no more than {@code most} nodes and they take no more than their bytes: {@link IdleNodes}. When
 * there are many more, since the kernel knows them, it is asked to let go of some: {@link PruneCandidates}. A directory with known
 * children is never dropped before them, so a child's path always leads up through nodes of this table.
 *
 * <p>The place of an inode (parent and name) and the names in directories change together under this object's monitor.
 */
public final class InodeTable {
    /** No file has this id. */
    private static final long NO_FILE = NodeIds.fileId(FileSystem.ROOT);

    /** Files that show other numbers than their own, of which that is known without an inode. */
    private static final int MAX_NUMBERS = 1_000_000;

    private final int most;
    private final MemoryAccounting bytes;
    private final String rootPath;
    private final NameCodec names;
    private final Inode root;
    private final Generation generation = new Generation();
    private final NodeIds ids = new NodeIds();
    private final InodeMap nodes = new InodeMap();
    private final PruneCandidates pruneCandidates;
    /** File ids that belong to a node which began with another one. */
    private final LongMap<Inode> laterIds = new LongMap<>();

    private final InodeNumbers numbers;

    private final IdleNodes idle;
    private volatile NodeIdListener numbering = NodeIdListener.NOBODY;

    /**
     * @param rootPath path in Alluxio of the mount's root
     * @param rootFileId its file id
     * @param bytes of this table alone; what the attributes of its inodes take is counted there
     * @param names between the names here and those in Alluxio's paths, where the under file system takes all that Alluxio takes
     */
    public InodeTable(
            String rootPath, long rootFileId, int most, MemoryAccounting bytes, NameCodec names, Clock clock) {
        this.names = names;
        this.rootPath = rootPath.equals("/") ? "" : rootPath;
        this.most = most;
        this.bytes = bytes;
        this.pruneCandidates = new PruneCandidates(nodes, bytes, most, clock);
        this.idle = new IdleNodes(most, bytes, nodes, pruneCandidates, clock, this::drop);
        this.numbers = new InodeNumbers(nodes, laterIds, Math.min(most, MAX_NUMBERS), bytes);
        this.root = new Inode(FileSystem.ROOT, rootFileId, true, bytes);
        nodes.putIfAbsent(root);
        lookedUp(root);
    }

    public Inode root() {
        return root;
    }

    /** The mount's. */
    public Generation generation() {
        return generation;
    }

    /** Between the names in a directory and those in Alluxio's paths. */
    public NameCodec names(Inode directory) {
        return names.in(directory.storeNames());
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
        return Math.min(bytes.most(), bytes.budget().mostBytes());
    }

    /** What it shares with the tables of other volumes. */
    public CacheBudget budget() {
        return bytes.budget();
    }

    /** Nodes dropped so far to make room for others. */
    public long evicted() {
        return idle.evicted();
    }

    /** The most nodes kept of those that nobody uses; {@link Integer#MAX_VALUE}: as many as there is memory for. */
    public int most() {
        return most;
    }

    /** The node id that a file has unless it replaced another. */
    public static long nodeOf(long fileId) {
        return NodeIds.plain(fileId);
    }

    /** The file id that a node began with; not for the root. */
    public static long fileIdOf(long node) {
        return NodeIds.fileId(node);
    }

    /** The inode of a file, if there is one. */
    public @Nullable Inode known(long fileId) {
        Inode later = laterIds.get(fileId + NodeIds.BASE);
        Inode first = fileId == root.fileId() ? root : nodes.get(ids.of(fileId));
        return later != null ? later : first;
    }

    /** The inode of a file wherever it is, made if need be; not yet in the tree if it is new. */
    public Inode of(long fileId, boolean directory) {
        Inode known = known(fileId);
        if (known != null) {
            return known;
        }
        Inode fresh = new Inode(ids.of(fileId), fileId, directory, bytes);
        numbers.entered(fresh);
        Inode other = nodes.putIfAbsent(fresh);
        if (other != null) {
            return other;
        }
        idle.rest(fresh);
        return fresh;
    }

    /** Whoever finds the file finds this node; not a foreign one, as the id is another file's now. */
    private void found(long fileId, Inode node) {
        if (!ids.isForeign(node.node())) {
            laterIds.put(fileId + NodeIds.BASE, node);
        }
    }

    /** The node's content is about to be in another file of Alluxio: whoever finds that file has found this node. */
    public synchronized void expect(Inode inode, long newFileId) {
        found(newFileId, inode);
        Inode parent = inode.parent;
        Name name = name(inode);
        if (parent != null && name != null) {
            parent.dentries().replacing(name, inode);
        }
    }

    /** It is not, after all. */
    public synchronized void expectNoMore(Inode inode, long newFileId, long nowNanos) {
        if (inode.fileId() != newFileId && laterIds.get(newFileId + NodeIds.BASE) == inode) {
            laterIds.remove(newFileId + NodeIds.BASE);
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
        inode.raise(generation.changed());
        nowIn(inode, newFileId, nowNanos);
    }

    private void nowIn(Inode inode, long newFileId, long nowNanos) {
        unlist(inode);
        numbers.replaced(inode, newFileId);
        inode.changeFileId(newFileId);
        found(newFileId, inode);
        Inode parent = inode.parent;
        if (parent != null) {
            parent.dentries().put(inode, nowNanos);
        }
        listed(inode, nowNanos);
    }

    private void unlist(Inode inode) {
        if (laterIds.get(inode.fileId() + NodeIds.BASE) == inode) {
            laterIds.remove(inode.fileId() + NodeIds.BASE);
        }
    }

    /** What the table knows of an inode number that stat(2) showed; null: nothing. */
    public @Nullable Inode ofNumber(long number) {
        Long file = numbers.file(number);
        Inode later = file == null ? null : laterIds.get(file + NodeIds.BASE);
        Inode found = later != null ? later : nodes.get(file == null ? number : ids.of(file));
        return found != null && found.number() == number ? found : null;
    }

    /** The ids that nodes get. */
    public NodeIds ids() {
        return ids;
    }

    /** When too many nodes are known. */
    public PruneCandidates pruneCandidates() {
        return pruneCandidates;
    }

    /**
     * Another Alluxio answers from now on: no name leads to a node that was known, and all of them but the root are foreign. The kernel
     * may know them until it forgets them.
     *
     * @return the names in the root that were known to lead somewhere, or nowhere
     */
    public synchronized List<Name> restart() {
        List<Name> before = new ArrayList<>();
        for (Inode child : root.dentries().snapshot()) {
            Name name = name(child);
            if (name != null) {
                before.add(name);
            }
            detach(child, false);
        }
        before.addAll(root.dentries().dropListing());
        root.dentries().forgot(generation.changed());
        ids.beginAnew();
        laterIds.clear();
        root.changeFileId(NO_FILE);
        root.invalidateAttr(generation.changed());
        return before;
    }

    /** Calls for each node that the kernel knows now, under no lock. */
    public void forEachKnown(Consumer<Inode> action) {
        for (int stripe = 0; stripe < nodes.stripes(); stripe++) {
            nodes.some(stripe).stream().filter(Inode::isKnown).forEach(action);
        }
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
        for (int turn = 0; turn <= NodeIds.MAX_TURN; turn++) {
            Inode fresh = new Inode(ids.split(inode.fileId(), turn), inode.fileId(), false, bytes);
            if (nodes.putIfAbsent(fresh) == null) {
                if (turn > 0) {
                    fresh.markOurs();
                }
                fresh.changeNumber(inode.number());
                Attr attr = inode.attr();
                if (attr != null) {
                    fresh.see(attr);
                }
                found(inode.fileId(), fresh);
                attach(parent, name, fresh, nowNanos);
                idle.rest(fresh);
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
        nowIn(inode, newFileId, nowNanos);
        numbering.moved(inode, newFileId);
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
        found(fileId, fresh);
        return fresh;
    }

    /** Puts an inode at a name where this mount put it. What was there before is taken out. */
    public synchronized void attach(Inode parent, Name name, Inode found, long nowNanos) {
        attach(parent, name, found, generation.changed(), nowNanos);
    }

    private void attach(Inode parent, Name name, Inode found, long reached, long nowNanos) {
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
            bytes.add(MemoryAccounting.of(name.length()));
            child.parent = directory;
            child.loosen(null);
        }
        child.raise(reached);
        directory.dentries().put(child, nowNanos);
    }

    /**
     * Puts an inode at a name where Alluxio said it is.
     *
     * @param issued {@link Generation#issued} before the request
     * @return false: what is known of the name is newer, and something else, or it is known that the inode is elsewhere
     */
    public synchronized boolean see(Inode directory, Name name, Inode child, long issued, long nowNanos) {
        boolean here = isAt(directory, name, child);
        boolean elsewhere = !here && child.parent != null && child.isNewerThan(issued);
        if (elsewhere || directory.dentries().isNewer(name, child, issued)) {
            return false;
        }
        boolean younger = here && child.seenNanos - nowNanos > 0;
        attach(directory, name, child, issued, younger ? child.seenNanos : nowNanos);
        return true;
    }

    private void leaveParent(Inode child, boolean gone) {
        Inode parent = child.parent;
        byte[] name = child.name;
        if (parent != null && name != null) {
            parent.dentries().remove(child, gone);
            bytes.add(-MemoryAccounting.of(name.length));
        }
        child.parent = null;
        child.name = null;
    }

    private Collection<Name> missing(Inode parent, Name name, long reached, long nowNanos) {
        Inode directory = kept(parent);
        Inode child = child(directory, name);
        if (child != null) {
            detach(child);
        }
        return directory.dentries().putMissing(name, reached, nowNanos);
    }

    /**
     * The name leads nowhere, as Alluxio said.
     *
     * @param issued {@link Generation#issued} before the request
     * @return the names of which that is no longer known, in its place; null: what is known of the name is newer
     */
    public synchronized @Nullable Collection<Name> seeMissing(Inode directory, Name name, long issued, long nowNanos) {
        return directory.dentries().isNewer(name, null, issued) ? null : missing(directory, name, issued, nowNanos);
    }

    /** This mount took the name away; the names that are no longer known to lead nowhere, in its place. */
    public synchronized Collection<Name> taken(Inode directory, Name name, long nowNanos) {
        directory.dentries().putTaken(name);
        return missing(directory, name, generation.changed(), nowNanos);
    }

    /** A change by this mount of a name, or of what has it, has an unknown outcome; until then it may be done yet. */
    public synchronized void unsure(Inode directory, Name name, long untilNanos) {
        long reached = generation.changed();
        directory.dentries().unsure(name, untilNanos);
        directory.dentries().forgot(reached);
        directory.timesAreOld(reached);
        Inode child = child(directory, name);
        if (child != null) {
            child.raise(reached);
        }
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
                found(inode.fileId(), inode);
                numbering.moved(inode, inode.fileId());
            }
            idle.add(inode);
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
            idle.rest(inode);
            return;
        }
        synchronized (this) {
            drop(inode);
            if (nodes.get(inode.node()) != inode) {
                numbering.gone(inode.node());
            }
        }
    }

    /** Takes an idle node out; false: it is in use, or leads to others. */
    private synchronized boolean drop(Inode inode) {
        if (!inode.idle() || nodes.get(inode.node()) != inode) {
            return false;
        }
        if (inode.isDirectory() && inode.dentries().children() > 0) {
            idle.add(inode);
            return false;
        }
        if (!inode.drop()) {
            return false;
        }
        Inode parent = inode.parent;
        if (parent != null) {
            parent.dentries().forgot(inode.generation());
        }
        detach(inode, inode.unlinked());
        nodes.remove(inode.node());
        unlist(inode);
        if (inode.unlinked()) {
            numbers.gone(inode);
        }
        return true;
    }

    /** No node is found or made here any more: the memory counts no longer. */
    public void close() {
        idle.close();
    }
}
