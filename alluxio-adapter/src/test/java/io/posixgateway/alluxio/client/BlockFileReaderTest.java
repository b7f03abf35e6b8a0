package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import alluxio.client.file.FileSystemContext;
import alluxio.client.file.URIStatus;
import alluxio.conf.InstancedConfiguration;
import alluxio.exception.AlluxioException;
import alluxio.grpc.OpenFilePOptions;
import alluxio.master.file.meta.PersistenceState;
import alluxio.wire.BlockInfo;
import alluxio.wire.BlockLocation;
import alluxio.wire.FileBlockInfo;
import alluxio.wire.FileInfo;
import alluxio.wire.WorkerNetAddress;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import javax.security.auth.Subject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which parts of a file a stream is opened for that looks for a worker. Nothing is connected to anything. */
class BlockFileReaderTest {
    private static final long BLOCK_BYTES = 1 << 20;
    private static final String OPENED = "a stream was opened";

    private final ManualClock clock = new ManualClock();
    private final FileSystemContext context = FileSystemContext.create(new Subject(), properties());
    private final WorkerConnections connections =
            new WorkerConnections(context, new WorkerList(context, List::of, 0, clock), clock);
    private final WorkerHealth watch = new WorkerHealth(clock, address -> true, (work, delayNanos) -> () -> {});
    /** Whether a worker has it, by block, as the master says from now on. */
    private final List<Boolean> held = new ArrayList<>(List.of(false, true));

    private int requests;

    private static InstancedConfiguration properties() {
        return ClientProperties.of(new StoreOptions(
                "127.0.0.1:1", "", "MUST_CACHE", false, Map.of("alluxio.user.file.passive.cache.enabled", "false")));
    }

    @AfterEach
    void close() throws IOException {
        context.close();
    }

    private BlockFileReader.Asked status() {
        List<FileBlockInfo> blocks = new ArrayList<>();
        for (int i = 0; i < held.size(); i++) {
            List<BlockLocation> places = held.get(i)
                    ? List.of(new BlockLocation().setWorkerAddress(new WorkerNetAddress().setHost("worker")))
                    : List.of();
            blocks.add(new FileBlockInfo()
                    .setOffset(i * BLOCK_BYTES)
                    .setBlockInfo(
                            new BlockInfo().setBlockId(i).setLength(BLOCK_BYTES).setLocations(places)));
        }
        FileInfo file = new FileInfo()
                .setPath("/folder/file")
                .setCompleted(true)
                .setLength(held.size() * BLOCK_BYTES)
                .setBlockSizeBytes(BLOCK_BYTES)
                .setPersistenceState(PersistenceState.LOST.name())
                .setFileBlockInfos(blocks);
        return new BlockFileReader.Asked(new URIStatus(file), clock.nanos(), 0);
    }

    private BlockFileReader open() {
        BlockFileReader.Opening opening = new BlockFileReader.Opening() {
            @Override
            public RangeReader ranges(URIStatus status, OpenFilePOptions how) throws AlluxioException {
                return new RangeReader(connections, watch, status, how);
            }

            @Override
            public FileStream stream(
                    URIStatus status, OpenFilePOptions how, RangeReader ranges, BooleanSupplier isThere) {
                throw new IllegalStateException(OPENED);
            }
        };
        BlockFileReader.Asking master = new BlockFileReader.Asking() {
            @Override
            public BlockFileReader.Asked ask() {
                requests++;
                return status();
            }

            @Override
            public boolean isRecent(BlockFileReader.Asked asked) {
                return clock.nanos() - asked.nanos() < StatusCache.RECENT_NANOS;
            }

            @Override
            public boolean compare(String path) {
                throw new IllegalStateException("nothing was read");
            }

            @Override
            public boolean locate(String path) {
                throw new IllegalStateException("nothing was read");
            }

            @Override
            public boolean isTaken(String path) {
                throw new AssertionError("nothing is read from HDFS");
            }
        };
        return new BlockFileReader(opening, new OpenReaders(), status(), master, false, clock);
    }

    private static void failsSaying(BlockFileReader source, long offset, long bytes, String text) {
        ByteBuffer into = ByteBuffer.allocate((int) bytes);
        assertThatThrownBy(() -> source.readOnce(offset, into))
                .hasMessageContaining(text)
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
        assertThat(into.position()).isZero();
    }

    @Test
    void readOfABlockThatIsLost_isRefusedWithoutLookingForAWorker() {
        try (BlockFileReader source = open()) {
            failsSaying(source, 5, 10, "Alluxio calls /folder/file LOST");
            failsSaying(source, BLOCK_BYTES - 5, 10, "no worker has this part of it. Restart the worker");
        }
    }

    @Test
    void readOfABlockOfALostFileThatAWorkerHas_isTried() {
        try (BlockFileReader source = open()) {
            failsSaying(source, BLOCK_BYTES, 10, OPENED);
            failsSaying(source, BLOCK_BYTES, 10, "LOST");
        }
    }

    @Test
    void readOfALostFile_asksTheMasterAgainAfterAWhile() {
        try (BlockFileReader source = open()) {
            held.set(0, true);
            clock.advanceNanos(StatusCache.RECENT_NANOS);
            failsSaying(source, 0, 10, OPENED);
            assertThat(requests).isEqualTo(1);
        }
    }
}
