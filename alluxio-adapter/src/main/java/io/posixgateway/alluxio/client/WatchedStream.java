package io.posixgateway.alluxio.client;

import alluxio.AlluxioURI;
import alluxio.client.block.BlockStoreClient;
import alluxio.client.block.stream.BlockInStream;
import alluxio.client.file.AlluxioFileInStream;
import alluxio.client.file.FileSystemContext;
import alluxio.client.file.URIStatus;
import alluxio.client.file.options.InStreamOptions;
import alluxio.conf.AlluxioConfiguration;
import alluxio.grpc.OpenFilePOptions;
import alluxio.util.FileSystemOptionsUtils;
import alluxio.wire.BlockInfo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Alluxio's input stream, which reads from no worker that hangs when there is another way. For one thread at a time. */
final class WatchedStream extends AlluxioFileInStream {
    /** The last of them is given up only where nothing is known of the worker any more, and is the last all the same. */
    private static final int MOST_TRIES = 3;

    private final Status status;
    private final InStreamOptions options;
    private final FileSystemContext context;
    private final WorkerWatch watch;
    private final WorkerChoice choice;
    private final BlockRanges ranges;
    private final LongAdder ufsBytes;
    private boolean fromUfs;

    /** The status that the stream asks for locations. */
    private static final class Status extends URIStatus {
        private final WorkerChoice choice;
        private @Nullable WatchedStream stream;

        Status(URIStatus status, WorkerChoice choice) {
            super(status.getFileInfo(), status.getCacheContext());
            this.choice = choice;
        }

        /** Alluxio's stream asks also after it has read a block, whether its worker should keep it. */
        @Override
        public BlockInfo getBlockInfo(long blockId) {
            BlockInfo block = super.getBlockInfo(blockId);
            return block != null && choice.isCalling() && isNext(blockId) ? choice.choose(block) : block;
        }

        private boolean isNext(long blockId) {
            WatchedStream asking = stream;
            return asking != null && asking.getPos() < getLength() && asking.blockAt(asking.getPos()) == blockId;
        }

        BlockInfo known(long blockId) {
            return super.getBlockInfo(blockId);
        }
    }

    private WatchedStream(
            Status status,
            InStreamOptions options,
            FileSystemContext context,
            WorkerWatch watch,
            BlockRanges ranges,
            LongAdder ufsBytes) {
        super(status, options, context);
        this.status = status;
        this.options = options;
        this.context = context;
        this.watch = watch;
        this.ufsBytes = ufsBytes;
        this.choice = status.choice;
        this.ranges = ranges;
        status.stream = this;
    }

    long lengthBytes() {
        return status.getLength();
    }

    /** True if some of what was read last no worker had. */
    boolean hasReadUfs() {
        return fromUfs;
    }

    /** Reads the same file. */
    BlockRanges ranges() {
        return ranges;
    }

    /**
     * @param ranges of the same file
     * @param ufsBytes counts what no worker had
     */
    static WatchedStream open(
            FileSystemContext context,
            WorkerWatch watch,
            URIStatus file,
            OpenFilePOptions how,
            BlockRanges ranges,
            LongAdder ufsBytes) {
        AlluxioConfiguration configuration = context.getPathConf(new AlluxioURI(file.getPath()));
        OpenFilePOptions merged = FileSystemOptionsUtils.openFileDefaults(configuration).toBuilder()
                .mergeFrom(how)
                .build();
        InStreamOptions options = new InStreamOptions(file, merged, configuration, context);
        WorkerChoice choice = new WorkerChoice(context, watch, options.getUfsReadLocationPolicy(), file.isPersisted());
        options.setUfsReadLocationPolicy(choice);
        return new WatchedStream(new Status(file, choice), options, context, watch, ranges, ufsBytes);
    }

    private long blockAt(long offset) {
        List<Long> ids = status.getBlockIds();
        int index = (int) (offset / Math.max(1, status.getBlockSizeBytes()));
        return index < ids.size() ? ids.get(index) : -1;
    }

    /** Moves the stream there, and fills the buffer as far as the file goes. */
    int readAt(long offset, ByteBuffer into) throws IOException {
        int start = into.position();
        int limit = into.limit();
        for (int tries = 1; ; tries++) {
            try {
                fill(offset, into, tries < MOST_TRIES);
                fromUfs = choice.hasUsedUfs();
                if (choice.isFromUfs()) {
                    ufsBytes.add(into.position() - start);
                }
                return into.position() - start;
            } catch (IOException
                    | RuntimeException
                    | LinkageError e) { // Alluxio logs some with a class that is not there
                if (!choice.takeGivenUp() || tries >= MOST_TRIES) {
                    throw e;
                }
                into.limit(limit).position(start);
            }
        }
    }

    private void fill(long offset, ByteBuffer into, boolean mayBeGivenUp) throws IOException {
        if (getPos() != offset) {
            if (blockAt(getPos()) != blockAt(offset)) {
                choice.forget();
            }
            seek(offset);
        }
        boolean answered = false;
        choice.begin(mayBeGivenUp);
        try {
            boolean more = true;
            while (more && into.hasRemaining()) {
                more = read(into) >= 0;
            }
            answered = true;
        } finally {
            choice.end(answered);
        }
    }

    /** Reads from there without moving the stream; fewer bytes than wanted, or none at the end of the file. */
    int readApart(long offset, byte[] into, int from, int count) throws IOException {
        for (int tries = 1; ; tries++) {
            WorkerChoice apart =
                    new WorkerChoice(context, watch, options.getUfsReadLocationPolicy(), status.isPersisted());
            try {
                return readApart(apart, tries < MOST_TRIES, offset, into, from, count);
            } catch (IOException | RuntimeException | LinkageError e) { // as above
                if (!apart.takeGivenUp() || tries >= MOST_TRIES) {
                    throw e;
                }
            }
        }
    }

    private int readApart(WorkerChoice apart, boolean mayBeGivenUp, long offset, byte[] into, int from, int count)
            throws IOException {
        BlockInfo block = status.known(blockAt(offset));
        long began = watch.nanos();
        boolean answered = false;
        choice.forgetUfs();
        apart.begin(mayBeGivenUp);
        try {
            BlockInfo place = block == null ? null : apart.choose(block);
            int got = place != null && apart.hasAvoided()
                    ? readBlock(place, offset, into, from, count)
                    : positionedRead(offset, into, from, count);
            fromUfs = choice.hasUsedUfs();
            if (place != null && place.getLocations().isEmpty()) {
                ufsBytes.add(Math.max(0, got));
            }
            answered = watch.nanos() - began < WorkerWatch.SILENT_NANOS; // else it was perhaps another's
            return got;
        } finally {
            apart.end(answered);
        }
    }

    private int readBlock(BlockInfo place, long offset, byte[] into, int from, int count) throws IOException {
        long at = offset % Math.max(1, status.getBlockSizeBytes());
        try (BlockInStream in = BlockStoreClient.create(context).getInStream(place, options, new HashMap<>())) {
            return in.positionedRead(at, into, from, (int) Math.min(count, place.getLength() - at));
        }
    }
}
