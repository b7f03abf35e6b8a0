package io.posixgateway.alluxio.nodecache;

import static io.posixgateway.alluxio.nodecache.FillingProcess.content;
import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.TmpfsFolder;
import io.posixgateway.alluxio.store.ManualClock;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeCacheTest {
    private static final Tenant TENANT = new Tenant(5);
    private static final int SMALL = 10_000;

    @TempDir(factory = TmpfsFolder.class)
    private Path folder = Path.of("");

    private final ManualClock clock = new ManualClock();
    private OpenPieces openPieces = new OpenPieces(100);
    private FaultyDisk disk;
    private NodeCache cache;

    @BeforeEach
    void open() {
        disk = new FaultyDisk(new LocalDisk(folder));
        cache = opened(100 * SMALL);
    }

    private NodeCache opened(long limitBytes) {
        NodeCache made = new NodeCache(
                disk, new Outage(folder.toString(), clock), limitBytes, 1_000_000, openPieces, Runnable::run);
        made.load();
        return made;
    }

    private static CacheKey file(long id) {
        return new CacheKey(TENANT, id, SMALL, 1_000);
    }

    private static void keep(NodeCache cache, CacheKey file, int piece) {
        cache.keep(file, piece, List.of(ByteBuffer.wrap(content(file, piece))));
    }

    private static byte @Nullable [] read(NodeCache cache, CacheKey file, int index) throws IOException {
        Piece piece = cache.pin(file, index);
        if (piece == null) {
            return null;
        }
        try (FolderDisk.Opened opened = cache.open(piece)) {
            if (opened == null) {
                return null;
            }
            ByteBuffer into = ByteBuffer.allocate(2 * CacheKey.PIECE_BYTES);
            opened.read(0, into);
            return Arrays.copyOf(into.array(), into.position());
        } finally {
            cache.unpin(piece);
        }
    }

    private static Piece piece(NodeCache cache, CacheKey file) {
        return cache.pieces().stream()
                .filter(each -> each.file.equals(file))
                .findAny()
                .orElseThrow();
    }

    private void damage(CacheKey file) throws IOException {
        byte[] bytes = Files.readAllBytes(pathOf(file));
        bytes[SMALL / 2] ^= 1;
        Files.write(pathOf(file), bytes);
    }

    @Test
    void scrub_ofDamagedPiece_dropsIt_andItIsKeptAgain() throws IOException {
        keep(cache, file(1), 0);
        keep(cache, file(2), 0);
        damage(file(1));
        cache.pieces().forEach(piece -> cache.scrub(piece, disk));

        assertThat(cache.has(file(1), 0)).isFalse();
        assertThat(pathOf(file(1))).doesNotExist();
        assertThat(cache.has(file(2), 0)).isTrue();
        assertThat(cache.dropped()).isEqualTo(1);
        assertThat(cache.scrubbed()).isEqualTo(2);
        assertThat(disk.open).isZero();
        keep(cache, file(1), 0);
        assertThat(read(cache, file(1), 0)).isEqualTo(content(file(1), 0));
    }

    @Test
    void scrub_ofPieceThatIsLongerOrShorterOrMissing_dropsIt() throws IOException {
        for (int id = 1; id <= 3; id++) {
            keep(cache, file(id), 0);
        }
        Files.write(pathOf(file(1)), new byte[1], StandardOpenOption.APPEND);
        Files.write(pathOf(file(2)), Arrays.copyOf(content(file(2), 0), SMALL - 1));
        Files.delete(pathOf(file(3)));
        cache.pieces().forEach(piece -> cache.scrub(piece, disk));
        assertThat(cache.size()).isZero();
        assertThat(cache.dropped()).isEqualTo(3);
    }

    @Test
    void scrub_ofPieceThatIsNoLongerThere_leavesItsSuccessorAlone() throws IOException {
        keep(cache, file(1), 0);
        Piece before = piece(cache, file(1));
        damage(file(1));
        cache.scrub(before, disk);
        keep(cache, file(1), 0);
        Files.delete(pathOf(file(1)));
        cache.scrub(before, disk);
        assertThat(cache.has(file(1), 0)).isTrue();
        assertThat(cache.dropped()).isEqualTo(1);
    }

    @Test
    void scrub_onDiskThatFails_dropsWhatItCannotRead_andCountsTheFailure() {
        keep(cache, file(1), 0);
        disk.contentFails = true;
        cache.pieces().forEach(piece -> cache.scrub(piece, disk));
        assertThat(cache.size()).isZero();
        assertThat(cache.faults()).isEqualTo(1);
        assertThat(disk.open).isZero();
    }

    private Path pathOf(CacheKey file) {
        return folder.resolve(new Piece(file, 0, 0, false).name());
    }

    private long files(String below) throws IOException {
        if (Files.notExists(folder.resolve(below))) {
            return 0;
        }
        try (Stream<Path> all = Files.walk(folder.resolve(below))) {
            return all.filter(Files::isRegularFile).count();
        }
    }

    @Test
    void pieces_areFound_byTheirVersionAlone() throws IOException {
        CacheKey large = new CacheKey(TENANT, 7, CacheKey.PIECE_BYTES + 5L, 1_000);
        cache = opened(1 << 30);
        keep(cache, large, 0);
        keep(cache, large, 1);

        assertThat(read(cache, large, 0)).isEqualTo(content(large, 0));
        assertThat(read(cache, large, 1)).isEqualTo(content(large, 1)).hasSize(5);
        assertThat(read(cache, new CacheKey(TENANT, 8, large.lengthBytes(), 1_000), 1))
                .isNull();
        assertThat(read(cache, new CacheKey(TENANT, 7, large.lengthBytes() + 1, 1_000), 1))
                .isNull();
        assertThat(read(cache, new CacheKey(TENANT, 7, large.lengthBytes(), 1_001), 1))
                .isNull();
        assertThat(read(cache, new CacheKey(new Tenant(6), 7, large.lengthBytes(), 1_000), 1))
                .isNull();
    }

    @Test
    void nextProcess_findsPieces_andNoneThatWereEvicted() throws IOException {
        for (int i = 1; i <= 150; i++) {
            keep(cache, file(i), 0);
        }
        assertThat(cache.bytes()).isLessThanOrEqualTo(100 * SMALL);
        assertThat(cache.evicted()).isEqualTo(50);

        NodeCache next = opened(100 * SMALL);

        assertThat(next.size()).isEqualTo(100);
        assertThat(files("pieces")).isEqualTo(100);
        for (int i = 1; i <= 150; i++) {
            byte[] found = read(next, file(i), 0);
            assertThat(found).isEqualTo(read(cache, file(i), 0));
            assertThat(found == null ? content(file(i), 0) : found).isEqualTo(content(file(i), 0));
        }
        assertThat(next.dropped()).isZero();
    }

    @Test
    void damagedPiece_isDroppedAtItsFirstUse_andKeptAgain() throws IOException {
        keep(cache, file(1), 0);
        keep(cache, file(2), 0);
        byte[] damaged = content(file(1), 0);
        damaged[SMALL / 2]++;
        Files.write(pathOf(file(1)), damaged);

        NodeCache next = opened(100 * SMALL);

        assertThat(next.size()).isEqualTo(2);
        assertThat(read(next, file(1), 0)).isNull();
        assertThat(next.dropped()).isEqualTo(1);
        assertThat(next.size()).isEqualTo(1);
        assertThat(pathOf(file(1))).doesNotExist();
        assertThat(read(next, file(2), 0)).isEqualTo(content(file(2), 0));
        keep(next, file(1), 0);
        assertThat(read(next, file(1), 0)).isEqualTo(content(file(1), 0));
    }

    /** Who reads does not wait for what is being written. */
    @Test
    void droppedPiece_isRemovedInTheBackground_unlessItIsThereAgain() throws IOException {
        keep(cache, file(1), 0);
        keep(cache, file(2), 0);
        for (int i = 1; i <= 2; i++) {
            Files.write(pathOf(file(i)), new byte[SMALL]);
        }
        List<Runnable> later = new ArrayList<>();
        cache = new NodeCache(
                disk, new Outage(folder.toString(), clock), 100 * SMALL, 1_000_000, openPieces, later::add);
        cache.load();

        assertThat(read(cache, file(1), 0)).isNull();
        assertThat(read(cache, file(2), 0)).isNull();
        assertThat(pathOf(file(1))).exists();
        keep(cache, file(2), 0);
        while (!later.isEmpty()) {
            later.remove(0).run();
        }

        assertThat(pathOf(file(1))).doesNotExist();
        assertThat(read(cache, file(2), 0)).isEqualTo(content(file(2), 0));
    }

    @Test
    void pieceOfAnEarlierProcess_isVerifiedWhenItIsOpenedFirst() {
        keep(cache, file(1), 0);
        assertThat(cache.hasVerified(file(1), 0)).isTrue();
        NodeCache next = opened(100 * SMALL);
        Piece piece = Objects.requireNonNull(next.pin(file(1), 0));

        assertThat(next.hasVerified(file(1), 0)).isFalse();
        assertThat(next.open(piece)).isNotNull();
        assertThat(next.hasVerified(file(1), 0)).isTrue();
    }

    @Test
    void damagedIndex_losesNoOtherRecords_andAnUnknownOneEmptiesTheFolder() throws IOException {
        keep(cache, file(1), 0);
        keep(cache, file(2), 0);
        Path index = folder.resolve(CacheIndex.FILE);
        byte[] bytes = Files.readAllBytes(index);
        bytes[bytes.length - CacheIndex.RECORD_BYTES - 1]++;
        Files.write(index, bytes);
        Files.write(index, new byte[] {1, 2, 3}, StandardOpenOption.APPEND);

        NodeCache next = opened(100 * SMALL);
        assertThat(next.size()).isEqualTo(1);
        assertThat(read(next, file(2), 0)).isEqualTo(content(file(2), 0));

        Files.write(index, new byte[100]);
        assertThat(opened(100 * SMALL).size()).isZero();
        assertThat(files("pieces") + files("trash")).isZero();
    }

    /** A million takes 0.3 s of a warm process, 1.1 s of one that has just started, and a test longer to make them. */
    @Test
    void indexOfManyPieces_isRead() throws IOException {
        List<Piece> many = new ArrayList<>();
        for (int i = 1; i <= 100_000; i++) {
            many.add(new Piece(file(i), 0, i, true));
        }
        CacheIndex index = new CacheIndex(disk);
        index.rewrite(many);
        index.remove(many.subList(0, 20));
        index.add(new Piece(file(200_000), 0, 5, true));

        cache = opened(1L << 40);

        assertThat(cache.size()).isEqualTo(100_000 - 20 + 1);
        assertThat(cache.bytes()).isEqualTo((long) cache.size() * SMALL);
        assertThat(cache.has(file(20), 0)).isFalse();
        assertThat(cache.has(file(21), 0) && cache.has(file(100_000), 0) && cache.has(file(200_000), 0))
                .isTrue();
    }

    @Test
    void index_staysShort_howeverMuchIsReplaced() throws IOException {
        cache = new NodeCache(disk, new Outage("a folder", clock), 1 << 20, 50, openPieces, Runnable::run);
        cache.load();
        for (int i = 1; i <= 7_000; i++) {
            cache.keep(new CacheKey(TENANT, i, 1, 0), 0, List.of(ByteBuffer.allocate(1)));
        }

        assertThat(Files.size(folder.resolve(CacheIndex.FILE)))
                .isLessThan((1 << 20) + 2L * CacheIndex.RECORD_BYTES * cache.size());
    }

    @Test
    void openPieces_stay_andNothingIsKeptBesideThemBeyondTheLimit() {
        List<Piece> pinned = new ArrayList<>();
        for (int i = 1; i <= 100; i++) {
            keep(cache, file(i), 0);
            pinned.add(cache.pin(file(i), 0));
        }

        keep(cache, file(1000), 0);
        assertThat(cache.has(file(1000), 0)).isFalse();
        assertThat(cache.bytes()).isEqualTo(100 * SMALL);

        cache.unpin(pinned.get(50));
        keep(cache, file(1000), 0);
        assertThat(cache.has(file(1000), 0)).isTrue();
        assertThat(cache.has(file(51), 0)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.ENOSPC, Errno.EROFS, Errno.EIO})
    void diskThatTakesNothing_isTriedAgainLater_andWhatIsThereIsRead(int errno) throws IOException {
        keep(cache, file(1), 0);
        disk.failure = () -> FaultyDisk.ofErrno(errno);
        disk.changesFail = true;

        keep(cache, file(2), 0);
        assertThat(cache.mayKeep()).isFalse();
        assertThat(cache.faults()).isPositive();
        long faults = cache.faults();
        keep(cache, file(3), 0);
        assertThat(cache.faults()).isEqualTo(faults);
        assertThat(cache.has(file(2), 0) || cache.has(file(3), 0)).isFalse();

        disk.changesFail = false;
        clock.advance(Duration.ofSeconds(31));
        keep(cache, file(2), 0);
        assertThat(read(cache, file(2), 0)).isEqualTo(content(file(2), 0));
        assertThat(files("tmp")).isZero();
    }

    @Test
    void pieceThatDoesNotReachTheDisk_isNotKept() throws IOException {
        keep(cache, file(1), 0);
        disk.syncsFail = true;

        keep(cache, file(2), 0);

        assertThat(cache.has(file(2), 0)).isFalse();
        assertThat(cache.faults()).isEqualTo(1);
        assertThat(files("tmp")).isZero();
        assertThat(read(cache, file(1), 0)).isEqualTo(content(file(1), 0));
    }

    /** The spool may be on the same disk. */
    @Test
    void diskThatOthersFill_leavesRoomForThem() {
        disk.totalBytes = 400 * SMALL;
        AtomicLong others = new AtomicLong(250 * SMALL);
        disk.usableBytes = () -> disk.totalBytes - others.get() - cache.bytes();
        for (int i = 1; i <= 100; i++) {
            keep(cache, file(i), 0);
        }
        assertThat(disk.usableBytes()).isEqualTo(disk.totalBytes / 4);
        assertThat(cache.size()).isEqualTo(50);

        others.addAndGet(20 * SMALL);
        keep(cache, file(101), 0);
        assertThat(cache.size()).isEqualTo(30);
        assertThat(cache.has(file(101), 0)).isTrue();

        others.set(390 * SMALL);
        keep(cache, file(102), 0);
        assertThat(cache.size()).isZero();
        assertThat(cache.faults()).isZero();
    }

    @Test
    void largeDisk_keepsATwentiethFree() {
        disk.totalBytes = 1L << 40;
        long reserve = disk.totalBytes / 20;
        AtomicLong usable = new AtomicLong(reserve + SMALL - 1);
        disk.usableBytes = usable::get;
        keep(cache, file(1), 0);
        assertThat(cache.has(file(1), 0)).isFalse();

        usable.incrementAndGet();
        keep(cache, file(1), 0);
        assertThat(cache.has(file(1), 0)).isTrue();
    }

    @Test
    void fullDisk_makesTheCacheSmaller() {
        for (int i = 1; i <= 64; i++) {
            keep(cache, file(i), 0);
        }
        disk.failure = () -> FaultyDisk.ofErrno(Errno.ENOSPC);
        disk.changesLeft = 0;

        keep(cache, file(100), 0);

        assertThat(cache.size()).isEqualTo(60);
    }

    @Test
    void readThatFails_isAMiss_andThePieceIsDropped() throws IOException {
        keep(cache, file(1), 0);
        disk.readsFail = true;

        assertThat(read(cache, file(1), 0)).isNull();

        assertThat(cache.faults()).isEqualTo(1);
        assertThat(cache.has(file(1), 0)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.ENFILE, Errno.EMFILE, Errno.ENOMEM})
    void processThatLacksDescriptors_losesNoPiece(int errno) throws IOException {
        keep(cache, file(1), 0);
        disk.failure = () -> new FileSystemException(
                "a piece", null, FaultyDisk.ofErrno(errno).getMessage());
        disk.readsFail = true;
        assertThat(read(cache, file(1), 0)).isNull();

        disk.readsFail = false;
        assertThat(read(cache, file(1), 0)).isEqualTo(content(file(1), 0));
        assertThat(cache.mayKeep()).isTrue();
        assertThat(cache.faults()).isZero();
    }

    @Test
    void openPieces_haveALimit_beyondWhichReadsAreMisses() throws IOException {
        openPieces = new OpenPieces(1);
        cache = opened(100 * SMALL);
        keep(cache, file(1), 0);
        Piece piece = Objects.requireNonNull(cache.pin(file(1), 0));
        FolderDisk.Opened one = Objects.requireNonNull(cache.open(piece));
        assertThat(read(cache, file(1), 0)).isNull();

        cache.close(piece, one);
        one.close();
        assertThat(read(cache, file(1), 0)).isEqualTo(content(file(1), 0));
        assertThat(read(cache, file(1), 0)).isEqualTo(content(file(1), 0));
    }

    @Test
    void limitOfDescriptors_isThatOfTheProcess() throws IOException {
        Path limits = Files.writeString(
                folder.resolve("limits"),
                "Max processes  10  20  processes\nMax open files            4096    8192   files\n");
        assertThat(OpenPieces.descriptors(limits)).isEqualTo(4096);
        assertThat(OpenPieces.descriptors(folder.resolve("none"))).isEqualTo(1024);
        assertThat(OpenPieces.descriptors(Path.of("/proc/self/limits"))).isPositive();
    }

    /** What was appended to the index may not have reached the disk when the node ended. */
    @Test
    void pieceThatNoIndexNames_isRemoved_unlessItIsYoungerThanTheLoad() throws IOException {
        for (int i = 1; i <= 3; i++) {
            keep(cache, file(i), 0);
        }
        Path index = folder.resolve(CacheIndex.FILE);
        byte[] records = Files.readAllBytes(index);
        Files.write(index, Arrays.copyOf(records, records.length - 2 * CacheIndex.RECORD_BYTES));
        FileTime before = FileTime.fromMillis(System.currentTimeMillis() - 10_000);
        Files.setLastModifiedTime(pathOf(file(1)), before);
        Files.setLastModifiedTime(pathOf(file(2)), before);
        Files.setLastModifiedTime(pathOf(file(3)), FileTime.fromMillis(System.currentTimeMillis() + 100_000));

        NodeCache next = opened(100 * SMALL);

        assertThat(pathOf(file(2))).doesNotExist();
        assertThat(pathOf(file(3))).exists();
        assertThat(read(next, file(1), 0)).isEqualTo(content(file(1), 0));
        assertThat(next.faults()).isZero();
    }

    @Test
    void pieceThatCannotBeVerified_isNotLeftOpen() throws IOException {
        keep(cache, file(1), 0);
        NodeCache next = opened(100 * SMALL);
        disk.contentFails = true;

        assertThat(read(next, file(1), 0)).isNull();

        assertThat(disk.open).isZero();
    }

    @Test
    void removedFolder_isAMiss_andNotMadeAnew() throws IOException {
        keep(cache, file(1), 0);
        new LocalDisk(folder).empty("pieces");
        new LocalDisk(folder).empty("tmp");
        Files.delete(folder.resolve("pieces"));
        Files.delete(folder.resolve("tmp"));
        Files.delete(folder.resolve("trash"));
        Files.delete(folder.resolve(CacheIndex.FILE));
        Files.delete(folder);

        assertThat(opened(100 * SMALL).size()).isZero();
        assertThat(read(cache, file(1), 0)).isNull();
        keep(cache, file(2), 0);

        assertThat(cache.has(file(2), 0)).isFalse();
        assertThat(folder).doesNotExist();
        Files.createDirectory(folder);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void processThatEndsAtAnyStep_leavesNothingTorn_andNoFileThatTheNextOneDoesNotKnow(boolean tears)
            throws IOException {
        int step = 0;
        boolean ended = true;
        while (ended) {
            new LocalDisk(folder).empty("pieces");
            Files.deleteIfExists(folder.resolve(CacheIndex.FILE));
            disk = new FaultyDisk(new LocalDisk(folder));
            NodeCache first = opened(3 * SMALL);
            disk.changesLeft = step++;
            disk.tears = tears;
            for (int i = 1; i <= 6; i++) {
                keep(first, file(i), 0);
            }
            ended = disk.changesFail;

            disk = new FaultyDisk(new LocalDisk(folder));
            NodeCache next = opened(3 * SMALL);
            assertThat(files("pieces")).isLessThanOrEqualTo(next.size());
            for (int i = 1; i <= 6; i++) {
                byte[] found = read(next, file(i), 0);
                assertThat(found == null ? content(file(i), 0) : found).isEqualTo(content(file(i), 0));
            }
            assertThat(files("tmp") + files("trash")).isZero();
        }
        assertThat(step).isGreaterThan(10);
    }
}
