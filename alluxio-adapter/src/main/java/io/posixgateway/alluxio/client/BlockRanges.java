package io.posixgateway.alluxio.client;

import alluxio.client.block.BlockStoreClient;
import alluxio.client.block.stream.BlockInStream;
import alluxio.client.block.stream.DataReader;
import alluxio.client.file.FileSystemContext;
import alluxio.client.file.URIStatus;
import alluxio.client.file.options.InStreamOptions;
import alluxio.network.protocol.databuffer.DataBuffer;
import alluxio.wire.BlockInfo;
import alluxio.wire.FileBlockInfo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
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
 * <p>They fail at the first obstacle; Alluxio's stream, which knows other ways, is to be asked then. It is also asked for the
 * first part of each block, and again after a while, since it asks the master where the block is, and has a worker on this host
 * fetch what it lacks.
 */
final class BlockRanges {
    /** So long a worker is believed to have what it had. */
    private static final long BELIEVED_NANOS = 30_000_000_000L;

    private final FileSystemContext context;
    private final WorkerWatch watch;
    private final URIStatus status;
    private final InStreamOptions options;
    private final List<FileBlockInfo> blocks;
    private final long blockBytes;
    /** By place in the file: when a stream has read something of them. */
    private final ConcurrentMap<Integer, Long> known = new ConcurrentHashMap<>();

    /** @param options of its own */
    BlockRanges(FileSystemContext context, WorkerWatch watch, URIStatus status, InStreamOptions options) {
        this.context = context;
        this.watch = watch;
        this.status = status;
        this.options = options;
        options.setUfsReadLocationPolicy(all -> Optional.empty()); // no worker that lacks the block
        this.blocks = status.getFileBlockInfos();
        this.blockBytes = Math.max(1, status.getBlockSizeBytes());
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

    /** Did a worker have this part when the master was asked? */
    boolean isPlaced(long offset) {
        BlockInfo block = at(indexOf(offset));
        return block != null && !block.getLocations().isEmpty();
    }

    /** A stream has read this part. */
    void know(long offset) {
        if (isPlaced(offset)) {
            known.put(indexOf(offset), watch.nanos());
        }
    }

    /** May this part be read here? */
    boolean has(long offset) {
        Long since = known.get(indexOf(offset));
        return since != null && watch.nanos() - since < BELIEVED_NANOS;
    }

    /** Fewer bytes than wanted at the end of the block. Waits. */
    int read(long offset, ByteBuffer into) throws IOException {
        BlockInfo block = at(indexOf(offset));
        if (block == null) {
            throw new IOException("No block at " + offset);
        }
        WorkerChoice choice =
                new WorkerChoice(context, watch, options.getUfsReadLocationPolicy(), status.isPersisted());
        boolean answered = false;
        choice.begin(true);
        try {
            int got = read(choice, choice.choose(block), offset % blockBytes, into);
            answered = true;
            return got;
        } finally {
            choice.end(answered);
        }
    }

    private int read(WorkerChoice choice, BlockInfo place, long at, ByteBuffer into) throws IOException {
        if (place.getLocations().isEmpty()) {
            throw new IOException("No worker that has block " + place.getBlockId() + " answers");
        }
        int wanted = (int) Math.min(into.remaining(), place.getLength() - at);
        if (wanted <= 0) {
            return 0;
        }
        try (BlockInStream in = BlockStoreClient.create(context).getInStream(place, options, new HashMap<>());
                DataReader reader = in.getDataReaderFactory().create(at, wanted)) {
            return read(choice, reader, into, wanted);
        }
    }

    private static int read(WorkerChoice choice, DataReader reader, ByteBuffer into, int wanted) throws IOException {
        int total = 0;
        while (total < wanted) {
            DataBuffer part = reader.readChunk();
            if (part == null) {
                break;
            }
            choice.heard();
            try {
                total += put(part, into);
            } finally {
                part.release();
            }
        }
        return total;
    }

    /** Alluxio's buffers fill all the room that they are shown. */
    private static int put(DataBuffer part, ByteBuffer into) {
        int limit = into.limit();
        int count = part.readableBytes();
        into.limit(into.position() + count);
        part.readBytes(into);
        into.limit(limit);
        return count;
    }
}
