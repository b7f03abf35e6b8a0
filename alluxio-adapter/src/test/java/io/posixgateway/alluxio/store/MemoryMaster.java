package io.posixgateway.alluxio.store;

import io.posixgateway.fuse.spi.Errno;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The master of a {@link MemoryCluster}: the tree of inodes, and what each call does to it and to the UFS, in the order in which
 * Alluxio 2.9 does it. Guarded by the cluster's lock, which is free while a test's {@link Moment} runs.
 */
final class MemoryMaster {
    private final MemoryUfs ufs;
    private final ManualClock clock;
    private final Moments moments;
    private final MemoryInode root = MemoryInode.directory(0, "");
    private final Map<Long, MemoryInode> byId = new ConcurrentHashMap<>();
    /** Creations that were done. */
    private final Set<UUID> operations = new HashSet<>();
    /** Paths that the UFS was once seen without: it is not asked for them again. */
    private final Set<String> absent = new HashSet<>();

    /** The master's clock is ahead of its clients' by so much. */
    volatile long aheadMillis;

    private long directories;
    private long containers;
    /** Locked by a rename to it, as the master locks it: who asks for the path waits; a listing does not. */
    private @Nullable String target;

    private @Nullable Thread renaming;
    /** What is being renamed. */
    private @Nullable MemoryInode moving;

    /** Runs what a test wants done at a moment within a call. */
    interface Moments {
        void reach(Moment moment, String path);

        /** Waits while this holds, which changes before {@link #renamed} is called; the lock is free meanwhile. */
        void awaitRenamed(BooleanSupplier waits);

        void renamed();
    }

    MemoryMaster(MemoryUfs ufs, ManualClock clock, Moments moments) {
        this.ufs = ufs;
        this.clock = clock;
        this.moments = moments;
        root.mode = 0777;
        root.storeNames = switch (ufs.kind()) {
            case LOCAL -> StoreNames.ALL;
            case OBJECT_STORE -> StoreNames.LISTED_AS_XML;
            case HDFS -> StoreNames.WITHOUT_COLON;
        };
        root.persisted = true;
        root.modifiedMillis = nowMillis();
        root.createdMillis = nowMillis();
        byId.put(root.id, root);
    }

    /** By the master's clock. */
    private long nowMillis() {
        return clock.millis() + aheadMillis;
    }

    private static StoreException failure(int errno, String what) {
        return new StoreException(errno, what, null);
    }

    /** What is at a path, loaded from the UFS if need be. */
    MemoryInode find(String path) throws StoreException {
        MemoryInode at = root;
        for (String part : parts(path)) {
            MemoryInode child = childOrLoaded(at, part);
            if (child == null) {
                throw failure(Errno.ENOENT, "Path \"" + path + "\" does not exist.");
            }
            at = child;
        }
        return at;
    }

    /** Is it one? False if nothing is there. */
    boolean isDirectory(String path) throws StoreException {
        try {
            return find(path).directory;
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT) {
                return false;
            }
            throw e;
        }
    }

    /** Has the UFS what is known to be there? */
    boolean isPersisted(String path) {
        MemoryInode inode = known(path);
        return inode != null && inode.persisted;
    }

    /** Is it this file, complete, in the UFS as far as is known? */
    boolean isPersistedFile(String path, long fileId) {
        MemoryInode inode = known(path);
        return inode != null && inode.id == fileId && !inode.directory && inode.complete && inode.persisted;
    }

    /** The same without asking the UFS; null: nothing. */
    private @Nullable MemoryInode known(String path) {
        MemoryInode at = root;
        for (String part : parts(path)) {
            at = at == null ? null : at.children.get(part);
        }
        return at;
    }

    private static List<String> parts(String path) {
        List<String> parts = new ArrayList<>(List.of(path.split("/", -1)));
        parts.removeIf(String::isEmpty);
        return parts;
    }

    private static String below(MemoryInode directory, String name) {
        String path = directory.path();
        return path.equals("/") ? "/" + name : path + "/" + name;
    }

    private @Nullable MemoryInode childOrLoaded(MemoryInode directory, String name) throws StoreException {
        if (!directory.directory) {
            throw failure(Errno.EINVAL, directory.path() + " is a file, not a directory.");
        }
        moments.awaitRenamed(() -> !directory.children.containsKey(name)
                && below(directory, name).equals(target)
                && renaming != Thread.currentThread());
        MemoryInode child = directory.children.get(name);
        if (child != null || absent.contains(below(directory, name))) {
            return child;
        }
        return load(directory, name);
    }

    private @Nullable MemoryInode load(MemoryInode directory, String name) {
        String path = below(directory, name);
        MemoryUfs.UfsStatus status = ufs.status(path);
        if (status == null) {
            absent.add(path);
            return null;
        }
        absent.remove(path);
        MemoryInode made =
                status.directory() ? MemoryInode.directory(++directories, name) : MemoryInode.file(++containers, name);
        made.complete = true;
        made.persisted = true;
        made.mode = status.mode();
        made.owner = status.owner();
        made.group = status.owner();
        made.modifiedMillis = status.modifiedMillis();
        made.fingerprint = status.fingerprint();
        made.hasLength(status.lengthBytes());
        attach(directory, made);
        return made;
    }

    private void attach(MemoryInode directory, MemoryInode child) {
        child.parent = directory;
        child.createdMillis = child.createdMillis == 0 ? nowMillis() : child.createdMillis;
        directory.children.put(child.name, child);
        byId.put(child.id, child);
    }

    /** Takes it out of the tree, with all that is below it. */
    private void drop(MemoryInode inode) {
        MemoryInode directory = inode.parent;
        if (directory != null) {
            directory.children.values().remove(inode);
            directory.modifiedMillis = nowMillis();
        }
        List.copyOf(inode.children.values()).forEach(this::drop);
        byId.remove(inode.id);
    }

    String pathOf(long id) throws StoreException {
        MemoryInode inode = byId.get(id);
        moments.awaitRenamed(() -> inode == moving && inode != null && renaming != Thread.currentThread());
        if (inode == null || byId.get(id) != inode) {
            throw failure(Errno.ENOENT, "inodeId " + id + " does not exist");
        }
        return inode.path();
    }

    @Nullable
    MemoryInode ofId(long id) {
        return byId.get(id);
    }

    /** With the first listing of a directory its names are loaded from the UFS: listed there, then made where they are missing. */
    Store.Page list(String path, String startAfter, int most) throws StoreException {
        MemoryInode directory = find(path);
        if (!directory.directory) {
            return new Store.Page(List.of(directory.status()), false);
        }
        if (!directory.childrenLoaded) {
            List<String> names = ufs.list(path);
            moments.reach(Moment.NAMES_LISTED_IN_UFS, path);
            names.stream()
                    .filter(name -> !directory.children.containsKey(name))
                    .forEach(name -> revive(directory, name));
            directory.childrenLoaded = true;
        }
        List<MemoryInode> behind = List.copyOf(
                startAfter.isEmpty()
                        ? directory.children.values()
                        : directory.children.tailMap(startAfter, false).values());
        boolean more = behind.size() > most;
        return new Store.Page(
                behind.subList(0, more ? most : behind.size()).stream()
                        .map(MemoryInode::status)
                        .toList(),
                more);
    }

    /** Makes a name that the UFS was seen with, whether or not it has it still. */
    private void revive(MemoryInode directory, String name) {
        absent.remove(below(directory, name));
        if (load(directory, name) == null) {
            MemoryInode made = MemoryInode.file(++containers, name);
            made.complete = true;
            made.persisted = true;
            made.mode = 0644;
            made.modifiedMillis = nowMillis();
            attach(directory, made);
        }
    }

    /** Compares what is known of a path with the UFS; what is not complete, or in Alluxio alone, stays unless the UFS has another. */
    MemoryInode compared(String path) throws StoreException {
        MemoryInode at = root;
        for (String part : parts(path)) {
            absent.remove(below(at, part));
            MemoryInode child = childOrLoaded(at, part);
            if (child != null && isStale(child)) {
                drop(child);
                absent.remove(below(at, part));
                child = childOrLoaded(at, part);
            }
            if (child == null) {
                throw failure(Errno.ENOENT, "Path \"" + path + "\" does not exist.");
            }
            at = child;
        }
        return at;
    }

    /** Compares all names of a directory with the UFS, and lists them from the beginning. */
    Store.Page listCompared(String path, int most) throws StoreException {
        MemoryInode directory = compared(path);
        List.copyOf(directory.children.values()).stream().filter(this::isStale).forEach(this::drop);
        directory.childrenLoaded = false;
        return list(path, "", most);
    }

    private boolean isStale(MemoryInode inode) {
        MemoryUfs.UfsStatus status = ufs.status(inode.path());
        if (!inode.directory && !inode.complete) {
            return false;
        }
        if (status == null) {
            return inode.persisted;
        }
        if (status.directory() != inode.directory) {
            return true;
        }
        if (inode.directory) {
            inode.persisted = true;
            return false;
        }
        return !inode.persisted || !status.fingerprint().equals(inode.fingerprint);
    }

    /** What a creation asks for. */
    record Creation(String path, int mode, Map<String, byte[]> xattrs, UUID number, WriteType type) {}

    /** With a number that was used: what is at the path by now, whatever that is. */
    MemoryInode create(Creation creation) throws StoreException {
        if (operations.contains(creation.number)) {
            return find(creation.path);
        }
        MemoryInode directory = find(MemoryUfs.parent(creation.path));
        String name = free(directory, creation.path);
        if (creation.type.persists()) {
            checkUfs(creation.path);
        }
        MemoryInode made = MemoryInode.file(++containers, name);
        made.persisted = creation.type.persists();
        enter(directory, made, creation.mode, creation.xattrs);
        operations.add(creation.number);
        return made;
    }

    void makeDirectory(Creation creation) throws StoreException {
        MemoryInode directory = find(MemoryUfs.parent(creation.path));
        String name = free(directory, creation.path);
        MemoryInode made = MemoryInode.directory(++directories, name);
        int mode = creation.mode;
        if (creation.type.persists()) {
            checkUfs(creation.path);
            persistDirectory(directory);
            MemoryUfs.UfsStatus there = ufs.status(creation.path);
            mode = there == null ? mode : there.mode();
            ufs.makeDirectory(creation.path, mode);
            made.persisted = true;
        }
        enter(directory, made, mode, creation.xattrs);
    }

    private void checkUfs(String path) throws StoreException {
        if (!ufs.takes(path)) {
            throw failure(Errno.EIO, "Failed to create " + MemoryUfs.ROOT + path + ": File name too long");
        }
    }

    private static String free(MemoryInode directory, String path) throws StoreException {
        if (!directory.directory) {
            throw failure(Errno.EINVAL, directory.path() + " is a file, not a directory.");
        }
        String name = path.substring(path.lastIndexOf('/') + 1);
        if (name.isEmpty() || directory.children.containsKey(name)) {
            throw failure(Errno.EEXIST, path + " already exists.");
        }
        return name;
    }

    private void enter(MemoryInode directory, MemoryInode made, int mode, Map<String, byte[]> xattrs) {
        made.mode = mode & 0777;
        made.xattrs.putAll(xattrs);
        made.modifiedMillis = nowMillis() + 1; // noted by itself, a moment later
        directory.modifiedMillis = nowMillis();
        attach(directory, made);
        absent.remove(made.path());
    }

    private void persistDirectory(MemoryInode directory) {
        MemoryInode above = directory.parent;
        if (!directory.persisted && above != null) {
            persistDirectory(above);
            ufs.makeDirectory(directory.path(), directory.mode);
            directory.persisted = true;
        }
    }

    /** One more block of a file that goes to workers alone, by the path: whose file it is by then gets it. */
    long newBlock(String path, long bytes) throws StoreException {
        MemoryInode inode = known(path);
        if (inode == null) {
            throw failure(Errno.ENOENT, "Path \"" + path + "\" does not exist.");
        }
        inode.blocks.add(bytes);
        return inode.blockId(inode.blocks.size() - 1);
    }

    /** Completes what is at the path, whoever made it. */
    void complete(String path, @Nullable Long ufsLengthBytes) throws StoreException {
        MemoryInode inode = known(path);
        if (inode == null) {
            throw failure(Errno.ENOENT, "Path \"" + path + "\" does not exist.");
        }
        if (inode.complete) {
            throw failure(Errno.EEXIST, "File " + inode.name + " has already been completed.");
        }
        inode.complete = true;
        inode.modifiedMillis = nowMillis();
        if (ufsLengthBytes == null) {
            inode.lengthBytes = inode.blocks.stream().mapToLong(Long::longValue).sum();
        } else {
            inode.hasLength(ufsLengthBytes);
            fingerprint(inode);
        }
    }

    /** Marks what is in workers only, and of which none has some block any more; what is marked stays so. */
    void markLost(LongPredicate held) {
        for (MemoryInode inode : byId.values()) {
            for (int i = 0; i < inode.blocks.size(); i++) {
                inode.lost |= inode.complete && !inode.persisted && !held.test(inode.blockId(i));
            }
        }
    }

    /** It is in the UFS as it is here. */
    void fingerprint(MemoryInode inode) {
        MemoryUfs.UfsStatus status = ufs.status(inode.path());
        inode.fingerprint = status == null ? "" : status.fingerprint();
        inode.persisted = true;
    }

    void delete(String path, boolean alluxioOnly) throws StoreException {
        MemoryInode inode = find(path);
        boolean unknown = inode.persisted && inode.directory && !ufs.list(path).isEmpty();
        if (inode == root || !inode.children.isEmpty() || unknown) {
            throw failure(Errno.ENOTEMPTY, "Cannot delete non-empty directory " + path);
        }
        if (inode.persisted && !alluxioOnly) {
            ufs.delete(path);
        }
        drop(inode);
    }

    void forgetOperations() {
        operations.clear();
    }

    /** How far a rename comes. */
    enum Reach {
        ALL,
        /** The journal has the rename, and the UFS was not told. */
        NOTED,
        /** Only the first entry of the journal survived a change of master. */
        TARGET_DROPPED,
        /** No entry did, but the object was deleted. */
        OBJECT_DELETED,
        /** No entry did, but the objects are as after all of it. */
        OBJECT_MOVED
    }

    /**
     * What a rename asks for.
     *
     * @param overFile first what is there is dropped, whatever it is and with all that is below it; that is not taken back when
     *     the rename fails
     * @param persist what is dropped is so in the UFS, too; if not, here alone
     * @param number of this rename: one of which anything is in the journal counts as done
     */
    record Renaming(String from, String to, boolean overFile, boolean persist, Reach reach, UUID number) {}

    void rename(Renaming asked) throws StoreException {
        if (operations.contains(asked.number)) {
            return;
        }
        String from = asked.from;
        String to = asked.to;
        MemoryInode source = find(from);
        if (source == root || to.startsWith(from + "/")) {
            throw failure(Errno.EINVAL, "Cannot rename " + from + " to " + to);
        }
        if (from.equals(to)) {
            return;
        }
        target = to;
        renaming = Thread.currentThread();
        moving = source;
        try {
            renameLocked(source, asked);
        } finally {
            target = null;
            moving = null;
            moments.renamed();
        }
    }

    private void renameLocked(MemoryInode source, Renaming asked) throws StoreException {
        String to = asked.to;
        MemoryInode directory = find(MemoryUfs.parent(to));
        MemoryInode there = directory.directory ? directory.children.get(name(to)) : null;
        if (asked.reach == Reach.OBJECT_MOVED) {
            ufs.delete(to);
            ufs.rename(source.path(), to);
            return;
        }
        if (asked.overFile && there != null && !isDropped(source, there, asked)) {
            return;
        }
        if (asked.reach != Reach.ALL && asked.reach != Reach.NOTED) {
            return;
        }
        free(directory, to);
        if (source.persisted && asked.reach == Reach.ALL) {
            persistDirectory(directory);
            if (!ufs.rename(source.path(), to)) {
                throw failure(
                        Errno.EIO, "Failed to rename " + source.path() + " to " + to + " in the under file system");
            }
        }
        move(source, directory, to);
        operations.add(asked.number);
    }

    /** Drops what has the name; false: the rename comes to its object alone. */
    private boolean isDropped(MemoryInode source, MemoryInode there, Renaming asked) throws StoreException {
        if (asked.persist && there.persisted) {
            ufs.delete(asked.to);
        }
        source.scheduled |= asked.persist;
        if (asked.reach == Reach.OBJECT_DELETED) {
            return false;
        }
        drop(there);
        absent.remove(asked.to);
        operations.add(asked.number);
        moments.reach(Moment.TARGET_DROPPED, asked.to);
        return true;
    }

    private void move(MemoryInode source, MemoryInode directory, String to) {
        MemoryInode before = source.parent;
        source.name = name(to);
        moments.reach(Moment.NAME_CHANGED, to);
        if (before != null) {
            before.children.values().remove(source);
            before.modifiedMillis = nowMillis();
        }
        directory.modifiedMillis = nowMillis();
        attach(directory, source);
        absent.remove(to);
    }

    private static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    void change(String path, Store.Change change) throws StoreException {
        MemoryInode inode = find(path);
        String owner = change.owner();
        if (owner != null && !owner.equals(MemoryUfs.USER) && ufs.kind() != MemoryUfs.Kind.OBJECT_STORE) {
            throw failure(Errno.EIO, "Could not update owner for " + path + " to " + owner);
        }
        inode.owner = owner == null ? inode.owner : owner;
        String group = change.group();
        inode.group = group == null ? inode.group : group;
        Integer mode = change.mode();
        if (mode != null) {
            inode.mode = mode & 0777;
            if (inode.persisted && ufs.kind() != MemoryUfs.Kind.OBJECT_STORE) {
                ufs.setMode(path, inode.mode);
            }
        }
        inode.xattrs.putAll(change.xattrs());
    }

    void removeXattr(String path, String name) throws StoreException {
        find(path).xattrs.remove(name);
    }
}
