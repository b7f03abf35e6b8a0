package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.LongMap;
import io.posixgateway.alluxio.read.FileReader;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.write.DirtyFiles;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.Stat;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Open files. Any thread; answers as the SPI says. */
final class FileOperations {
    private static final int PUNCH = Stat.FALLOC_PUNCH_HOLE | Stat.FALLOC_KEEP_SIZE;
    private static final int ZERO_AND_KEEP_SIZE = Stat.FALLOC_ZERO_RANGE | Stat.FALLOC_KEEP_SIZE;
    /** Modes of fallocate(2) that are there; 0 reserves room. */
    private static final Set<Integer> ALLOCATIONS =
            Set.of(0, Stat.FALLOC_KEEP_SIZE, PUNCH, Stat.FALLOC_ZERO_RANGE, ZERO_AND_KEEP_SIZE);

    private final VolumeContext volume;
    private final LongMap<FileHandle> handles = new LongMap<>();
    private final HandleIds numbers = new HandleIds();
    private final NoOpenReaders unopened;
    private final BypassResolver bypass;
    private final ReadingHandles readings;

    FileOperations(VolumeContext volume) {
        this.volume = volume;
        this.unopened = new NoOpenReaders(volume);
        this.bypass = new BypassResolver(volume);
        this.readings = new ReadingHandles(volume);
    }

    int open(Request request, Inode inode, int flags, OpenReply reply) throws StoreException {
        if (inode.isDirectory()) {
            return -Errno.EISDIR;
        }
        boolean writes = (flags & Stat.O_ACCMODE) != Stat.O_RDONLY;
        if (volume.options.noOpen()) {
            return writes ? -Errno.EROFS : -Errno.ENOSYS;
        }
        boolean cut = writes && (flags & Stat.O_TRUNC) != 0;
        if (cut && !request.mayWait()) {
            return FileSystem.WOULD_WAIT;
        }
        int isDirty = volume.dirtyFiles.revalidate(inode, request.mayWait());
        if (isDirty == FileSystem.WOULD_WAIT) {
            return FileSystem.WOULD_WAIT;
        }
        int refused = isDirty == 0 ? keepWritten(inode, reply) : check(request, inode, writes, reply);
        if (refused == 0) {
            refused = writes ? startWriting(request, inode, flags, reply) : startReading(request, inode, reply);
        }
        return refused == 0 ? begin(request, inode, reply.handle, cut) : refused;
    }

    private int startWriting(Request request, Inode inode, int flags, OpenReply reply) throws StoreException {
        boolean appends = (flags & Stat.O_APPEND) != 0;
        if (appends && !volume.dirtyFiles.has(inode) && !inode.isLengthTold()) {
            if (!request.mayWait()) {
                return FileSystem.WOULD_WAIT;
            }
            // The kernel appends where it believes the file to end, until it has looked the name up again.
            volume.invalidator.awaitLength(inode.node(), request.pid());
            throw grown(inode);
        }
        volume.startWriting(inode);
        FileHandle handle = register(inode, reply);
        handle.appends = appends;
        Attr attr = inode.attr();
        if (attr != null && (reply.flags & OpenReply.KEEP_CACHE) == 0) {
            handle.hasPagesOf(attr);
        }
        return 0;
    }

    private int startReading(Request request, Inode inode, OpenReply reply) throws StoreException {
        boolean isCached = readings.startsCached(inode);
        if ((isCached && !request.mayWait()) || !bypass.isPrepared(request)) {
            return FileSystem.WOULD_WAIT;
        }
        FileHandle handle = readings.open(inode, reply, isCached);
        if (handle == null) {
            throw volume.turnAway(inode);
        }
        put(handle, reply);
        return 0;
    }

    /** What is written is in the pages first: to drop them would lose what is under way. Not what could not be committed. */
    private int keepWritten(Inode inode, OpenReply reply) {
        if (!volume.dirtyFiles.hasFailed(inode)) {
            reply.flags |= OpenReply.KEEP_CACHE;
        }
        return 0;
    }

    /** The handle is there, and counts. */
    private int begin(Request request, Inode inode, long handle, boolean cut) throws StoreException {
        try {
            int lost = inode.isGoing() || inode.unlinked() ? outlive(request, inode, handle) : 0;
            if (lost != 0) {
                drop(handle);
            } else if (cut) {
                volume.dirtyFiles.truncate(inode, 0, false);
                volume.privileges.changed(request, inode);
            }
            return lost;
        } catch (StoreException e) {
            drop(handle);
            // Others, whose handles ended meanwhile, left what they wrote to this one.
            volume.later(() -> volume.lastWriterFailed(inode, e));
            throw e;
        }
    }

    /** The file loses its name: 0 if it goes on for those who have it open; ESTALE, and the kernel looks for the name again. */
    private int outlive(Request request, Inode inode, long handle) throws StoreException {
        FileHandle open = handles.get(handle);
        Attr attr = inode.attr();
        if (open != null
                && !open.writes()
                && attr != null
                && volume.readers.blocks().hold(extent(attr))) {
            return 0;
        }
        if (inode.isGoing()) {
            if (!request.mayWait()) {
                return FileSystem.WOULD_WAIT;
            }
            volume.metadata.pathLocks().shared(inode, () -> inode);
        }
        boolean goesOn = volume.dirtyFiles.has(inode)
                || volume.passedThrough(inode)
                || !volume.metadata.isOrphan(inode)
                || volume.orphans.has(inode);
        return goesOn ? 0 : -Errno.ESTALE;
    }

    /** Is the file there, and whole if it is to be read, and may the kernel keep its pages of it? */
    private int check(Request request, Inode inode, boolean writes, OpenReply reply) throws StoreException {
        boolean learns = volume.readers.wantsToLearn() && volume.store.silentNanos(Long.MAX_VALUE, false) == 0;
        Attr attr = learns && !request.mayWait() ? null : attrAtOpen(request, inode, writes);
        if (attr == null || (!attr.complete() && !writes)) {
            return attr == null ? FileSystem.WOULD_WAIT : -Errno.EBUSY;
        }
        if (learns) {
            learn(inode, attr);
        }
        if (volume.pages.keeps(inode, attr) || volume.cachePolicy.immutable()) {
            reply.flags |= OpenReply.KEEP_CACHE;
        }
        return 0;
    }

    /** Null: that may wait. */
    private @Nullable Attr attrAtOpen(Request request, Inode inode, boolean writes) throws StoreException {
        Attr known = volume.metadata.knownAtOpen(inode, writes);
        if (known != null ? volume.metadata.revalidatesSoon(inode, known) : request.mayWait()) {
            wanted(inode);
        }
        if (known != null) {
            volume.invalidator.tellLength(inode.node());
            return known;
        }
        if (writes) {
            return request.mayWait() ? ask(inode) : null;
        }
        return volume.lastKnown.attrAtOpen(request, inode, () -> ask(inode));
    }

    private static StoreException grown(Inode inode) {
        return new StoreException(
                Errno.ESTALE, "The file of node " + inode.node() + " was changed by others: open it again", null);
    }

    /** What is known of the file is old, or soon will be. */
    private void wanted(Inode inode) {
        Inode directory = volume.table.parent(inode);
        if (directory != null && volume.cachePolicy.of(inode).trustsAtOpen()) {
            volume.hot.asked(directory);
        }
    }

    /** What Alluxio says now; ESTALE when others moved the file, so that the kernel looks its name up again. */
    private Attr ask(Inode inode) throws StoreException {
        boolean placed = volume.table.parent(inode) != null;
        Attr before = inode.attr();
        Attr attr = volume.metadata.refresh(inode);
        if (before == null || !before.sameContent(attr)) {
            // Before the open is answered: the new content is not to be read to the old length.
            volume.invalidator.lengthChanged(inode.node());
        }
        if (placed && volume.table.parent(inode) == null) {
            throw new StoreException(Errno.ESTALE, "The file of node " + inode.node() + " was renamed by others", null);
        }
        return attr;
    }

    /** Not while no master answers, as the attributes that are known last are believed then. */
    private void learn(Inode inode, Attr attr) throws StoreException {
        if (attr.lengthBytes() > 0 && volume.store.silentNanos(Long.MAX_VALUE, false) == 0) {
            volume.learnBlocks(inode);
        }
    }

    /** A handle that writes, of an inode that counts it already. */
    FileHandle register(Inode inode, OpenReply reply) {
        FileHandle handle = FileHandle.writing(inode);
        put(handle, reply);
        return handle;
    }

    private void put(FileHandle handle, OpenReply reply) {
        reply.handle = numbers.next();
        handles.put(reply.handle, handle);
    }

    static FileReader.Extent extent(Attr attr) {
        return new FileReader.Extent(attr.fileId(), attr.lengthBytes(), attr.blockBytes(), attr.version());
    }

    /** A handle whose open failed at last. */
    private void drop(long handle) {
        FileHandle open = handles.remove(handle);
        if (open != null) {
            open.close();
        }
    }

    /**
     * The open file of this number. One of an earlier process is found by its node, and keeps its number.
     *
     * @return null: answer {@link #absent}
     */
    private @Nullable FileHandle opened(Request request, long node, long handle) throws StoreException {
        FileHandle open = handles.get(handle);
        if (open != null || !volume.takenOver() || numbers.issuedHere(handle)) {
            volume.checkOwn(node);
            return open;
        }
        Inode inode = volume.find(request, node);
        if (inode == null || inode.isDirectory()) {
            return null;
        }
        FileHandle inherited = FileHandle.inherited(inode);
        FileHandle other = handles.putIfAbsent(handle, inherited);
        if (other != null) {
            inherited.close();
            return other;
        }
        return inherited;
    }

    /** And was it not used here yet? */
    private boolean isOfEarlierProcess(long handle) {
        return volume.takenOver() && !numbers.issuedHere(handle) && handles.get(handle) == null;
    }

    private int absent(Request request, long handle) {
        return volume.takenOver() && !numbers.issuedHere(handle) ? VolumeContext.absent(request) : -Errno.EBADF;
    }

    int read(Request request, long node, long handle, long offset, ByteBuffer into) throws StoreException {
        if (handle == NoOpenReaders.HANDLE) {
            return readUnopened(request, node, offset, into);
        }
        FileHandle open = opened(request, node, handle);
        return open == null ? absent(request, handle) : readOpened(request, open, offset, into);
    }

    private int readUnopened(Request request, long node, long offset, ByteBuffer into) throws StoreException {
        Inode inode = volume.find(request, node);
        if (inode == null) {
            return VolumeContext.absent(request);
        }
        Attr attr = attrToRead(request, inode);
        if (attr == null || !attr.complete()) {
            return attr == null ? FileSystem.WOULD_WAIT : -Errno.EBUSY;
        }
        NoOpenReaders.InUse used = unopened.enter(inode);
        boolean whole = false;
        try {
            int count = readOpened(request, used.file, offset, into);
            whole = offset == 0 && count == attr.lengthBytes();
            return count;
        } finally {
            unopened.leave(used, whole && (request.mayWait() || !used.file.streams()));
        }
    }

    /** What an open would have found out; null: that may wait. */
    private @Nullable Attr attrToRead(Request request, Inode inode) throws StoreException {
        Attr attr = inode.attr();
        boolean known = attr != null && attr.fileId() == inode.fileId() && attr.complete();
        boolean learns = volume.readers.wantsToLearn();
        if ((!known || learns) && !request.mayWait()) {
            return null;
        }
        if (attr == null || !known) {
            attr = volume.metadata.refresh(inode);
        }
        if (learns) {
            learn(inode, attr);
        }
        return attr;
    }

    private int readOpened(Request request, FileHandle open, long offset, ByteBuffer into) throws StoreException {
        volume.pages.read(open);
        checkWithheld(open);
        int dirty = volume.dirtyFiles.read(open.inode, request.mayWait(), offset, into);
        if (dirty != DirtyFiles.NO_DIRTY_FILE) {
            return dirty;
        }
        FileReader reader = open.reader();
        if (reader == null) {
            reader = makeReader(request, open);
            if (reader == null) {
                return FileSystem.WOULD_WAIT;
            }
        }
        int local = reader.readLocal(offset, into);
        if (local >= 0) {
            return local;
        }
        if (request.mayWait()) {
            return readRemote(open.inode, reader, offset, into);
        }
        int kept = reader.readBuffered(offset, into);
        return kept >= 0 ? kept : FileSystem.WOULD_WAIT;
    }

    /** Where the file is no longer in Alluxio, the next open asks what is at its name. */
    private int readRemote(Inode inode, FileReader reader, long offset, ByteBuffer into) throws StoreException {
        try {
            return reader.read(offset, into);
        } catch (StoreException e) {
            if (e.errno() == Errno.ESTALE && !inode.unlinked()) {
                inode.invalidateAttr(volume.table.generation().changed());
            }
            throw e;
        }
    }

    /** Null: that may wait, for Alluxio or for the stream of the reader that the new one replaces. */
    private @Nullable FileReader makeReader(Request request, FileHandle open) throws StoreException {
        if (!request.mayWait() && open.streams()) {
            return null;
        }
        Inode inode = open.inode;
        Attr attr = inode.attr();
        if (attr == null || attr.fileId() != inode.fileId()) {
            if (!request.mayWait()) {
                return null;
            }
            attr = volume.metadata.refresh(inode);
        }
        return open.keep(volume.readers.reader(extent(attr), () -> volume.metadata.pathOf(inode)));
    }

    int write(Request request, long node, long handle, long offset, ByteBuffer data) throws StoreException {
        if (handle == NoOpenReaders.HANDLE) {
            return -Errno.EROFS;
        }
        FileHandle open = opened(request, node, handle);
        if (open == null) {
            return absent(request, handle);
        }
        if (!open.allowsWrite()) {
            return -Errno.EBADF;
        }
        checkWithheld(open);
        if (open.inherited) {
            volume.pages.changes(open.inode);
        }
        if (!request.mayWait() && volume.privileges.goWith(request, open.inode)) {
            return FileSystem.WOULD_WAIT;
        }
        int written = volume.dirtyFiles.write(open.inode, request.mayWait(), offset, data);
        while (written == DirtyFiles.NO_DIRTY_FILE) {
            if (!request.mayWait()) {
                return FileSystem.WOULD_WAIT;
            }
            volume.dirtyFiles.begin(open.inode, Long.MAX_VALUE);
            if (open.appends && offset < volume.dirtyFiles.length(open.inode)) {
                throw grown(open.inode); // since it was opened: what others appended would be overwritten
            }
            written = volume.dirtyFiles.write(open.inode, true, offset, data);
        }
        if (request.mayWait()) {
            volume.privileges.changed(request, open.inode);
        }
        return written;
    }

    /**
     * Before a file is cut, or lengthened, through an open one: a handle of an earlier process writes from now on, so that what is
     * half-written is not committed as if nobody had it open.
     */
    void changesThrough(Request request, long node, SetAttributes changes) throws StoreException {
        boolean cuts = changes.has(SetAttributes.SIZE) && changes.has(SetAttributes.HANDLE);
        FileHandle open = cuts ? opened(request, node, changes.handle) : null;
        if (open != null && open.inherited) {
            open.allowsWrite();
        }
    }

    /** In the spool: what is reserved there is sure to find room until it is committed, and its holes take none. */
    int fallocate(Request request, long node, Range range, int mode) throws StoreException {
        if (!ALLOCATIONS.contains(mode)) {
            return -Errno.EOPNOTSUPP;
        }
        FileHandle open = range.handle == NoOpenReaders.HANDLE ? null : opened(request, node, range.handle);
        if (open == null) {
            return range.handle == NoOpenReaders.HANDLE ? -Errno.EROFS : absent(request, range.handle);
        }
        if (!open.allowsWrite()) {
            return -Errno.EBADF;
        }
        if (!request.mayWait()) {
            return FileSystem.WOULD_WAIT;
        }
        checkWithheld(open);
        if (open.inherited) {
            volume.pages.changes(open.inode);
        }
        int done;
        do {
            volume.dirtyFiles.begin(open.inode, Long.MAX_VALUE);
            done = volume.dirtyFiles.allocate(open.inode, range.offset, range.bytes, mode);
        } while (done == DirtyFiles.NO_DIRTY_FILE);
        volume.privileges.changed(request, open.inode);
        return done;
    }

    /** EIO: an earlier process wrote what this one cannot go on with, to this file or to one that nobody knows. */
    private void checkWithheld(FileHandle open) throws StoreException {
        boolean unknownCounts = open.inherited && !volume.dirtyFiles.has(open.inode);
        volume.dirtyFiles.withheld().check(open.inode.node(), unknownCounts);
    }

    /** A part of an open file. */
    record Range(long handle, long offset, long bytes) {}

    /** At each close of a descriptor: commits what was written. */
    int flush(Request request, long node, long handle) throws StoreException {
        if (handle == NoOpenReaders.HANDLE) {
            return -Errno.ENOSYS; // and the kernel asks no more
        }
        return commit(request, node, handle, false);
    }

    /** Of the file, whoever changed it: also by a handle that only reads. */
    int fsync(Request request, long node, long handle) throws StoreException {
        return commit(request, node, handle, true);
    }

    private int commit(Request request, long node, long handle, boolean evenUntouched) throws StoreException {
        if (handle == NoOpenReaders.HANDLE || isNobodysChange(node, handle, evenUntouched)) {
            return 0;
        }
        FileHandle open = opened(request, node, handle);
        if (open == null && absent(request, handle) == FileSystem.WOULD_WAIT) {
            return FileSystem.WOULD_WAIT;
        }
        if (open == null || !(evenUntouched || open.mayWrite())) {
            return 0;
        }
        checkWithheld(open);
        boolean dirty = volume.dirtyFiles.has(open.inode);
        if (dirty && !request.mayWait()) {
            return FileSystem.WOULD_WAIT;
        }
        volume.dirtyFiles.commit(open.inode, evenUntouched);
        volume.checkOwn(node); // its dirty file may just have been set aside
        return 0;
    }

    /** Is it known without looking for its node that nothing was changed through this handle? */
    private boolean isNobodysChange(long node, long handle, boolean evenUntouched) {
        FileHandle known = handles.get(handle);
        return known == null
                ? isOfEarlierProcess(handle) && volume.knowsNothingOf(node)
                : !(evenUntouched || known.mayWrite());
    }

    int release(Request request, long node, long handle) throws StoreException {
        if (isOfEarlierProcess(handle) && volume.knowsNothingOf(node)) {
            return 0;
        }
        boolean foreign = volume.table.ids().isForeign(node);
        FileHandle open = foreign ? handles.get(handle) : opened(request, node, handle);
        if (open == null) {
            return foreign ? 0 : absent(request, handle);
        }
        Inode inode = open.inode;
        if ((open.mayWrite() || open.streams()) && !request.mayWait()) {
            return FileSystem.WOULD_WAIT;
        }
        handles.remove(handle);
        open.close();
        try {
            if (open.mayWrite() && inode.writers() == 0) {
                volume.lastWriterClosed(inode);
            } else {
                volume.buryIfClosed(inode);
            }
        } finally {
            volume.table.released(inode);
        }
        return 0;
    }

    long lseek(Request request, Inode inode, long offset, int whence) throws StoreException {
        long length = volume.dirtyFiles.length(inode);
        if (length == DirtyFiles.NO_DIRTY_FILE) {
            Attr attr = request.mayWait() ? volume.metadata.attr(inode) : volume.metadata.known(inode);
            if (attr == null) {
                return FileSystem.WOULD_WAIT;
            }
            length = attr.lengthBytes();
        }
        if (offset < 0 || offset >= length) {
            return -Errno.ENXIO;
        }
        return switch (whence) {
            case Stat.SEEK_DATA -> offset;
            case Stat.SEEK_HOLE -> length;
            default -> -Errno.EINVAL;
        };
    }

    /** Open files now, and those that are read without having been opened. */
    int openFiles() {
        return handles.size() + unopened.size();
    }
}
