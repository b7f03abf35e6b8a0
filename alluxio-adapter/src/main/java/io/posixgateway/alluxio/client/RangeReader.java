package io.posixgateway.alluxio.client;

import alluxio.AlluxioURI;
import alluxio.client.ReadType;
import alluxio.client.file.URIStatus;
import alluxio.conf.AlluxioConfiguration;
import alluxio.conf.PropertyKey;
import alluxio.exception.FileIncompleteException;
import alluxio.grpc.OpenFilePOptions;
import alluxio.grpc.ReadRequest;
import alluxio.proto.dataserver.Protocol;
import alluxio.wire.BlockInfo;
import alluxio.wire.BlockLocation;
import alluxio.wire.FileBlockInfo;
import alluxio.wire.WorkerNetAddress;
import io.posixgateway.alluxio.store.StoreReader;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads parts of a file from workers that have them, each with a call that brings no more than that part. Any thread.
 *
 * <p>The worker of a stream sends on until the window of its call is full, whether somebody reads on or not, in memory that
 * nobody counts. Between two calls of these ranges nothing is under way and nothing is held, and several can be under way at once.
 *
 * <p>They fail at the first obstacle; a {@link FileStream}, which knows other ways, is to be asked then. It is also asked after a
 * while, since it is opened with a recent answer of the master, and for the first part of each block where it would have a worker on
 * this host fetch what that lacks.
 */
final class RangeReader {
    /** So long a worker is believed to have what it had, or not to have what it did not give. */
    private static final long BELIEVED_NANOS = 30_000_000_000L;

    /** Without a path. Some workers do not stand it when there are no options at all. */
    private static final Protocol.OpenUfsBlockOptions NOT_FROM_UFS =
            Protocol.OpenUfsBlockOptions.newBuilder().setNoCache(true).build();

    private final WorkerConnections connections;
    private final WorkerHealth watch;
    private final URIStatus status;
    private final boolean promotes;
    /** May the first part of a block be read here, wherever it is? */
    private final boolean begins;
    /** On this host, and would fetch what it lacks when a stream reads it; null: there is none. */
    private final @Nullable WorkerNetAddress fetching;

    private final long chunkBytes;
    private final long silentMillis;
    private final List<FileBlockInfo> blocks;
    private final long blockBytes;
    /** By place in the file: when a stream has read something of them. */
    private final ConcurrentMap<Integer, Long> known = new ConcurrentHashMap<>();
    /** By place in the file: when a worker did not give them. */
    private final ConcurrentMap<Integer, Long> doubted = new ConcurrentHashMap<>();

    /** @param how with what is to be otherwise than configured */
    RangeReader(WorkerConnections connections, WorkerHealth watch, URIStatus status, OpenFilePOptions how)
            throws FileIncompleteException {
        AlluxioURI uri = new AlluxioURI(status.getPath());
        if (!status.isCompleted()) {
            throw new FileIncompleteException(uri);
        }
        this.connections = connections;
        this.watch = watch;
        this.status = status;
        AlluxioConfiguration configuration = connections.context().getPathConf(uri);
        ReadType type = how.hasReadType()
                ? ReadType.fromProto(how.getReadType())
                : configuration.getEnum(PropertyKey.USER_FILE_READ_TYPE_DEFAULT, ReadType.class);
        this.promotes = type.isPromote();
        this.chunkBytes = configuration.getBytes(PropertyKey.USER_STREAMING_READER_CHUNK_SIZE_BYTES);
        boolean brings = type.isCache() && configuration.getBoolean(PropertyKey.USER_FILE_PASSIVE_CACHE_ENABLED);
        WorkerNetAddress here = null;
        boolean isKnown = true;
        if (brings) {
            try {
                here = connections.list().local();
            } catch (IOException e) {
                isKnown = false;
            }
        }
        this.fetching = here;
        this.begins = here == null && isKnown;
        this.silentMillis = configuration.getMs(PropertyKey.USER_STREAMING_DATA_READ_TIMEOUT);
        this.blocks = status.getFileBlockInfos();
        this.blockBytes = Math.max(1, status.getBlockSizeBytes());
    }

    long lengthBytes() {
        return status.getLength();
    }

    private int indexOf(long offset) {
        return (int) (offset / blockBytes);
    }

    private @Nullable BlockInfo at(int index) {
        long offset = index * blockBytes;
        for (int i = Math.min(index, blocks.size() - 1); i >= 0 && blocks.get(i).getOffset() >= offset; i--) {
            if (blocks.get(i).getOffset() == offset) {
                return blocks.get(i).getBlockInfo();
            }
        }
        return null; // the master leaves out what it lost
    }

    /** Did a worker have this part when the master was asked, and was it not refused since? */
    boolean isPlaced(long offset) {
        BlockInfo block = at(indexOf(offset));
        return block != null && !block.getLocations().isEmpty() && !isWithin(doubted, offset);
    }

    /** True if a worker had each block of this part when the master was asked, whether or not one was refused since. */
    boolean haveLocations(long offset, long bytes) {
        long end = Math.min(status.getLength(), offset + bytes);
        for (long index = offset / blockBytes; index * blockBytes < end; index++) {
            BlockInfo block = at((int) index);
            if (block == null || block.getLocations().isEmpty()) {
                return false;
            }
        }
        return true;
    }

    /** A stream has read this part. */
    void know(long offset) {
        if (isPlaced(offset)) {
            known.put(indexOf(offset), watch.nanos());
        }
    }

    /** So much from there on may be read here with one call. */
    long bytesFrom(long offset) {
        return isBelieved(offset) ? blockBytes - offset % blockBytes : 0;
    }

    private boolean isBelieved(long offset) {
        return isPlaced(offset) && (known.containsKey(indexOf(offset)) ? isWithin(known, offset) : mayBegin(offset));
    }

    /** There is no worker here to fetch the block, or it has it. */
    private boolean mayBegin(long offset) {
        WorkerNetAddress here = fetching;
        BlockInfo block = here == null ? null : at(indexOf(offset));
        return begins
                || (here != null
                        && block != null
                        && block.getLocations().stream()
                                .map(BlockLocation::getWorkerAddress)
                                .anyMatch(there -> there.getHost().equals(here.getHost())
                                        && there.getRpcPort() == here.getRpcPort()));
    }

    private boolean isWithin(ConcurrentMap<Integer, Long> times, long offset) {
        Long since = times.get(indexOf(offset));
        return since != null && watch.nanos() - since < BELIEVED_NANOS;
    }

    /** It failed here: a stream is asked for what is there, for a while. */
    void doubt(long offset) {
        doubted.put(indexOf(offset), watch.nanos());
    }

    /** Null: the master knows of no block there. */
    @Nullable
    BlockInfo blockAt(long offset) {
        return at(indexOf(offset));
    }

    /** To the end of the block, of which it is known to be in one. */
    long bytesLeft(BlockInfo block, long offset) {
        return block.getLength() - offset % blockBytes;
    }

    /** Of what a worker has; a worker that lacks it refuses. */
    ReadRequest.Builder request(BlockInfo block, long offset, long bytes) {
        return ReadRequest.newBuilder()
                .setBlockId(block.getBlockId())
                .setOffset(offset % blockBytes)
                .setLength(bytes)
                .setPromote(promotes)
                .setChunkSize(chunkBytes)
                .setOpenUfsBlockOptions(NOT_FROM_UFS);
    }

    /** The longest wait for something to come. */
    long silentMillis() {
        return silentMillis;
    }

    /** Up to the end of the block. Waits. */
    void read(long offset, StoreReader.ScatterTarget rooms) throws IOException {
        BlockInfo block = blockAt(offset);
        if (block == null) {
            throw new IOException("No block at " + offset);
        }
        long wanted = Math.min(rooms.bytes(), bytesLeft(block, offset));
        if (wanted <= 0) {
            return;
        }
        ReadWorkerSelector choice = new ReadWorkerSelector(connections.list(), watch, null, status.isPersisted());
        boolean answered = false;
        try {
            ReadWorkerSelector.Place place = choice.choose(block, true);
            read(choice, place, request(block, offset, wanted).build(), rooms);
            answered = true;
        } catch (IOException e) {
            answered = ErrnoTable.isRefused(e);
            throw e;
        } finally {
            choice.end(answered);
        }
    }

    private void read(
            ReadWorkerSelector choice,
            ReadWorkerSelector.Place place,
            ReadRequest request,
            StoreReader.ScatterTarget rooms)
            throws IOException {
        try (WorkerConnection.Use use =
                connections.of(place.address()).use(choice.call(), WorkerConnection.LIMIT_NANOS)) {
            try (BlockReadCall call = BlockReadCall.begin(use.channel, request, watch.clock())) {
                call.read(rooms, choice.call(), choice::heard, silentMillis);
            } catch (IOException e) {
                use.failed(e);
                throw e;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("Interrupted").initCause(e);
        }
    }
}
