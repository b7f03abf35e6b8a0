package io.posixgateway.alluxio.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.FileDetails;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.alluxio.store.WriteType;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Writing new files and reading them. */
abstract class ContentContract extends ContractCase {
    private static final int MIB = 1 << 20;
    /** Two blocks, the second one not whole. */
    private static final int LARGE_BYTES = 20 * MIB;

    ContentContract(StoreFixture fixture) throws StoreException {
        super(fixture);
    }

    @Test
    void create_takesTheNameAtOnce_andOthersSeeAnEmptyIncompleteFile() throws Exception {
        Store other = fixture.client(WriteType.CACHE_THROUGH, 1);
        StoreWriter sink = store.create(at("file"), 0640, Map.of("user.a", bytes("1")), UUID.randomUUID());
        put(sink, "content");
        FileStatus begun = other.status(at("file"));
        assertThat(begun.id()).isEqualTo(sink.fileId());
        assertThat(begun.complete()).isFalse();
        assertThat(begun.lengthBytes()).isZero();
        assertThat(begun.mode()).isEqualTo(0640);
        assertThat(begun.xattrs()).containsOnlyKeys("user.a");
        assertThat(other.pathOf(sink.fileId())).isEqualTo(at("file"));
        assertFails(Errno.EEXIST, () -> begin(other, at("file")));
        assertThat(fixture.listOutside(at(""))).isEmpty();
        sink.complete();
        FileStatus whole = other.status(at("file"));
        assertThat(whole.complete()).isTrue();
        assertThat(whole.lengthBytes()).isEqualTo(7);
        assertThat(outside(at("file"))).isEqualTo("content");
    }

    @Test
    void complete_withoutAWrite_makesAnEmptyFile() throws Exception {
        begin(store, at("file")).complete();
        assertThat(store.status(at("file")).complete()).isTrue();
        assertThat(read(at("file"))).isEmpty();
        assertThat(fixture.listOutside(at(""))).containsExactly("file");
        assertThat(store.details(at("file")).inAlluxioPercent()).isEqualTo(100);
    }

    @Test
    void complete_twice_isNoFailure() throws Exception {
        StoreWriter sink = begin(store, at("file"));
        put(sink, "x");
        sink.complete();
        sink.complete();
        sink.cancel();
        assertThat(read(at("file"))).isEqualTo("x");
        assertThat(sink.isQuiescent()).isTrue();
    }

    @Test
    void cancel_leavesTheIncompleteFile() throws Exception {
        StoreWriter sink = begin(store, at("file"));
        put(sink, "x");
        sink.cancel();
        sink.complete();
        assertThat(sink.isQuiescent()).isTrue();
        assertThat(store.status(at("file")).complete()).isFalse();
        assertThat(fixture.listOutside(at(""))).isEmpty();
        store.delete(at("file"));
        assertThat(list(at(""))).isEmpty();
    }

    @Test
    void sink_isAtThePathWhereItWasMade() throws Exception {
        StoreWriter sink = begin(store, at("file"));
        assertThat(sink.isAt(at("file"))).isTrue();
        assertThat(sink.isAt(at("other"))).isFalse();
    }

    @ParameterizedTest
    @EnumSource(names = "ASYNC_THROUGH", mode = EnumSource.Mode.EXCLUDE)
    void writeType_decidesWhereTheFileIs(WriteType type) throws Exception {
        Store by = fixture.client(type, 0);
        write(by, at("file"), "content");
        boolean persists = type != WriteType.MUST_CACHE;
        boolean caches = type != WriteType.THROUGH;
        assertThat(by.persists()).isEqualTo(persists);
        assertThat(outside(at("file"))).isEqualTo(persists ? "content" : "");
        FileDetails details = by.details(at("file"));
        assertThat(details.inAlluxioPercent()).isEqualTo(caches ? 100 : 0);
        assertThat(details.blocks()).hasSize(1);
        assertThat(details.blocks().get(0).places()).hasSize(caches ? 1 : 0);
        assertThat(details.ufsPath()).endsWith(at("file"));
        assertThat(read(at("file"))).isEqualTo("content");
    }

    @Test
    void directoryOfWorkersAlone_isNotInTheUfs() throws Exception {
        Store cached = fixture.client(WriteType.MUST_CACHE, 0);
        cached.makeDirectory(at("cached"), 0755, Map.of());
        assertThat(fixture.listOutside(at(""))).isEmpty();
        write(store, at("cached/file"), "x");
        assertThat(outside(at("cached/file"))).isEqualTo("x");
    }

    private static byte[] large() {
        byte[] content = new byte[LARGE_BYTES];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (i / 1000);
        }
        return content;
    }

    private long writeLarge(byte[] content) throws StoreException {
        StoreWriter sink = begin(store, at("large"));
        sink.expect(content.length);
        sink.write(content, 0, 3 * MIB);
        sink.write(content, 3 * MIB, content.length - 3 * MIB);
        sink.complete();
        return sink.fileId();
    }

    @Test
    void largeFile_isInBlocks() throws Exception {
        long id = writeLarge(large());
        FileDetails details = store.details(at("large"));
        long block = details.status().blockBytes();
        assertThat(block).isEqualTo(16 * MIB);
        assertThat(details.blocks())
                .extracting(FileDetails.Block::lengthBytes)
                .containsExactly(block, LARGE_BYTES - block);
        assertThat(details.blocks())
                .extracting(FileDetails.Block::id)
                .containsExactly(id & -1L << 24, (id & -1L << 24) + 1);
    }

    @Test
    void read_overBlocks_givesWhatIsThere() throws Exception {
        byte[] content = large();
        long id = writeLarge(content);
        try (StoreReader source = store.open(at("large"), id)) {
            ByteBuffer into = ByteBuffer.allocate(2 * MIB);
            assertThat(source.read(15 * MIB, into)).isEqualTo(2 * MIB);
            assertThat(into.array()).isEqualTo(Arrays.copyOfRange(content, 15 * MIB, 17 * MIB));
            into.clear();
            assertThat(source.read(19 * MIB, into)).isEqualTo(MIB);
            into.clear();
            assertThat(source.readOnce(15 * MIB + 1, into)).isEqualTo(2 * MIB);
            assertThat(into.array()).isEqualTo(Arrays.copyOfRange(content, 15 * MIB + 1, 17 * MIB + 1));
        }
    }

    @Test
    void read_pastTheEnd_givesNothing() throws Exception {
        long id = write(at("file"), "content");
        try (StoreReader source = store.open(at("file"), id)) {
            assertThat(source.read(7, ByteBuffer.allocate(3))).isZero();
            assertThat(source.read(70, ByteBuffer.allocate(3))).isZero();
            assertThat(source.read(5, ByteBuffer.allocate(3))).isEqualTo(2);
            assertThat(source.readOnce(5, ByteBuffer.allocate(3))).isEqualTo(2);
        }
    }

    @Test
    void readRange_endsAtABlock() throws Exception {
        byte[] content = large();
        long id = writeLarge(content);
        try (StoreReader source = store.open(at("large"), id)) {
            source.read(0, ByteBuffer.allocate(10));
            assertThat(source.rangeAvailable(0)).isEqualTo(16 * MIB);
            assertThat(source.rangeAvailable(15 * MIB)).isEqualTo(MIB);
            assertThat(source.rangeAvailable(50 * MIB)).isZero();
            ByteBuffer into = ByteBuffer.allocate(2 * MIB);
            assertThat(source.readRange(15 * MIB, StoreReader.ScatterTarget.of(into)))
                    .isEqualTo(MIB);
            assertThat(Arrays.copyOf(into.array(), MIB)).isEqualTo(Arrays.copyOfRange(content, 15 * MIB, 16 * MIB));
            assertThat(source.readRange(50 * MIB, StoreReader.ScatterTarget.of(into)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void readRange_ofWhatNoWorkerHas_isAnotherWay() throws Exception {
        Store through = fixture.client(WriteType.THROUGH, 0);
        long id = write(through, at("file"), "content");
        try (StoreReader source = through.open(at("file"), id)) {
            assertThat(source.read(0, ByteBuffer.allocate(3))).isEqualTo(3);
            assertThat(source.rangeAvailable(0)).isZero();
            assertThat(source.readRange(0, StoreReader.ScatterTarget.of(ByteBuffer.allocate(3))))
                    .isEqualTo(-1);
        }
    }

    @Test
    void ufsBytes_countsWhatNoWorkerHad() throws Exception {
        Store through = fixture.client(WriteType.THROUGH, 0);
        long before = through.ufsBytes();
        long id = write(through, at("file"), "content");
        try (StoreReader source = through.open(at("file"), id)) {
            source.read(0, ByteBuffer.allocate(7));
        }
        assertThat(through.ufsBytes() - before).isEqualTo(7);
    }

    @Test
    void openToKeep_hasWorkersKeepIt() throws Exception {
        Store through = fixture.client(WriteType.THROUGH, 0);
        long id = write(through, at("file"), "content");
        try (StoreReader source = through.openToKeep(at("file"), id)) {
            source.read(0, ByteBuffer.allocate(7));
        }
        awaitCached();
    }

    /** A worker may still be at it. */
    private void awaitCached() throws Exception {
        Waiting.until(
                "it is cached",
                Duration.ofSeconds(60),
                () -> store.details(at("file")).inAlluxioPercent() == 100);
    }

    @Test
    void open_ofYoungFile_hasWorkersKeepNothing() throws Exception {
        Store through = fixture.client(WriteType.THROUGH, 0);
        long id = write(through, at("file"), "content");
        try (StoreReader source = through.open(at("file"), id)) {
            source.read(0, ByteBuffer.allocate(7));
        }
        assertThat(store.details(at("file")).inAlluxioPercent()).isZero();
    }

    @Test
    void open_ofIncompleteFile_failsWhenItIsRead() throws Exception {
        StoreWriter sink = begin(store, at("file"));
        put(sink, "x");
        try (StoreReader source = store.open(at("file"), sink.fileId())) {
            assertFails(Errno.EIO, () -> source.read(0, ByteBuffer.allocate(1)));
        }
        sink.cancel();
    }

    @Test
    void open_findsAFileThatWasRenamed() throws Exception {
        long id = write(at("file"), "content");
        store.rename(at("file"), at("renamed"), false);
        write(at("file"), "another");
        assertThat(read(at("file"), id, 10)).isEqualTo("content");
    }

    @Test
    void open_ofWhatIsGone_isEstale() throws Exception {
        long id = write(at("file"), "content");
        store.delete(at("file"));
        assertFails(Errno.ESTALE, () -> store.open(at("file"), id).read(0, ByteBuffer.allocate(1)));
        write(at("file"), "another");
        assertFails(Errno.ESTALE, () -> store.openToKeep(at("file"), id));
    }

    /** A worker reads what it lacks by the path, whosever file is there. VersionCheck. */
    @Test
    void read_fromTheUfs_whenAnotherClientReplacedTheFile_isEstale() throws Exception {
        Store through = fixture.client(WriteType.THROUGH, 0);
        Store other = fixture.client(WriteType.THROUGH, 1);
        ByteBuffer into = ByteBuffer.allocate(MIB);
        try (StoreReader source = through.open(at("large"), writeFilled(through, at("large"), 'o'))) {
            assertThat(source.read(0, into)).isEqualTo(MIB);
            writeFilled(other, at("new"), 'n');
            other.rename(at("new"), at("large"), true);
            assertFails(Errno.ESTALE, () -> source.read(16 * MIB, into.clear()));
            assertFails(Errno.ESTALE, () -> source.readOnce(16 * MIB, into.clear()));
        }
        try (StoreReader source =
                through.open(at("large"), through.status(at("large")).id())) {
            assertThat(source.read(16 * MIB, into.clear())).isEqualTo(MIB);
            assertThat(into.array()).containsOnly('n');
        }
    }

    private static long writeFilled(Store by, String path, char with) throws StoreException {
        byte[] content = new byte[LARGE_BYTES];
        Arrays.fill(content, (byte) with);
        StoreWriter sink = begin(by, path);
        sink.expect(content.length);
        sink.write(content, 0, content.length);
        sink.complete();
        return sink.fileId();
    }

    @Test
    void capacity_isThatOfTheWorkers() throws Exception {
        write(at("file"), "content");
        Store.Capacity capacity = store.capacity();
        assertThat(capacity.capacityBytes()).isGreaterThan(100L * MIB);
        assertThat(capacity.usedBytes()).isBetween(0L, capacity.capacityBytes());
    }

    @Test
    void details_ofDirectory_haveNoBlocks() throws Exception {
        FileDetails details = store.details(at(""));
        assertThat(details.status().directory()).isTrue();
        assertThat(details.blocks()).isEmpty();
        assertFails(Errno.ENOENT, () -> store.details(at("missing")));
    }

    @Test
    void blocksOfTheWorkerHere_areFiles() throws Exception {
        long id = write(at("file"), "content");
        long block = id & -1L << 24;
        Path folder = Objects.requireNonNull(store.localBlockFolder(at("file")));
        assertThat(store.localBlockFolder(block)).isEqualTo(folder);
        assertThat(folder.resolve(Long.toString(block))).hasContent("content");
        assertThat(store.use(List.of(block, 4711L))).isEqualTo(1);
        assertThat(store.details(at("file")).blocks().get(0).places())
                .singleElement()
                .matches(FileDetails.Place::here);
    }

    @Test
    void use_ofBlocksThatAreNotHere_isNone() throws Exception {
        assertThat(store.use(List.of(4711L))).isZero();
        assertThat(store.localBlockFolder(4711L)).isNull();
        begin(store, at("empty")).complete();
        assertThat(store.localBlockFolder(at("empty"))).isNull();
    }

    @Test
    void connect_makesAConnection() throws Exception {
        store.connect();
        assertThat(store.mostCalls()).isPositive();
        assertThat(store.cluster()).isNotEmpty();
    }
}
