package io.posixgateway.alluxio.client;

import alluxio.client.file.URIStatus;
import alluxio.exception.AlluxioException;
import alluxio.grpc.OpenFilePOptions;
import alluxio.grpc.ReadPType;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.alluxio.store.UfsKind;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link StoreReader} that reads what workers have in parts, see {@link RangeReader}, and all else through a {@link FileStream},
 * which itself goes on with another worker, or the UFS, when one fails; it is opened when it is needed.
 *
 * <p>A stream that failed, or whose file was renamed, is given up; the next read asks the master again where the file's blocks
 * are, and opens a new one. Parts are asked for by the number of their block, so that it does no harm when the master was asked a
 * while ago; a stream may lead to the path that the file had then, and is opened on a recent answer only. A file that was
 * changed a moment ago may still have a name for the time being, as files have that are written beside the one they replace:
 * what workers lack of it they send, but do not keep, see {@link OpenReaders}.
 *
 * <p>On HDFS a worker keeps the stream that it opened, under the file's id alone, for minutes ({@code UfsInputStreamCache} of its block
 * store): opened where the file was once, it has another file's bytes, for whoever reads the file next, wherever that is by then. So the
 * master is asked right before a stream is opened there, and what may have come from such a stream fails, if another file has that name.
 *
 * <p>No stream is opened for a part that Alluxio has lost, see {@link LostFile}: it would look for a worker in vain until its retries
 * end.
 */
final class BlockFileReader implements StoreReader {
    /** So long after its last change a file may still get another name. */
    private static final long SETTLED_MILLIS = 30_000;

    private static final int MAX_TRIES = 4;
    private static final OpenFilePOptions AS_CONFIGURED = OpenFilePOptions.getDefaultInstance();
    private static final OpenFilePOptions NOT_KEPT =
            OpenFilePOptions.newBuilder().setReadType(ReadPType.NO_CACHE).build();

    private final Opening opening;
    private final OpenReaders others;
    private final Asking asking;
    private final boolean keeps;
    private final Clock clock;
    /** Null: to be asked for. Changed by who reads. */
    private volatile @Nullable Asked asked;

    private volatile String path;
    private OpenFilePOptions how = AS_CONFIGURED;
    private @Nullable FileStream stream;
    /** Of the file as the master knew it when it was asked. */
    private volatile @Nullable RangeReader ranges;

    private @Nullable VersionCheck version;

    private volatile boolean moved;

    /**
     * What the master said of the file.
     *
     * @param nanos when it was asked
     * @param renames {@link OpenReaders#renames} before it was asked
     */
    record Asked(URIStatus status, long nanos, long renames) {}

    /** The master. */
    interface Asking {
        /** Waits. */
        Asked ask() throws StoreException;

        /** Is it so short ago that the file will be where it was? */
        boolean isRecent(Asked asked);

        /** As {@link VersionCheck#compare}. Waits. */
        boolean compare(String path) throws StoreException;

        /** As {@link VersionCheck#locate}. Waits. */
        boolean locate(String path) throws StoreException;

        /** Is something there, another file than this one? Waits. */
        boolean isTaken(String path) throws StoreException;
    }

    /** Opens what is read of. */
    interface Opening {
        RangeReader ranges(URIStatus status, OpenFilePOptions how) throws AlluxioException;

        /** @param isThere as {@link FileStream} */
        FileStream stream(URIStatus status, OpenFilePOptions how, RangeReader ranges, BooleanSupplier isThere);
    }

    /** @param keeps do workers keep what they fetch even of a young file? */
    BlockFileReader(Opening opening, OpenReaders others, Asked asked, Asking asking, boolean keeps, Clock clock) {
        this.clock = clock;
        this.opening = opening;
        this.keeps = keeps;
        this.others = others;
        this.path = asked.status.getPath();
        this.asked = asked;
        this.asking = asking;
    }

    /** Where the file was when the stream was opened. Any thread. */
    String path() {
        return path;
    }

    /** The file is, or will be, elsewhere. Any thread. */
    void moved() {
        moved = true;
    }

    @Override
    public int read(long offset, ByteBuffer into) throws StoreException {
        try {
            RangeReader open = ranges();
            int start = into.position();
            int got = 1;
            while (got > 0 && into.hasRemaining() && open.bytesFrom(offset + into.position() - start) > 0) {
                got = readRange(offset + into.position() - start, ScatterTarget.of(into));
            }
            int total = into.position() - start;
            boolean more = into.hasRemaining() && offset + total < open.lengthBytes();
            return more ? total + readStream(offset + total, into) : total;
        } catch (IOException | AlluxioException | RuntimeException | LinkageError e) {
            throw failed(e);
        }
    }

    private int readStream(long offset, ByteBuffer into) throws IOException, AlluxioException, StoreException {
        int start = into.position();
        for (int tries = 1; ; tries++) {
            FileStream open = stream(offset, into.remaining());
            boolean toItsEnd = offset + into.remaining() >= open.lengthBytes(); // leaves nothing unread
            if (!toItsEnd && open.ranges().isPlaced(offset)) {
                return readOnce(offset, into);
            }
            int count = open.readAt(offset, into);
            VersionCheck check = version;
            ByteBuffer bytes = into.slice(start, count);
            if (check == null || !open.hasReadUfs() || check.streamed(offset, bytes, open.hasBegun())) {
                return count;
            }
            into.position(start);
            readAgain(tries);
        }
    }

    /** From where the file is by now: what was read may be another's, which got its path. */
    private void readAgain(int tries) throws IOException {
        if (tries == MAX_TRIES) {
            throw new IOException("Others gave it another name each time it was read");
        }
        askAgain();
    }

    @Override
    public int readOnce(long offset, ByteBuffer into) throws StoreException {
        int start = into.position();
        boolean done = false;
        try {
            int total = readParts(offset, into);
            done = true;
            return total;
        } catch (IOException | AlluxioException | RuntimeException | LinkageError e) {
            throw failed(e);
        } finally {
            if (!done) {
                into.position(start);
            }
        }
    }

    private int readParts(long offset, ByteBuffer into) throws IOException, AlluxioException, StoreException {
        int start = into.position();
        int count = readPartsOnce(offset, into);
        for (int tries = 1; count < 0; tries++) {
            into.position(start);
            readAgain(tries);
            count = readPartsOnce(offset, into);
        }
        return count;
    }

    /** -1: they may be another file's. */
    private int readPartsOnce(long offset, ByteBuffer into) throws IOException, AlluxioException, StoreException {
        int start = into.position();
        int total = 0;
        boolean more = true;
        boolean fromUfs = false;
        while (more && into.hasRemaining()) {
            FileStream open = stream(offset + total, into.remaining());
            int got = open.pread(offset + total, into);
            open.ranges().know(offset + total);
            fromUfs |= open.hasReadUfs();
            more = got > 0;
            total += got;
        }
        VersionCheck check = version;
        boolean isOfFile = check == null || !fromUfs || check.pread(offset, into.slice(start, total));
        return isOfFile ? total : -1;
    }

    @Override
    public long rangeAvailable(long offset) {
        RangeReader open = ranges;
        return open == null || moved ? 0 : open.bytesFrom(offset);
    }

    @Override
    public int readRange(long offset, ScatterTarget rooms) throws StoreException {
        RangeReader open = ranges;
        if (open == null) {
            return -1;
        }
        int wanted = rooms.bytes();
        try {
            open.read(offset, rooms);
        } catch (IOException | RuntimeException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw broken(e);
            }
            open.doubt(offset);
            org.slf4j.LoggerFactory.getLogger(BlockFileReader.class)
                    .debug("Reading {} from another source: {}", path, e.toString());
        }
        int came = wanted - rooms.bytes();
        return came > 0 ? came : -1;
    }

    private StoreException failed(Throwable failure) {
        Asked known = asked;
        askAgain();
        if (failure instanceof BlockReadCall.TooShort) {
            try {
                var unused = asking.compare(path); // and Alluxio knows how long it is
            } catch (StoreException e) {
                return e.errno() == Errno.ESTALE ? e : broken(failure);
            }
        }
        return known != null && LostFile.isMarked(known.status) ? LostFile.failure(path, failure) : broken(failure);
    }

    /** What is read next begins with a request to the master; workers fetch nothing from where the file was. */
    private void askAgain() {
        asked = null;
        close();
    }

    /** EIO whatever the reason: that a block, or a worker, is not found does not mean that the file is not there. */
    private StoreException broken(Throwable failure) {
        return new StoreException(Errno.EIO, "read " + path + ": " + failure, failure);
    }

    /** For these bytes; EIO if Alluxio has lost some of them. */
    private FileStream stream(long offset, int count) throws AlluxioException, StoreException {
        RangeReader open = ranges();
        FileStream known = stream;
        if (known != null && !isLost(open, offset, count)) {
            return known;
        }
        if (!asking.isRecent(asked()) || (keepsStreams(asked().status) && !open.haveLocations(offset, count))) {
            askAgain();
            open = ranges();
        }
        if (isLost(open, offset, count)) {
            askAgain();
            throw LostFile.failure(path, null);
        }
        Asked read = asked();
        BooleanSupplier isThere = () -> read.equals(asked) && !others.movedSince(read.renames, read.status.getPath());
        FileStream opened = opening.stream(read.status, how, open, isThere);
        stream = opened;
        return opened;
    }

    /** Do workers keep what they opened in the under file system by the file's id? */
    private static boolean keepsStreams(URIStatus status) {
        return UfsKind.of(String.valueOf(status.getUfsPath())) == UfsKind.HDFS;
    }

    private boolean isLost(RangeReader open, long offset, int count) throws StoreException {
        return LostFile.isMarked(asked().status) && !open.haveLocations(offset, count);
    }

    private Asked asked() throws StoreException {
        Asked known = asked;
        if (known == null) {
            known = asking.ask();
            asked = known;
        }
        return known;
    }

    private RangeReader ranges() throws AlluxioException, StoreException {
        for (int tries = 1; ; tries++) {
            RangeReader open = ranges;
            if (open == null) {
                open = open();
            }
            if (!moved || tries == MAX_TRIES) {
                return open;
            }
            askAgain();
        }
    }

    private RangeReader open() throws AlluxioException, StoreException {
        moved = false;
        Asked known = asked();
        path = known.status.getPath();
        others.opened(this);
        if (others.movedSince(known.renames, path)) {
            moved = true;
        }
        long age = Math.abs(clock.epochMillis() - known.status.getLastModificationTimeMs());
        version = versionCheck(known.status);
        how = !keeps && age < SETTLED_MILLIS ? NOT_KEPT : AS_CONFIGURED;
        RangeReader open = opening.ranges(known.status, how);
        ranges = open;
        return open;
    }

    private VersionCheck versionCheck(URIStatus status) {
        boolean local = UfsKind.of(String.valueOf(status.getUfsPath())) == UfsKind.LOCAL;
        boolean keepsStreams = keepsStreams(status);
        return new VersionCheck(
                Math.max(1, status.getBlockSizeBytes()),
                status.getLength(),
                ContentHash.of(status),
                () -> isOfFile(local, keepsStreams));
    }

    private boolean isOfFile(boolean local, boolean keepsStreams) throws StoreException {
        try {
            boolean isOfFile = local ? asking.locate(path) : asking.compare(path);
            if (!isOfFile && keepsStreams && asking.isTaken(path)) {
                throw new StoreException(
                        Errno.EIO,
                        path
                                + " was renamed while it was being read, and a worker may have opened what has this name"
                                + " now: do not read the file for 5 minutes, or set"
                                + " alluxio.worker.ufs.instream.cache.enabled=false for the workers",
                        null);
            }
            return isOfFile;
        } catch (StoreException e) {
            askAgain();
            org.slf4j.LoggerFactory.getLogger(BlockFileReader.class)
                    .warn("Data that was read is discarded: {}", e.getMessage());
            throw e;
        }
    }

    @Override
    public void close() {
        others.closed(this);
        FileStream open = stream;
        stream = null;
        ranges = null;
        if (open != null) {
            open.close();
        }
    }
}
