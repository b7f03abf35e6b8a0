package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.DirectoryRenameLog;
import io.posixgateway.alluxio.journal.DirectoryRenameLog.Moving;
import io.posixgateway.alluxio.journal.NodeIdRemapLog;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.AttributeEdit;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.KernelInvalidator;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renames directories of an object store, entry by entry. Called while nobody here goes by a path below it; waits, for as long as its
 * files take to be copied. Any thread.
 *
 * <p>Alluxio's own rename copies a whole tree within one call, which nobody can end, and fails where a directory is but a prefix of
 * keys. Here the directory is made anew under the new name, the files move one by one, some at a time, and what is left of the old one
 * is deleted. The new directory has an attribute meanwhile that names the old one. So each file is at the old or at the new name at every
 * moment, a program that is killed ends it between two files, and the same rename, asked for again, continues where it ended.
 */
public final class DirectoryRename {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryRename.class);
    private static final int PAGE = 1000;

    private final Store store;
    private final Metadata metadata;
    private final InodeTable table;
    private final AttrDecoder reader;
    private final KernelInvalidator invalidator;
    private final Notes notes;
    private final FileMoves files;
    /** Paths before, of those that a program waits for. */
    private final Set<String> running = ConcurrentHashMap.newKeySet();
    /** Of earlier processes, those that are not resolved; null: not read yet. For the thread that resolves them. */
    private @Nullable List<Moving> inherited;

    /**
     * What the next process learns.
     *
     * @param nodes which node a directory is from now on; null: the mount ends with this process
     * @param renames those that did not end
     */
    public record Notes(@Nullable NodeIdRemapLog nodes, DirectoryRenameLog renames) {}

    public DirectoryRename(
            Store store,
            Metadata metadata,
            InodeTable table,
            AttrDecoder reader,
            KernelInvalidator invalidator,
            Notes notes) {
        this.store = store;
        this.metadata = metadata;
        this.table = table;
        this.reader = reader;
        this.invalidator = invalidator;
        this.notes = notes;
        this.files = new FileMoves(store, metadata, table, reader);
    }

    /** Did a rename of the one to the other, which is there, begin that did not end? Waits. */
    public boolean isUnfinished(String from, String to) throws StoreException {
        return store.copiesOnRename(to) && isBegun(store.status(from), store.status(to));
    }

    private static boolean isBegun(FileStatus source, FileStatus target) {
        return target.directory() && Arrays.equals(mark(source), target.xattrs().get(PosixXattr.MOVED_FROM));
    }

    private static byte[] mark(FileStatus source) {
        return Long.toString(source.id()).getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Renames it to a name that nobody has, or continues where an earlier rename ended.
     *
     * @throws StoreException EEXIST; EINTR where the program was killed that asked for it
     */
    public void run(String from, String to) throws StoreException {
        checkIsOneUfs(from, to);
        RenameProgress progress = new RenameProgress(metadata.clock(), from, to);
        Moving moving = new Moving(from, to);
        begin(moving);
        try {
            move(from, to, store.status(from), progress);
            progress.end("done");
            notes.renames.remove(moving);
        } catch (StoreException e) {
            progress.end("interrupted (the same rename continues it): " + e.getMessage());
            if (!progress.begun) {
                notes.renames.remove(moving);
            }
            throw e;
        } finally {
            running.remove(from);
        }
    }

    private void begin(Moving moving) {
        synchronized (running) {
            running.add(moving.from());
            notes.renames.add(moving);
        }
    }

    /**
     * Ends those that earlier processes began and that lack no more than their end, and reports the others. For one thread. Waits.
     *
     * @throws StoreException Alluxio does not answer for some of them, which the next call attempts again
     */
    public boolean isInheritedResolved() throws StoreException {
        List<Moving> left = inherited == null ? new ArrayList<>(notes.renames.inherit()) : inherited;
        inherited = left;
        StoreException failure = null;
        for (Moving moving : List.copyOf(left)) {
            try {
                resolve(moving);
                left.remove(moving);
            } catch (StoreException e) {
                if (e.isOutcomeUnknown()) {
                    failure = e;
                } else {
                    LOG.warn("{} (how far it is cannot be determined: {})", advice(moving), e.getMessage());
                    left.remove(moving);
                }
            } catch (RuntimeException e) {
                LOG.error("{} (how far it is cannot be determined)", advice(moving), e);
                left.remove(moving);
            }
        }
        if (failure != null) {
            throw failure;
        }
        return true;
    }

    private void resolve(Moving moving) throws StoreException {
        if (running.contains(moving.from())) {
            return; // the same rename continues it, or has another end for it
        }
        boolean isHalfDone = isHalfDone(moving);
        synchronized (running) {
            if (running.contains(moving.from())) {
                return; // since then
            }
            if (isHalfDone) {
                LOG.warn("{}", advice(moving));
            } else {
                notes.renames.remove(moving);
            }
        }
    }

    /** What to do about a rename that did not end. */
    public static String advice(Moving moving) {
        return "The rename of the directory " + moving.from() + " to " + moving.to()
                + " (paths in Alluxio) was interrupted, so both directories have files. The same rename, for example"
                + " mv -T OLD NEW, continues it; to undo it, move the files back";
    }

    /** Where nothing is left of the old one, the new one is all of it. */
    private boolean isHalfDone(Moving moving) throws StoreException {
        FileStatus source = statusOrNull(moving.from());
        FileStatus target = statusOrNull(moving.to());
        if (source == null && target != null) {
            endMove(moving.to(), target);
        }
        return source != null && target != null && isBegun(source, target);
    }

    private @Nullable FileStatus statusOrNull(String path) throws StoreException {
        return Existing.orNull(() -> store.status(path));
    }

    /** Before anything is made there, which a program that then copies would find in its way. */
    private void checkIsOneUfs(String from, String to) throws StoreException {
        if (store.crossesMounts(from, to)) {
            throw new StoreException(Errno.EXDEV, from + " and " + to + " are in different under file systems", null);
        }
    }

    private void move(String from, String to, FileStatus source, RenameProgress progress) throws StoreException {
        Inode here = table.known(source.id());
        Attr before = here != null ? metadata.attr(here) : reader.read(source, metadata.nowNanos());
        Inode known = here != null ? here : knownToKernel(source.id());
        boolean begins = make(to, source);
        progress.begun = true;
        try {
            moveContent(from, to, known, progress);
            finish(to, source, before);
        } catch (StoreException e) {
            forgetNames(known);
            throw e;
        }
        if (!begins) {
            forgetNames(known); // those that moved in an earlier attempt were missed here
            endMovesBelow(to);
        }
    }

    /** Of directories that an earlier attempt had moved, but for that: what they were is gone. */
    private void endMovesBelow(String directory) throws StoreException {
        Store.Page page = store.list(directory, "", PAGE);
        while (!page.entries().isEmpty()) {
            for (FileStatus entry : page.entries()) {
                byte[] from = entry.xattrs().get(PosixXattr.MOVED_FROM);
                if (entry.directory() && from != null && isGone(from)) {
                    endMove(directory + "/" + entry.name(), entry);
                }
            }
            String last = page.entries().get(page.entries().size() - 1).name();
            page = page.more() ? store.list(directory, last, PAGE) : new Store.Page(List.of(), false);
        }
    }

    private boolean isGone(byte[] mark) throws StoreException {
        String id = new String(mark, StandardCharsets.US_ASCII);
        return id.matches("\\d{1,18}") && Existing.orNull(() -> store.pathOf(Long.parseLong(id))) == null;
    }

    /** Nothing is left of what it was before: it gets the mode that it had, and is a directory as any other. */
    private void endMove(String path, FileStatus moved) throws StoreException {
        byte[] mode = moved.xattrs().get(PosixXattr.MOVED_MODE);
        if (mode != null) {
            giveMode(path, new String(mode, StandardCharsets.US_ASCII));
            store.removeXattr(path, PosixXattr.MOVED_MODE);
        }
        if (moved.xattrs().containsKey(PosixXattr.MOVED_FROM)) {
            store.removeXattr(path, PosixXattr.MOVED_FROM);
        }
    }

    private void giveMode(String path, String octal) throws StoreException {
        if (octal.matches("[0-7]{1,6}")) {
            store.change(path, new Store.Change(Integer.parseInt(octal, 8), null, null, Map.of()));
        } else {
            LOG.warn("{} keeps the mode that it has: the one that its rename stored for it is damaged", path);
        }
    }

    private void moveContent(String from, String to, @Nullable Inode known, RenameProgress progress)
            throws StoreException {
        while (true) {
            List<FileStatus> page = store.list(from, "", PAGE).entries();
            boolean isEmpty = page.isEmpty();
            while (!page.isEmpty()) {
                moveAll(page, from, to, progress);
                FileStatus first = page.get(0);
                page = store.list(from, "", PAGE).entries();
                if (!page.isEmpty() && page.get(0).id() == first.id()) {
                    throw new StoreException(
                            Errno.EIO,
                            from + "/" + first.name() + " cannot be moved to " + to + ", because another client"
                                    + " renamed or removed that directory; move the remaining files to its new place",
                            null);
                }
            }
            announce(to, known);
            if (delete(from)) {
                return;
            }
            progress.check();
            if (isEmpty) {
                findUnknown(from);
            }
        }
    }

    /** What is in it Alluxio does not know, as other clients put it into the bucket: then it knows it from now on, and it moves, too. */
    private void findUnknown(String directory) throws StoreException {
        if (store.listCompared(directory, PAGE).entries().isEmpty()) {
            throw new StoreException(
                    Errno.ENOTEMPTY,
                    directory
                            + " is not empty in the bucket, although Alluxio lists it as empty; remove its keys in"
                            + " the bucket, then rename it again",
                    null);
        }
    }

    /** The kernel may know it from an earlier process alone; null: it does not. */
    private @Nullable Inode knownToKernel(long fileId) {
        long node = table.ids().of(fileId);
        return notes.nodes != null && invalidator.isKnown(node) ? table.restore(node, fileId, true) : null;
    }

    /** Before the old one is gone: the next process finds the node at the new one. */
    private void announce(String to, @Nullable Inode known) throws StoreException {
        NodeIdRemapLog nodes = notes.nodes;
        if (known != null && nodes != null) {
            nodes.directoryMoved(known.node(), store.status(to).id());
        }
    }

    /** Which names the directory has is to be asked again, by the kernel too. */
    private void forgetNames(@Nullable Inode known) {
        if (known != null) {
            known.dentries().snapshot().forEach(metadata::doubt);
            invalidator.moved(known, known.dentries().dropListing());
        }
    }

    /** False: it was there, of an earlier attempt. */
    private boolean make(String to, FileStatus source) throws StoreException {
        Map<String, byte[]> xattrs = new HashMap<>(source.xattrs());
        xattrs.put(PosixXattr.MOVED_FROM, mark(source));
        int mode = source.mode() | 0700; // names are made in it
        if (mode != source.mode()) {
            xattrs.put(
                    PosixXattr.MOVED_MODE, Integer.toOctalString(source.mode()).getBytes(StandardCharsets.US_ASCII));
        }
        try {
            store.makeDirectory(to, mode, xattrs);
            return true;
        } catch (StoreException e) {
            if (e.errno() != Errno.EEXIST || !isBegun(source, store.status(to))) {
                throw e;
            }
            return false;
        }
    }

    /** False: another client has made something in it meanwhile. */
    private boolean delete(String directory) throws StoreException {
        try {
            store.delete(directory);
            return true;
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOTEMPTY) {
                return false;
            }
            if (e.errno() == Errno.ENOENT) {
                return true;
            }
            throw e;
        }
    }

    /** The directory is what the old one was, for everyone, and the same node for this mount. */
    private void finish(String to, FileStatus source, Attr before) throws StoreException {
        FileStatus made = store.status(to);
        long number = before.number() != 0 ? before.number() : InodeTable.nodeOf(source.id());
        FileStatus same = AttributeEdit.numbered(AttributeEdit.ownedBy(before, made.owner()), number);
        FileStatus shown = AttributeEdit.shown(same.modified(made.modifiedMillis()), before);
        store.change(to, new Store.Change(source.mode(), null, null, shown.xattrs()));
        endMove(to, made);
        Inode known = table.known(source.id());
        if (known != null) {
            metadata.times().gone(known);
            table.replaced(known, made.id(), metadata.nowNanos());
            known.invalidateAttr(table.generation().changed());
        }
    }

    private void moveAll(List<FileStatus> entries, String from, String to, RenameProgress progress)
            throws StoreException {
        files.move(entries.stream().filter(entry -> !entry.directory()).toList(), from, to, progress);
        for (FileStatus entry : entries) {
            if (entry.directory()) {
                progress.check();
                move(from + "/" + entry.name(), to + "/" + entry.name(), entry, progress);
            }
        }
    }
}
