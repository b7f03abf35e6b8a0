package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Stat;
import java.util.ArrayList;
import java.util.List;

/**
 * Work on a file system by paths, for the gateway's own needs: it calls the SPI directly, past the kernel.
 *
 * <p>Paths are absolute below the file system's root, with neither "." nor "..". Every lookup is forgotten again, so the
 * kernel's counts stay right. Any thread; methods wait for the file system.
 */
final class FileTree {
    private static final int MAX_DEPTH = 256;
    /** Folders of up to so many names are walked once they were listed twice. */
    private static final int MAX_TWICE = 20_000;
    /** No node has this number. */
    private static final long NONE = 0;

    private final FileSystem files;
    private final NameCodec codec;

    /** @param codec between the names of the file system and those in paths */
    FileTree(FileSystem files, NameCodec codec) {
        this.files = files;
        this.codec = codec;
    }

    /** One entry of a folder. */
    record Child(Name name, boolean directory) {}

    /**
     * The names of a path.
     *
     * @throws TreeException EINVAL
     */
    static List<Name> names(String path, NameCodec codec) throws TreeException {
        if (!path.startsWith("/") || path.indexOf('\0') >= 0) {
            throw new TreeException(Errno.EINVAL, "'" + path + "' is not an absolute path; give one");
        }
        List<Name> names = new ArrayList<>();
        for (String part : path.substring(1).split("/", -1)) {
            if (part.equals(".") || part.equals("..")) {
                throw new TreeException(
                        Errno.EINVAL, "path '" + path + "' contains '.' or '..'; give an absolute path without them");
            }
            if (!part.isEmpty()) {
                names.add(codec.shown(part));
            }
        }
        return names;
    }

    /** See {@link NameCodec#storedPath}. */
    String storedPath(String path) {
        return codec.storedPath(path);
    }

    /** Makes a folder and those above it; false: it was there. */
    boolean makeDirectory(String path, int mode) throws TreeException {
        boolean changed = false;
        long node = FileSystem.ROOT;
        try (Held held = new Held()) {
            for (Name name : names(path, codec)) {
                Entry entry = new Entry();
                int result = files.lookup(InternalRequest.INSTANCE, node, name, entry);
                if (result == -Errno.ENOENT || (result == 0 && entry.node == 0)) {
                    entry.clear();
                    result = files.mkdir(InternalRequest.INSTANCE, node, name, mode, entry);
                    changed = true;
                }
                check(result, path);
                node = held.add(entry.node);
                if (!Stat.isDirectory(entry.attributes.mode)) {
                    throw new TreeException(Errno.ENOTDIR, path + ": " + name + " is not a folder");
                }
            }
        }
        return changed;
    }

    /**
     * Removes a folder; false: there is none. Others may remove it, or parts of it, at the same time.
     *
     * @param recursive with everything below it, else ENOTEMPTY
     * @param step is run after each entry that was removed
     */
    boolean removeDirectory(String path, boolean recursive, Runnable step) throws TreeException {
        List<Name> names = names(path, codec);
        if (names.isEmpty()) {
            throw new TreeException(Errno.EINVAL, "the root '/' cannot be removed; give a path below it");
        }
        try (Held held = new Held()) {
            long parent = held.find(FileSystem.ROOT, parents(names), path);
            long node = parent == NONE ? NONE : held.find(parent, names.subList(names.size() - 1, names.size()), path);
            if (node == NONE) {
                return false;
            }
            if (recursive) {
                empty(node, path, step, 0);
            }
            checkGone(files.rmdir(InternalRequest.INSTANCE, parent, last(names)), path);
            return true;
        }
    }

    private void empty(long node, String path, Runnable step, int depth) throws TreeException {
        checkDepth(depth, path);
        for (Child child : childrenIfThere(node, path)) {
            if (child.directory()) {
                try (Held held = new Held()) {
                    long below = held.find(node, List.of(child.name()), path);
                    if (below != NONE) {
                        empty(below, path, step, depth + 1);
                    }
                }
                checkGone(files.rmdir(InternalRequest.INSTANCE, node, child.name()), path);
            } else {
                checkGone(files.unlink(InternalRequest.INSTANCE, node, child.name()), path);
            }
            step.run();
        }
    }

    /** None of a folder that others have removed. */
    private List<Child> childrenIfThere(long node, String path) throws TreeException {
        try {
            return children(node, path);
        } catch (TreeException e) {
            if (e.errno() == Errno.ENOENT) {
                return List.of();
            }
            throw e;
        }
    }

    /** Checks a removal; of what others have removed there is nothing to do. */
    private static void checkGone(int result, String path) throws TreeException {
        check(result == -Errno.ENOENT ? 0 : result, path);
    }

    /** Renames; false: it had been done before (the old path is gone and the new one is there). */
    boolean rename(String path, String newPath) throws TreeException {
        List<Name> from = names(path, codec);
        List<Name> to = names(newPath, codec);
        if (from.isEmpty() || to.isEmpty()) {
            throw new TreeException(Errno.EINVAL, "the root '/' cannot be renamed; give a path below it");
        }
        try (Held held = new Held()) {
            long newParent = held.nodeOf(parents(to), newPath);
            int result = renameInto(from, path, newParent, last(to));
            if (result == -Errno.ENOENT) {
                held.lookup(newParent, last(to), newPath);
                return false;
            }
            check(result, path);
            return true;
        }
    }

    private int renameInto(List<Name> from, String path, long newParent, Name newName) throws TreeException {
        try (Held held = new Held()) {
            long parent = held.nodeOf(parents(from), path);
            return files.rename(
                    InternalRequest.INSTANCE, parent, last(from), newParent, newName, Stat.RENAME_NOREPLACE);
        } catch (TreeException e) {
            return -e.errno();
        }
    }

    /** What a folder holds. */
    List<Child> list(String path) throws TreeException {
        try (Held held = new Held()) {
            return children(held.nodeOf(names(path, codec), path), path);
        }
    }

    /** Asks for the attributes of everything at and below the path. */
    void walk(String path, WalkProgress progress) throws TreeException {
        List<Name> names = names(path, codec);
        try (Held held = new Held()) {
            if (names.isEmpty()) {
                check(files.getattr(InternalRequest.INSTANCE, FileSystem.ROOT, 0, new Attributes()), path);
                walkFolder(FileSystem.ROOT, "", progress, 0);
            } else {
                long parent = held.nodeOf(parents(names), path);
                visit(held.lookup(parent, last(names), path), path, progress, 0);
            }
        }
    }

    private boolean walkFolder(long node, String path, WalkProgress progress, int depth) throws TreeException {
        checkDepth(depth, path);
        for (Child child : childrenAtRest(node, path)) {
            boolean goOn;
            String childPath = path + "/" + codec.stored(child.name());
            try (Held held = new Held()) {
                goOn = visit(held.lookup(node, child.name(), childPath), childPath, progress, depth);
            } catch (TreeException e) {
                goOn = progress.add(childPath, 0, true);
            }
            if (!goOn) {
                return false;
            }
        }
        return true;
    }

    private boolean visit(Entry entry, String path, WalkProgress progress, int depth) throws TreeException {
        int mode = entry.attributes.mode;
        boolean goOn = progress.add(path, Stat.isRegular(mode) ? entry.attributes.sizeBytes : 0, false);
        return goOn && (!Stat.isDirectory(mode) || walkFolder(entry.node, path, progress, depth + 1));
    }

    private static List<Name> parents(List<Name> names) {
        return names.subList(0, names.size() - 1);
    }

    private static Name last(List<Name> names) {
        return names.get(names.size() - 1);
    }

    private List<Child> children(long node, String path) throws TreeException {
        OpenReply open = new OpenReply();
        check(files.opendir(InternalRequest.INSTANCE, node, 0, open), path);
        try {
            Listing listing = new Listing();
            int before;
            do {
                before = listing.count;
                check(files.readdir(InternalRequest.INSTANCE, node, open.handle, listing.next, listing), path);
            } while (listing.count > before);
            return listing.children;
        } finally {
            files.releasedir(InternalRequest.INSTANCE, node, open.handle);
        }
    }

    /**
     * The second time for most folders. A listing during which the folder changed is not kept, and the first of all changes it,
     * as Alluxio then loads it from the under file system. Where the first was kept, the second asks nobody.
     */
    private List<Child> childrenAtRest(long node, String path) throws TreeException {
        List<Child> children = children(node, path);
        return children.size() > MAX_TWICE ? children : children(node, path);
    }

    private static void checkDepth(int depth, String path) throws TreeException {
        if (depth > MAX_DEPTH) {
            throw new TreeException(
                    Errno.ELOOP, path + " is more than " + MAX_DEPTH + " folders deep; delete its contents first");
        }
    }

    private static void check(int result, String path) throws TreeException {
        if (result < 0) {
            throw new TreeException(-result, path + ": " + text(-result));
        }
    }

    private static String text(int errno) {
        return switch (errno) {
            case Errno.ENOENT -> "no such file or folder; create it first";
            case Errno.EACCES, Errno.EPERM -> "Alluxio denies access; grant it to the gateway's user in Alluxio";
            case Errno.EEXIST -> "already exists; delete it first, or give another name";
            case Errno.ENOTDIR -> "is not a folder; give a folder";
            case Errno.EISDIR -> "is a folder; give a file";
            case Errno.ENOTEMPTY -> "the folder is not empty; empty it first";
            case Errno.EIO -> "Alluxio does not answer, or failed; see its master's log";
            default -> "errno " + errno;
        };
    }

    /** Nodes looked up, forgotten at the end. */
    private final class Held implements AutoCloseable {
        private final List<Long> nodes = new ArrayList<>();

        long add(long node) {
            nodes.add(node);
            return node;
        }

        long nodeOf(List<Name> names, String path) throws TreeException {
            long node = find(FileSystem.ROOT, names, path);
            check(node == NONE ? -Errno.ENOENT : 0, path);
            return node;
        }

        /** {@link #NONE}: it is not there. */
        long find(long from, List<Name> names, String path) throws TreeException {
            long node = from;
            for (Name name : names) {
                Entry entry = new Entry();
                int result = files.lookup(InternalRequest.INSTANCE, node, name, entry);
                if (result == -Errno.ENOENT || (result == 0 && entry.node == NONE)) {
                    return NONE;
                }
                check(result, path);
                node = add(entry.node);
            }
            return node;
        }

        Entry lookup(long parent, Name name, String path) throws TreeException {
            Entry entry = new Entry();
            int result = files.lookup(InternalRequest.INSTANCE, parent, name, entry);
            check(result == 0 && entry.node == 0 ? -Errno.ENOENT : result, path);
            add(entry.node);
            return entry;
        }

        @Override
        public void close() {
            for (long node : nodes) {
                files.forget(node, 1);
            }
        }
    }

    /** Gathers a listing; takes everything it is given. */
    private static final class Listing implements DirectoryWriter {
        private final List<Child> children = new ArrayList<>();
        private long next;
        private int count;

        @Override
        public boolean plus() {
            return false;
        }

        @Override
        public boolean add(Name name, long nextOffset, long inode, int type) {
            String text = name.toString();
            if (!text.equals(".") && !text.equals("..")) {
                children.add(new Child(name.copy(), Stat.isDirectory(type)));
            }
            next = nextOffset;
            count++;
            return true;
        }

        @Override
        public boolean add(Name name, long nextOffset, Entry entry) {
            return add(name, nextOffset, entry.attributes.inode, entry.attributes.mode);
        }
    }
}
