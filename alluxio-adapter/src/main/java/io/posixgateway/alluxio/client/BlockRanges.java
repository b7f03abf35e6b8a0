package io.posixgateway.alluxio.client;

import alluxio.AlluxioURI;
import alluxio.client.ReadType;
import alluxio.client.block.policy.BlockLocationPolicy;
import alluxio.client.block.stream.BlockWorkerClient;
import alluxio.client.file.FileSystemContext;
import alluxio.client.file.URIStatus;
import alluxio.conf.AlluxioConfiguration;
import alluxio.conf.PropertyKey;
import alluxio.exception.FileIncompleteException;
import alluxio.grpc.OpenFilePOptions;
import alluxio.grpc.ReadRequest;
import alluxio.proto.dataserver.Protocol;
import alluxio.resource.CloseableResource;
import alluxio.wire.BlockInfo;
import alluxio.wire.BlockLocation;
import alluxio.wire.FileBlockInfo;
import alluxio.wire.WorkerNetAddress;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads parts of a file from workers that have them, each with a call that brings no more than that part. Any thread.
 *
 * <p>A stream of Alluxio's has its worker send on until 16 MiB lie here, whether somebody reads them or not, in memory that
 * nobody counts: a few dozen streams that were left in the middle take all that a gateway has. Between two calls of these
 * ranges nothing is under way and nothing is held, and several can be under way at once.
 *
 * <p>They fail at the first obstacle; Alluxio's stream, which knows other ways, is to be asked then. It is also asked after a
 * while, since it asks the master where the block is, and for the first part of each block where it would have a worker on this
 * host fetch what that lacks.
 */
final class BlockRanges {
    /** So long a worker is believed to have what it had, or not to have what it did not give. */
    private static final long BELIEVED_NANOS = 30_000_000_000L;

    /** Without a path. Some workers do not stand it when there are no options at all. */
    private static final Protocol.OpenUfsBlockOptions NOT_FROM_UFS =
            Protocol.OpenUfsBlockOptions.newBuilder().setNoCache(true).build();

    private final FileSystemContext context;
    private final WorkerWatch watch;
    private final URIStatus status;
    private final BlockLocationPolicy noWorker = all -> Optional.empty(); // none that lacks the block
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
    BlockRanges(FileSystemContext context, WorkerWatch watch, URIStatus status, OpenFilePOptions how)
            throws FileIncompleteException {
        AlluxioURI uri = new AlluxioURI(status.getPath());
        if (!status.isCompleted()) {
            throw new FileIncompleteException(uri);
        }
        this.context = context;
        this.watch = watch;
        this.status = status;
        AlluxioConfiguration configuration = context.getPathConf(uri);
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
                here = context.getNodeLocalWorker();
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
        if (index >= blocks.size() || blocks.get(index).getOffset() != index * blockBytes) {
            return null; // the master leaves out what it lost
        }
        return blocks.get(index).getBlockInfo();
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

    /** Up to the end of the block. Waits. */
    void read(long offset, FileSource.Rooms rooms) throws IOException {
        BlockInfo block = at(indexOf(offset));
        if (block == null) {
            throw new IOException("No block at " + offset);
        }
        WorkerChoice choice = new WorkerChoice(context, watch, noWorker, status.isPersisted());
        boolean answered = false;
        choice.begin(true);
        try {
            read(choice, choice.choose(block), offset % blockBytes, rooms);
            answered = true;
        } finally {
            choice.end(answered);
        }
    }

    private void read(WorkerChoice choice, BlockInfo place, long at, FileSource.Rooms rooms) throws IOException {
        if (place.getLocations().isEmpty()) {
            throw new IOException("No worker with block " + place.getBlockId() + " responds");
        }
        long wanted = Math.min(rooms.bytes(), place.getLength() - at);
        if (wanted <= 0) {
            return;
        }
        ReadRequest request = ReadRequest.newBuilder()
                .setBlockId(place.getBlockId())
                .setOffset(at)
                .setLength(wanted)
                .setPromote(promotes)
                .setChunkSize(chunkBytes)
                .setOpenUfsBlockOptions(NOT_FROM_UFS)
                .build();
        WorkerNetAddress worker = place.getLocations().get(0).getWorkerAddress();
        try (CloseableResource<BlockWorkerClient> client = context.acquireBlockWorkerClient(worker)) {
            BlockCall.read(
                    BlockCall.channelOf(client.get()), request, rooms, choice::heard, silentMillis, watch.clock());
        }
    }
}
