package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import alluxio.client.file.FileSystemContext;
import alluxio.client.file.URIStatus;
import alluxio.exception.FileIncompleteException;
import alluxio.grpc.CacheRequest;
import alluxio.grpc.OpenFilePOptions;
import alluxio.grpc.ReadPType;
import alluxio.grpc.ReadRequest;
import alluxio.proto.dataserver.Protocol.OpenUfsBlockOptions;
import alluxio.shaded.client.io.grpc.Status;
import alluxio.wire.BlockInfo;
import alluxio.wire.BlockLocation;
import alluxio.wire.FileBlockInfo;
import alluxio.wire.FileInfo;
import alluxio.wire.WorkerNetAddress;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.OffsetClock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import javax.security.auth.Subject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Against workers on the loopback. A file of two blocks, the second of which is not full, that the under file system has. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FileStreamTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int BLOCK_BYTES = 8 << 20;
    private static final int BYTES = BLOCK_BYTES + 1_000_000;
    private static final int WINDOW_BYTES = 256 << 10;

    private static final long CONTAINER = 5L << 24;
    private static final OpenFilePOptions AS_CONFIGURED = OpenFilePOptions.getDefaultInstance();
    private static final OpenFilePOptions NOT_KEPT =
            OpenFilePOptions.newBuilder().setReadType(ReadPType.NO_CACHE).build();

    private final OffsetClock clock = new OffsetClock();
    private final FalseMaster master = new FalseMaster(true);
    private final FalseWorker first = new FalseWorker("first");
    private final FalseWorker second = new FalseWorker("second");
    private final FileSystemContext context;
    private final MasterClient client;
    private final WorkerConnections connections;
    /** What the watch is to look at later. */
    private final Queue<Runnable> planned = new ConcurrentLinkedQueue<>();

    private final WorkerHealth watch;
    private final PassiveCache cache;
    private final LongAdder ufsBytes = new LongAdder();

    FileStreamTest() throws IOException {
        StoreOptions options = new StoreOptions(
                master.address(),
                "",
                "THROUGH",
                false,
                Map.of(
                        "alluxio.security.authentication.type",
                        "NOSASL",
                        "alluxio.user.hostname",
                        "elsewhere",
                        "alluxio.user.network.streaming.flowcontrol.window",
                        Integer.toString(WINDOW_BYTES),
                        "alluxio.user.streaming.data.read.timeout",
                        "10min",
                        "alluxio.user.worker.list.refresh.interval",
                        "1ms"));
        context = FileSystemContext.create(new Subject(), ClientProperties.of(options));
        client = new MasterClient(context, 1, clock);
        connections = new WorkerConnections(context, WorkerList.of(context, client, clock), clock);
        watch = new WorkerHealth(clock, address -> false, (work, delayNanos) -> {
            planned.add(work);
            return () -> planned.remove(work);
        });
        cache = new PassiveCache(connections, watch);
        master.workers.add(first.address());
    }

    @AfterEach
    void end() throws IOException {
        cache.close();
        connections.close();
        client.close();
        context.close();
        first.close();
        second.close();
        master.close();
    }

    private static BlockInfo block(int index, List<WorkerNetAddress> holders) {
        return new BlockInfo()
                .setBlockId(CONTAINER + index)
                .setLength(index == 0 ? BLOCK_BYTES : BYTES - BLOCK_BYTES)
                .setLocations(holders.stream()
                        .map(holder -> new BlockLocation().setWorkerAddress(holder))
                        .toList());
    }

    private static URIStatus file(WorkerNetAddress... holders) {
        List<FileBlockInfo> blocks = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            blocks.add(new FileBlockInfo().setOffset((long) i * BLOCK_BYTES).setBlockInfo(block(i, List.of(holders))));
        }
        return new URIStatus(new FileInfo()
                .setPath("/folder/file")
                .setUfsPath("/ufs/file")
                .setMountId(3)
                .setCompleted(true)
                .setPersisted(true)
                .setPersistenceState("PERSISTED")
                .setLength(BYTES)
                .setBlockSizeBytes(BLOCK_BYTES)
                .setBlockIds(List.of(CONTAINER, CONTAINER + 1))
                .setFileBlockInfos(blocks));
    }

    private FileStream open(URIStatus file, OpenFilePOptions how) throws FileIncompleteException {
        return open(file, how, true);
    }

    private FileStream open(URIStatus file, OpenFilePOptions how, boolean isThere) throws FileIncompleteException {
        FileStream.Master places = id -> block((int) (id - CONTAINER), List.of());
        return new FileStream(parts(places), file, how, new RangeReader(connections, watch, file, how), () -> isThere);
    }

    private FileStream.Parts parts(FileStream.Master places) {
        return new FileStream.Parts(connections, watch, cache, places, ufsBytes);
    }

    private static void isContent(ByteBuffer read, long offset) {
        read.flip();
        for (int i = 0; i < read.limit(); i++) {
            long at = offset + i;
            byte wanted = FalseWorker.byteAt(CONTAINER + at / BLOCK_BYTES, at % BLOCK_BYTES);
            if (read.get(i) != wanted) {
                throw new AssertionError("another byte at " + at);
            }
        }
    }

    private static void readAt(FileStream stream, long offset, int bytes) throws IOException {
        ByteBuffer into = ByteBuffer.allocateDirect(bytes);
        assertThat(stream.readAt(offset, into)).isEqualTo(bytes);
        isContent(into, offset);
    }

    @Test
    void read_inSequence_isOneCallForEachBlockOfTheUfs() throws Exception {
        int piece = 700_001;
        try (FileStream stream = open(file(), AS_CONFIGURED)) {
            for (int at = 0; at < BYTES; at += piece) {
                readAt(stream, at, Math.min(piece, BYTES - at));
                assertThat(stream.hasReadUfs()).isTrue();
            }
            assertThat(stream.readAt(BYTES, ByteBuffer.allocate(1))).isZero();
        }
        assertThat(first.requests).extracting(ReadRequest::getBlockId).containsExactly(CONTAINER, CONTAINER + 1);
        assertThat(first.requests).extracting(ReadRequest::getOffset).containsOnly(0L);
        OpenUfsBlockOptions ufs = first.requests.get(1).getOpenUfsBlockOptions();
        assertThat(ufs.getUfsPath()).isEqualTo("/ufs/file");
        assertThat(ufs.getMountId()).isEqualTo(3);
        assertThat(ufs.getOffsetInFile()).isEqualTo(BLOCK_BYTES);
        assertThat(ufs.getBlockSize()).isEqualTo(BYTES - BLOCK_BYTES);
        assertThat(ufs.getNoCache()).isFalse();
        assertThat(ufsBytes.sum()).isEqualTo(BYTES);
        assertThat(watch.of(first.address()).silentNanos()).isZero();
        assertThat(first.cancelled).hasValue(0);
    }

    /** On the same connection. */
    @Test
    void streamLeftInTheMiddle_doesNotHoldUpOthersOfItsWorker() throws Exception {
        URIStatus file = file(first.address());
        try (FileStream stream = open(file, AS_CONFIGURED)) {
            readAt(stream, 0, 1000);
            Waiting.until("the window is full", LIMIT, () -> first.sentBytes.get() > WINDOW_BYTES);
            ByteBuffer into = ByteBuffer.allocateDirect(1_000_000);
            new RangeReader(connections, watch, file, AS_CONFIGURED)
                    .read(BLOCK_BYTES, StoreReader.ScatterTarget.of(into));
            assertThat(into.hasRemaining()).isFalse();
            isContent(into, BLOCK_BYTES);
            readAt(stream, 1000, 6_000_000);
        }
        assertThat(first.requests).hasSize(2);
    }

    @Test
    void read_whileTheLeaderIsFrozen_goesOnWithTheWorkersItNamedLast() throws Exception {
        try (FileStream stream = open(file(), AS_CONFIGURED)) {
            readAt(stream, 0, BLOCK_BYTES);
            int before = master.workerRequests.get();
            master.freeze();
            clock.advance(Duration.ofSeconds(1));
            readAt(stream, BLOCK_BYTES, BYTES - BLOCK_BYTES);
            Waiting.until("the list is requested", LIMIT, () -> master.workerRequests.get() > before);
        }
        assertThat(first.requests).hasSize(2);
    }

    @Test
    void readApart_isACallForThesePartsAlone() throws Exception {
        ByteBuffer into = ByteBuffer.allocateDirect(3000);
        try (FileStream stream = open(file(), AS_CONFIGURED)) {
            assertThat(stream.pread(BLOCK_BYTES - 1000, into)).isEqualTo(1000);
            assertThat(stream.pread(BLOCK_BYTES, into)).isEqualTo(2000);
            isContent(into, BLOCK_BYTES - 1000);
        }
        assertThat(first.requests).extracting(ReadRequest::getLength).containsExactly(1000L, 2000L);
        assertThat(first.requests).extracting(ReadRequest::getPositionShort).containsOnly(true);
    }

    /** Else nobody would compare what it read with what was opened. */
    @Test
    void workerThatLacksABlockItIsSaidToHave_doesNotReadTheUfsInSecret() throws Exception {
        first.answer(request -> request.getOpenUfsBlockOptions().hasUfsPath() ? Status.OK : Status.NOT_FOUND);
        try (FileStream stream = open(file(first.address()), AS_CONFIGURED)) {
            readAt(stream, 10, 1000);
            assertThat(stream.hasReadUfs()).isTrue();
        }
        assertThat(first.requests).hasSize(2);
    }

    /** In Kubernetes each worker that starts has another address. */
    @Test
    void connectionsToWorkersThatAreGone_areClosedWhenAnotherIsConnectedTo() throws Exception {
        CancellableCall none = new CancellableCall();
        connections.list().all();
        WorkerConnection.Use open = connections.of(first.address()).use(none, LIMIT.toNanos());
        connections.of(first.address()).use(none, LIMIT.toNanos()).close();
        master.workers.set(0, second.address());
        Waiting.until("the list is another one", LIMIT, () -> {
            connections.list().all();
            return connections.list().isGone(first.address());
        });
        connections.of(second.address()).use(none, LIMIT.toNanos()).close();
        assertThat(connections.size()).isEqualTo(1);
        assertThat(open.channel.isShutdown()).isFalse();
        open.close();
        Waiting.until("it is closed", LIMIT, open.channel::isShutdown);
    }

    @Test
    void workerThatRefuses_hasAnswered() throws Exception {
        first.answer(request -> Status.NOT_FOUND);
        URIStatus file = file(first.address());
        RangeReader ranges = new RangeReader(connections, watch, file, AS_CONFIGURED);
        StoreReader.ScatterTarget rooms = StoreReader.ScatterTarget.of(ByteBuffer.allocateDirect(1000));
        assertThatThrownBy(() -> ranges.read(10, rooms)).isInstanceOf(IOException.class);
        assertThat(watch.of(first.address()).silentNanos()).isZero();
        FileStream.Parts parts = parts(id -> {
            throw new StoreException(Errno.ENOENT, "no such block", null);
        });
        try (FileStream stream = new FileStream(parts, file, AS_CONFIGURED, ranges, () -> true)) {
            assertThatThrownBy(() -> stream.readAt(10, ByteBuffer.allocate(1000)))
                    .isInstanceOf(IOException.class);
        }
        clock.advance(Duration.ofSeconds(3));
        assertThat(watch.of(first.address()).hangs()).isFalse();
    }

    /** The path may lead to another file. */
    @Test
    void blockThatTheMasterHasForgotten_isNotReadFromTheUfs() throws Exception {
        first.answer(request -> request.getOpenUfsBlockOptions().hasUfsPath() ? Status.OK : Status.NOT_FOUND);
        URIStatus file = file(first.address());
        for (int errno : List.of(Errno.ENOENT, Errno.EINVAL)) {
            FileStream.Parts parts = parts(id -> {
                throw new StoreException(errno, "no such block", null);
            });
            RangeReader ranges = new RangeReader(connections, watch, file, AS_CONFIGURED);
            try (FileStream stream = new FileStream(parts, file, AS_CONFIGURED, ranges, () -> true)) {
                assertThatThrownBy(() -> stream.readAt(10, ByteBuffer.allocate(1000)))
                        .isInstanceOf(BlockReadCall.TooShort.class);
            }
        }
        assertThat(first.requests).hasSize(2);
    }

    /** What the master says of the file after it was read. */
    private final class Said implements BlockFileReader.Asking {
        private final URIStatus file;
        private final boolean local;
        private int asked;
        private int located;
        private boolean moved;
        private boolean replaced;
        private boolean taken;

        Said(String ufsPath) {
            file = new URIStatus(file().getFileInfo().setUfsPath(ufsPath));
            local = ufsPath.startsWith("/");
        }

        @Override
        public BlockFileReader.Asked ask() {
            asked++;
            moved = false;
            return new BlockFileReader.Asked(file, clock.nanos(), 0);
        }

        @Override
        public boolean isRecent(BlockFileReader.Asked known) {
            return true;
        }

        @Override
        public boolean compare(String path) {
            assertThat(local).isFalse();
            return !moved;
        }

        @Override
        public boolean locate(String path) throws StoreException {
            located++;
            if (replaced) {
                throw new StoreException(Errno.ESTALE, "replaced", null);
            }
            return !moved;
        }

        @Override
        public boolean isTaken(String path) {
            return taken;
        }

        private BlockFileReader open() {
            BlockFileReader.Opening opening = new BlockFileReader.Opening() {
                @Override
                public RangeReader ranges(URIStatus status, OpenFilePOptions how) throws FileIncompleteException {
                    return new RangeReader(connections, watch, status, how);
                }

                @Override
                public FileStream stream(
                        URIStatus status, OpenFilePOptions how, RangeReader ranges, BooleanSupplier isThere) {
                    FileStream.Master places = id -> block((int) (id - CONTAINER), List.of());
                    return new FileStream(parts(places), status, how, ranges, isThere);
                }
            };
            return new BlockFileReader(opening, new OpenReaders(), ask(), this, false, clock);
        }
    }

    @Test
    void fileOfALocalUfs_isLocatedAfterABlockBegan_andIsStaleOnceItWasReplaced() throws Exception {
        Said said = new Said("/ufs/file");
        try (BlockFileReader reader = said.open()) {
            ByteBuffer into = ByteBuffer.allocate(1000);
            assertThat(reader.read(0, into)).isEqualTo(1000);
            isContent(into, 0);
            assertThat(reader.read(1000, into.clear())).isEqualTo(1000);
            assertThat(said.located).isEqualTo(1);
            said.replaced = true;
            assertThatThrownBy(() -> reader.read(BLOCK_BYTES, into.clear())).hasMessage("replaced");
            assertThatThrownBy(() -> reader.readOnce(BLOCK_BYTES, into.clear())).hasMessage("replaced");
        }
    }

    /** A worker keeps the stream that it opened by the file's id, so that a second reading could return another file's bytes, too. */
    @Test
    void fileOnHdfs_isOpenedWhereItIsByThen_andFailsIfOthersRenamedItMeanwhile() throws Exception {
        Said said = new Said("hdfs://name-node:8020/file");
        try (BlockFileReader reader = said.open()) {
            ByteBuffer into = ByteBuffer.allocate(1000);
            said.moved = true;
            assertThat(reader.read(0, into)).isEqualTo(1000);
            assertThat(said.asked).isEqualTo(2);
            said.moved = true;
            assertThat(reader.readOnce(BLOCK_BYTES, into.clear())).isEqualTo(1000);
            said.moved = true;
            said.taken = true;
            assertThatThrownBy(() -> reader.readOnce(BLOCK_BYTES, into.clear()))
                    .hasMessageContaining("alluxio.worker.ufs.instream.cache.enabled=false");
        }
    }

    /** Else it would keep another file's bytes as a block of this one. */
    @Test
    void blockOfAFileThatOthersRenamed_isNotFetchedFromWhereItWas() throws Exception {
        Said said = new Said("/ufs/file");
        try (BlockFileReader reader = said.open()) {
            said.moved = true;
            assertThat(reader.read(0, ByteBuffer.allocate(1000))).isEqualTo(1000);
        }
        Waiting.until("it is fetched from where it is", LIMIT, () -> !first.fetched.isEmpty());
        assertThat(first.fetched).hasSize(1);
        assertThat(first.requests).hasSize(2);
    }

    @Test
    void fileThatOthersRenamed_isReadAgainWhereItIs() throws Exception {
        Said said = new Said("/ufs/file");
        try (BlockFileReader reader = said.open()) {
            ByteBuffer into = ByteBuffer.allocate(1000);
            said.moved = true;
            assertThat(reader.read(0, into)).isEqualTo(1000);
            isContent(into, 0);
            said.moved = true;
            assertThat(reader.readOnce(BLOCK_BYTES, into.clear())).isEqualTo(1000);
            isContent(into, BLOCK_BYTES);
        }
        assertThat(said.asked).isEqualTo(3);
        assertThat(first.requests).hasSize(4);
    }

    @Test
    void workerThatEndsInTheMiddle_isLeftForAnother() throws Exception {
        master.workers.add(second.address());
        try (FileStream stream = open(file(first.address()), AS_CONFIGURED)) {
            readAt(stream, 0, 1000);
            first.close();
            readAt(stream, 1000, BYTES - 1000);
            assertThat(stream.hasReadUfs()).isTrue();
        }
        assertThat(second.requests).hasSize(2);
    }

    @Test
    void workerThatHangs_isLeftForAnotherWithoutAnInterrupt() throws Exception {
        master.workers.add(second.address());
        first.answer(request -> null);
        try (FileStream stream = open(file(first.address()), AS_CONFIGURED)) {
            FutureTask<Boolean> reads = new FutureTask<>(() -> {
                readAt(stream, 0, 1000);
                return !Thread.currentThread().isInterrupted();
            });
            new Thread(reads).start();
            Waiting.until("it is asked", LIMIT, () -> first.requests.size() == 1);
            Waiting.until("it is given up", LIMIT, () -> {
                clock.advance(Duration.ofNanos(WorkerHealth.SILENT_NANOS));
                List<Runnable> looks = new ArrayList<>();
                for (Runnable look = planned.poll(); look != null; look = planned.poll()) {
                    looks.add(look); // each may plan another
                }
                looks.forEach(Runnable::run);
                return reads.isDone();
            });
            assertThat(reads.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
        assertThat(second.requests).hasSize(1);
        Waiting.until("the worker is told", LIMIT, () -> first.cancelled.get() == 1);
    }

    /** That its program was killed says nothing of the worker, which is the only one that has the block. */
    @Test
    void workerWhoseReaderIsInterrupted_isAskedAgain() throws Exception {
        first.answer(request -> null);
        try (FileStream stream = open(file(first.address()), AS_CONFIGURED)) {
            FutureTask<Integer> reads = new FutureTask<>(() -> stream.readAt(0, ByteBuffer.allocateDirect(1000)));
            Thread reader = new Thread(reads);
            reader.start();
            Waiting.until("it is asked", LIMIT, () -> first.requests.size() == 1);
            reader.interrupt();
            assertThatThrownBy(() -> reads.get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .hasRootCauseInstanceOf(InterruptedException.class);
            first.answer(request -> Status.OK);
            readAt(stream, 0, 1000);
            assertThat(stream.hasReadUfs()).isFalse();
        }
    }

    @Test
    void fileThatIsShorterThanAlluxioBelieves_failsAtOnce() throws Exception {
        first.sendAtMost(1000);
        ByteBuffer into = ByteBuffer.allocateDirect(2000);
        try (FileStream stream = open(file(), AS_CONFIGURED)) {
            assertThatThrownBy(() -> stream.readAt(0, into)).isInstanceOf(BlockReadCall.TooShort.class);
        }
        assertThat(into.position()).isZero();
        assertThat(first.requests).hasSize(1);
    }

    @Test
    void blockThatWasReadFromTheUfs_isFetchedByItsWorkerUnlessItIsNotToBeKeptOrHasMoved() throws Exception {
        try (FileStream stream = open(file(), NOT_KEPT)) {
            readAt(stream, BLOCK_BYTES, BYTES - BLOCK_BYTES);
        }
        try (FileStream stream = open(file(), AS_CONFIGURED, false)) {
            readAt(stream, BLOCK_BYTES, BYTES - BLOCK_BYTES);
        }
        try (FileStream stream = open(file(), AS_CONFIGURED)) {
            readAt(stream, 0, 1000);
        }
        Waiting.until("it is to be fetched", LIMIT, () -> !first.fetched.isEmpty());
        CacheRequest request = first.fetched.get(0);
        assertThat(request.getBlockId()).isEqualTo(CONTAINER);
        assertThat(request.getLength()).isEqualTo(BLOCK_BYTES);
        assertThat(request.getOpenUfsBlockOptions().getUfsPath()).isEqualTo("/ufs/file");
        assertThat(request.getSourcePort()).isEqualTo(first.address().getDataPort());
        assertThat(request.getAsync()).isTrue();
        assertThat(first.fetched).hasSize(1);
        assertThat(first.requests.get(0).getOpenUfsBlockOptions().getNoCache()).isTrue();
    }
}
