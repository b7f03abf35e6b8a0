package io.posixgateway.alluxio.client;

import alluxio.AlluxioURI;
import alluxio.client.ReadType;
import alluxio.client.file.URIStatus;
import alluxio.client.file.options.InStreamOptions;
import alluxio.conf.AlluxioConfiguration;
import alluxio.conf.PropertyKey;
import alluxio.grpc.CacheRequest;
import alluxio.grpc.OpenFilePOptions;
import alluxio.grpc.ReadRequest;
import alluxio.master.file.meta.PersistenceState;
import alluxio.util.FileSystemOptionsUtils;
import alluxio.wire.BlockInfo;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a file from workers that have it, and what none has by a worker from the under file system (UFS); where one fails, from another, for
 * a while. For one thread at a time.
 *
 * <p>In sequence a block is read with one call, which stays open between two reads, so that a worker reads a block of the UFS once, and
 * keeps it. A worker that is said to have a block does not read it from the UFS in secret: it refuses.
 */
final class FileStream implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FileStream.class);
    private static final long NO_BLOCK = -1;

    private final Parts parts;
    private final URIStatus status;
    private final InStreamOptions options;
    private final RangeReader ranges;
    private final ReadWorkerSelector choice;
    private final Clock clock;
    private final BooleanSupplier isThere;
    private final boolean fetches;
    private final boolean fetchesHere;
    private final long shortBytes;
    private final ReadTries tries;
    /** A call that goes on where the last read ended. */
    private @Nullable Open open;

    private long fetched = NO_BLOCK;
    private boolean fromUfs;
    private boolean anew;
    /** Was the last call given up, since its worker does not answer any more? */
    private boolean wasGivenUp;

    /**
     * What all streams of a volume have in common.
     *
     * @param ufsBytes counts what no worker had
     */
    record Parts(
            WorkerConnections connections, WorkerHealth watch, PassiveCache cache, Master master, LongAdder ufsBytes) {}

    /** The master of Alluxio. */
    interface Master {
        /** Where the block is now. Waits. */
        BlockInfo block(long blockId) throws StoreException;
    }

    /** A call, and where it goes on. */
    private static final class Open implements AutoCloseable {
        private final BlockInfo block;
        private final ReadWorkerSelector.Place place;
        private final WorkerConnection.Use use;
        private final BlockReadCall call;
        private long offset;
        private long leftBytes;

        Open(
                BlockInfo block,
                ReadWorkerSelector.Place place,
                WorkerConnection.Use use,
                BlockReadCall call,
                long offset,
                long leftBytes) {
            this.block = block;
            this.place = place;
            this.use = use;
            this.call = call;
            this.offset = offset;
            this.leftBytes = leftBytes;
        }

        @Override
        public void close() {
            call.close();
            use.close();
        }
    }

    /**
     * @param how with what is to be otherwise than configured
     * @param ranges of the same file
     * @param isThere asked by any thread, later, too: is the file where it was, by its status? Else nobody fetches its blocks from there
     */
    FileStream(Parts parts, URIStatus file, OpenFilePOptions how, RangeReader ranges, BooleanSupplier isThere) {
        this.parts = parts;
        this.status = file;
        this.ranges = ranges;
        this.isThere = isThere;
        this.clock = parts.watch.clock();
        AlluxioConfiguration configuration = parts.connections.context().getPathConf(new AlluxioURI(file.getPath()));
        OpenFilePOptions merged = FileSystemOptionsUtils.openFileDefaults(configuration).toBuilder()
                .mergeFrom(how)
                .build();
        this.options = new InStreamOptions(file, merged, configuration, parts.connections.context());
        this.fetches = ReadType.fromProto(options.getOptions().getReadType()).isCache();
        this.fetchesHere = configuration.getBoolean(PropertyKey.USER_FILE_PASSIVE_CACHE_ENABLED);
        this.shortBytes = configuration.getBytes(PropertyKey.USER_FILE_SEQUENTIAL_PREAD_THRESHOLD);
        this.tries = new ReadTries(configuration, clock);
        boolean isInUfs =
                file.isPersisted() || PersistenceState.TO_BE_PERSISTED.name().equals(file.getPersistenceState());
        this.choice = new ReadWorkerSelector(
                parts.connections.list(),
                parts.watch,
                isInUfs ? options.getUfsReadLocationPolicy() : null,
                file.isPersisted());
    }

    long lengthBytes() {
        return status.getLength();
    }

    /** True if some of what was read last no worker had. */
    boolean hasReadUfs() {
        return fromUfs;
    }

    /** True if some of what was read last came by a call that began with it. */
    boolean hasBegun() {
        return anew;
    }

    /** Reads the same file. */
    RangeReader ranges() {
        return ranges;
    }

    /** Fills the buffer from there on, as far as the file goes; goes on behind it, best, with the next read. */
    int readAt(long offset, ByteBuffer into) throws IOException {
        return read(offset, into, status.getLength() - offset, false);
    }

    /** Reads a part of a block without reading on; fewer bytes than wanted, or none at the end of the file. */
    int pread(long offset, ByteBuffer into) throws IOException {
        BlockInfo block = offset < status.getLength() ? ranges.blockAt(offset) : null;
        long most = block == null ? status.getLength() - offset : Math.max(1, ranges.bytesLeft(block, offset));
        return read(offset, into, most, true);
    }

    private int read(long offset, ByteBuffer into, long most, boolean apart) throws IOException {
        int start = into.position();
        long wanted = Math.min(into.remaining(), most);
        boolean done = false;
        fromUfs = false;
        anew = false;
        tries.begin();
        try {
            while (into.position() - start < wanted) {
                int before = into.position();
                IOException failure = readBlock(offset + before - start, into, apart);
                if (into.position() > before) {
                    tries.begin();
                }
                if (failure != null) {
                    tries.failed(failure, wasGivenUp);
                }
            }
            done = true;
            return into.position() - start;
        } finally {
            if (!done) {
                into.position(start);
            }
        }
    }

    /** As far as the block goes. Returns why it does not; null: nothing failed. */
    private @Nullable IOException readBlock(long offset, ByteBuffer into, boolean apart) {
        int limit = into.limit();
        boolean answered = false;
        try {
            BlockInfo block = ranges.blockAt(offset);
            if (block == null || ranges.bytesLeft(block, offset) <= 0) {
                return new BlockReadCall.TooShort("Alluxio knows of no block at " + offset + " of " + status.getPath());
            }
            into.limit((int) Math.min(limit, into.position() + ranges.bytesLeft(block, offset)));
            Open known = apart ? null : continuing(block, offset);
            if (known == null) {
                readAnew(block, offset, into, apart);
            } else {
                choice.resume(known.place, tries.mayBeGivenUp());
                read(known, into, () -> {}); // what was on its way before is no answer
            }
            answered = true;
            return null;
        } catch (IOException e) {
            LOG.debug("Reading {} failed: {}", status.getPath(), e.toString());
            answered = ErrnoTable.isRefused(e);
            return e;
        } finally {
            into.limit(limit);
            wasGivenUp = choice.end(answered);
        }
    }

    /** Null: the open call is of no use, and is closed. */
    private @Nullable Open continuing(BlockInfo block, long offset) {
        Open known = open;
        if (known != null && known.offset != offset) {
            leave(known.block.getBlockId() != block.getBlockId());
            return null;
        }
        return known;
    }

    private void readAnew(BlockInfo block, long offset, ByteBuffer into, boolean apart) throws IOException {
        anew = true;
        BlockInfo info = choice.isOutdated(block) ? asked(block) : block;
        ReadWorkerSelector.Place place = choice.choose(info, tries.mayBeGivenUp());
        Open one;
        try {
            one = open(block, place, offset, into.remaining(), apart);
        } catch (IOException e) {
            failed(place, e, false);
            throw e;
        }
        open = apart ? open : one;
        read(one, into, choice::heard);
        if (apart) {
            one.close();
            fetch(one);
        }
    }

    /** @throws BlockReadCall.TooShort the master has forgotten it, as it does where others removed or replaced the file */
    private BlockInfo asked(BlockInfo block) throws BlockReadCall.TooShort {
        try {
            return parts.master.block(block.getBlockId());
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT || e.errno() == Errno.EINVAL) { // the latter from the 2.9 block master
                throw new BlockReadCall.TooShort("Alluxio has forgotten block " + block.getBlockId());
            }
            LOG.debug("The master does not say where block {} is: {}", block.getBlockId(), e.getMessage());
            return block;
        }
    }

    /** @param apart bring no more than these; else all of the block from there on */
    private Open open(BlockInfo block, ReadWorkerSelector.Place place, long offset, int bytes, boolean apart)
            throws IOException {
        long left = apart ? bytes : ranges.bytesLeft(block, offset);
        ReadRequest.Builder request = ranges.request(block, offset, left).setPositionShort(apart && bytes < shortBytes);
        if (place.fromUfs()) {
            request.setOpenUfsBlockOptions(options.getOpenUfsBlockOptions(block.getBlockId()));
        }
        WorkerConnection.Use use;
        try {
            use = parts.connections.of(place.address()).use(choice.call(), WorkerConnection.LIMIT_NANOS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("Interrupted").initCause(e);
        }
        boolean done = false;
        try {
            BlockReadCall call = BlockReadCall.begin(use.channel, request.build(), clock);
            done = true;
            return new Open(block, place, use, call, offset, left);
        } finally {
            if (!done) {
                use.close();
            }
        }
    }

    private void read(Open one, ByteBuffer into, Runnable heard) throws IOException {
        int before = into.position();
        boolean done = false;
        try {
            one.call.read(StoreReader.ScatterTarget.of(into), choice.call(), heard, ranges.silentMillis());
            done = true;
        } catch (IOException e) {
            one.use.failed(e);
            failed(one.place, e, !ErrnoTable.isConnectionLost(e));
            throw e instanceof BlockReadCall.TooShort && !one.place.fromUfs() ? new IOException(e) : e;
        } finally {
            count(one, into.position() - before);
            if (!done) {
                one.close();
                open = open == one ? null : open;
            }
        }
        if (one == open && one.leftBytes == 0) {
            leave(true);
        }
    }

    /** An interrupt says nothing of the worker. */
    private void failed(ReadWorkerSelector.Place place, IOException failure, boolean refused) {
        if (!(failure instanceof InterruptedIOException)) {
            choice.failed(place, refused);
        }
    }

    private void count(Open one, int bytes) {
        one.offset += bytes;
        one.leftBytes -= bytes;
        if (one.place.fromUfs() && bytes > 0) {
            fromUfs = true;
            parts.ufsBytes.add(bytes);
        }
    }

    /** @param leavesBlock will it not be read on? Then a worker may fetch all of it */
    private void leave(boolean leavesBlock) {
        Open one = open;
        open = null;
        if (one != null) {
            one.close();
            if (leavesBlock) {
                fetch(one);
            }
        }
    }

    private void fetch(Open one) {
        long blockId = one.block.getBlockId();
        boolean isEnough =
                status.getReplicationMax() > 0 && one.block.getLocations().size() >= status.getReplicationMax();
        if (!fetches || isEnough || fetched == blockId) {
            return;
        }
        fetched = blockId;
        CacheRequest.Builder request = CacheRequest.newBuilder()
                .setBlockId(blockId)
                .setLength(one.block.getLength())
                .setOpenUfsBlockOptions(options.getOpenUfsBlockOptions(blockId));
        // When the worker has kept what it read itself.
        one.call.afterwards(() -> parts.cache.fetch(request, one.place, fetchesHere, isThere));
    }

    @Override
    public void close() {
        leave(true);
    }
}
