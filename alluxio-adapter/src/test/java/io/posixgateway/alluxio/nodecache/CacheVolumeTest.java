package io.posixgateway.alluxio.nodecache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.TmpfsFolder;
import io.posixgateway.alluxio.store.ManualClock;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheVolumeTest {
    private static final int PART = 128 << 10;
    private static final int LONG = CacheKey.PIECE_BYTES + 3 * PART + 17;

    @TempDir(factory = TmpfsFolder.class)
    private Path folder = Path.of("");

    private final ManualClock clock = new ManualClock();
    private final TestHost host = new TestHost();
    private final TestBuffers buffers = new TestBuffers();
    private final byte[] content = new byte[LONG];
    private CacheVolume volume;
    private @Nullable Tenant tenant = new Tenant(3);

    /** Does later what a test says. */
    private static final class TestHost implements CacheVolume.Host {
        private final Queue<Runnable> work = new ArrayDeque<>();
        private @Nullable NodeCache cache;
        private boolean ready = true;
        private boolean atOnce;
        private boolean closed;

        @Override
        public NodeCache cache() {
            return Objects.requireNonNull(cache);
        }

        @Override
        public boolean isReady(boolean mayWait) {
            return ready;
        }

        @Override
        public boolean later(Runnable next) {
            boolean taken = !closed && work.add(next);
            if (atOnce) {
                work();
            }
            return taken;
        }

        @Override
        public void close() {
            closed = true;
        }

        void work() {
            while (!work.isEmpty()) {
                work.remove().run();
            }
        }
    }

    /** Memory that is used again, as that of the gateway is. */
    private static final class TestBuffers implements CacheVolume.Buffers {
        private final Queue<ByteBuffer> free = new ArrayDeque<>();
        private int left = 16;
        private int taken;

        @Override
        public @Nullable ByteBuffer take(int bytes) {
            if (left == 0) {
                return null;
            }
            left--;
            taken++;
            ByteBuffer before = free.poll();
            return before == null ? ByteBuffer.allocate(1 << 20) : before;
        }

        @Override
        public void give(ByteBuffer buffer) {
            assertThat(buffer.limit()).as("as it was taken").isEqualTo(buffer.capacity());
            left++;
            taken--;
            free.add(buffer);
        }
    }

    @BeforeEach
    void open() {
        new Random(1).nextBytes(content);
        openCache();
        volume = new CacheVolume(host, () -> tenant, buffers, clock);
    }

    private void openCache() {
        openCache(new LocalDisk(folder));
    }

    private void openCache(FolderDisk disk) {
        host.cache =
                new NodeCache(disk, new Outage("a folder", clock), 1 << 30, 1000, new OpenPieces(100), Runnable::run);
        host.cache.load();
    }

    private CachedFile file(long id) {
        return Objects.requireNonNull(volume.open(id, LONG, 1, true));
    }

    private void keep(CachedFile file, int from, int to) {
        file.keep(from, ByteBuffer.wrap(content, from, to - from));
    }

    private void keepAll(CachedFile file) {
        for (int at = 0; at < LONG; at += PART) {
            keep(file, at, Math.min(LONG, at + PART));
        }
    }

    private byte @Nullable [] read(CachedFile file, int from, int to) {
        ByteBuffer into = ByteBuffer.allocate(to - from);
        int count = file.read(from, into, true);
        assertThat(count).isEqualTo(count < 0 ? -1 : into.position());
        return count < 0 ? null : Arrays.copyOf(into.array(), count);
    }

    private byte[] expected(int from, int to) {
        return Arrays.copyOfRange(content, from, to);
    }

    @Test
    void fill_goesOnAfterAFailureOfTheDisk() throws Exception {
        FaultyDisk disk = new FaultyDisk(new LocalDisk(folder));
        openCache(disk);
        host.atOnce = true;
        CacheKey key = Objects.requireNonNull(volume.key(1, LONG, 1, true));
        CacheFill.Source source = (offset, into) -> into.put(content, (int) offset, into.remaining());
        try (CacheFill fill = volume.fill()) {
            disk.changesFail = true;
            assertThatThrownBy(() -> fill.fill(key, 0, source)).isInstanceOf(StoreException.class);
            disk.changesFail = false;
            clock.advance(Duration.ofSeconds(30));
            assertThat(fill.fill(key, 0, source)).isTrue();
            assertThat(fill.fill(key, 1, source)).isTrue();
        }
    }

    /** Who had it open before its disk changed it, too. */
    @Test
    void pieceThatIsDropped_isReadNoMore() throws Exception {
        CachedFile reader = file(1);
        keepAll(reader);
        host.work();
        assertThat(read(reader, 0, PART)).isEqualTo(expected(0, PART));
        Piece first = host.cache().pieces().stream()
                .filter(piece -> piece.index == 0)
                .findAny()
                .orElseThrow();
        try (FileChannel file = FileChannel.open(folder.resolve(first.name()), StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(new byte[] {(byte) ~content[7]}), 7);
        }
        host.cache().scrub(first, new LocalDisk(folder));
        assertThat(read(reader, 0, PART)).isNull();
        assertThat(read(reader, CacheKey.PIECE_BYTES, LONG)).isEqualTo(expected(CacheKey.PIECE_BYTES, LONG));
        reader.close();
        assertThat(volume.figures().pinned()).isZero();
    }

    @Test
    void partsInAnyOrder_makeWholePieces_thatAreReadAcrossTheirBorder() {
        CachedFile file = file(7);
        for (int at = LONG / PART * PART; at >= 0; at -= PART) {
            keep(file, at, Math.min(LONG, at + PART));
        }
        assertThat(read(file, 0, PART)).as("not written yet").isNull();
        host.work();

        int border = CacheKey.PIECE_BYTES;
        assertThat(read(file, border - 100, border + 100)).isEqualTo(expected(border - 100, border + 100));
        assertThat(read(file, LONG - 10, LONG + 10)).isEqualTo(expected(LONG - 10, LONG));
        assertThat(read(file, LONG, LONG + 10)).isEmpty();
        assertThat(buffers.taken).isZero();
        assertThat(volume.figures().hits()).isEqualTo(3);
    }

    @Test
    void pieceOfWhichAPartIsMissing_isNotThere() {
        CachedFile file = file(7);
        keep(file, 0, 3 * PART);
        keep(file, 3 * PART + 1, CacheKey.PIECE_BYTES);
        host.work();
        assertThat(read(file, 0, PART)).isNull();

        keep(file, 2 * PART, 4 * PART);
        host.work();
        assertThat(read(file, 0, CacheKey.PIECE_BYTES)).isEqualTo(expected(0, CacheKey.PIECE_BYTES));
    }

    /** Its memory must not be used again while it waits to be written. */
    @Test
    void wholePieceThatIsNotWrittenYet_isNeitherGivenUpNorOverwritten_whereMemoryIsShort() {
        buffers.left = 6;
        CachedFile file = file(7);
        keepAll(file);
        CachedFile other = file(8);
        new Random(2).nextBytes(content);
        keepAll(other);
        new Random(1).nextBytes(content);
        host.work();

        assertThat(read(file, 0, LONG)).isEqualTo(content);
        assertThat(buffers.taken).isLessThanOrEqualTo(1);
    }

    @Test
    void whereMemoryIsShort_whatWasNotReadForLongestIsGivenUp() {
        buffers.left = 6;
        CachedFile old = file(7);
        keep(old, 0, PART);
        keep(old, 1 << 20, (1 << 20) + PART);
        clock.advance(Duration.ofNanos(CacheVolume.IDLE_NANOS));

        CachedFile file = file(8);
        keepAll(file);
        host.work();

        assertThat(read(file, 0, LONG)).isEqualTo(content);
        assertThat(volume.figures().skipped()).isOne();
        keep(old, PART, 1 << 20);
        volume.close();
        assertThat(buffers.taken).isZero();
    }

    /** Each would take the memory of the one that goes on next. */
    @Test
    void moreReadersInSequenceThanMemoryIsFor_fillTheCache_asManyAsItIsFor() {
        CachedFile[] files = new CachedFile[8];
        Arrays.setAll(files, this::file);
        for (int at = 0; at < LONG; at += PART) {
            for (CachedFile file : files) {
                keep(file, at, Math.min(LONG, at + PART));
            }
            host.work();
        }
        assertThat(volume.figures().pieces())
                .as("4 long ones, and all of the short ones")
                .isEqualTo(4 + 8);
        assertThat(volume.figures().skipped()).isEqualTo(8 - 4);
        assertThat(buffers.taken).isZero();
    }

    /** Its beginning was left out, so it could not become whole. */
    @Test
    void restOfAPieceThatWasLeftOut_takesNoMemory() {
        buffers.left = 6;
        keep(file(7), 0, PART);
        CachedFile late = file(8);
        keep(late, 0, PART);
        buffers.left = 6;
        keep(late, PART, 2 * PART);
        assertThat(buffers.taken).isEqualTo(4);
        assertThat(volume.figures().skipped()).isOne();
        clock.advance(Duration.ofNanos(CacheVolume.IDLE_NANOS));
        keep(late, PART, 2 * PART);
        assertThat(buffers.taken).isEqualTo(8);
    }

    @Test
    void closedVolume_givesItsMemoryBack() {
        CachedFile file = file(7);
        keep(file, 0, PART);
        keepAll(file(8));
        volume.close();
        host.work();

        assertThat(buffers.taken).isZero();
    }

    @Test
    void reader_keepsItsPiecesFromEviction_untilItIsClosed() {
        CachedFile file = file(7);
        keepAll(file);
        host.work();
        assertThat(read(file, 0, 10)).isNotNull();

        Piece piece = Objects.requireNonNull(host.cache().pin(new CacheKey(new Tenant(3), 7, LONG, 1), 0));
        assertThat(piece.pins).isEqualTo(2);
        file.close();
        assertThat(piece.pins).isEqualTo(1);
        assertThat(read(file, 0, 10)).as("a late reader of a closed handle").isNull();
        assertThat(piece.pins).isEqualTo(1);
    }

    @Test
    void withoutAnIdentity_orTheFolder_nothingIsUsed() throws StoreException {
        assertThat(volume.open(7, LONG, 1, false)).as("nobody asked yet").isNull();
        assertThat(volume.open(7, LONG, 1, true)).isNotNull();
        assertThat(volume.open(7, LONG, 1, false)).isNotNull();
        assertThat(volume.open(7, 0, 1, true)).as("an empty file").isNull();
        volume.forgetTenant();
        tenant = null;
        assertThat(volume.open(7, LONG, 1, true)).isNull();
        tenant = new Tenant(4);
        host.ready = false;
        assertThat(volume.open(7, LONG, 1, true)).isNull();

        host.ready = true;
        CacheVolume away = new CacheVolume(
                host,
                () -> {
                    throw new StoreException(Errno.EIO, "away", null);
                },
                buffers,
                clock);
        assertThat(away.open(7, LONG, 1, true)).isNull();
    }

    @Test
    void fileOfOnePiece_isOpenedWhole_onceItIsVerified() throws Exception {
        CachedFile small = Objects.requireNonNull(volume.open(9, PART, 1, true));
        small.keep(0, ByteBuffer.wrap(content, 0, PART));
        keepAll(file(7));
        host.work();
        assertThat(volume.openWhole(7, LONG, 1)).as("a file of two pieces").isNull();
        assertThat(volume.openWhole(9, PART, 2)).as("another version").isNull();
        Objects.requireNonNull(volume.openWhole(9, PART, 1)).close();

        openCache();
        assertThat(volume.openWhole(9, PART, 1))
                .as("not verified by this process")
                .isNull();
        assertThat(read(Objects.requireNonNull(volume.open(9, PART, 1, true)), 0, 10))
                .isNotNull();
        try (WholeFile whole = Objects.requireNonNull(volume.openWhole(9, PART, 1))) {
            assertThat(whole.descriptor().valid()).isTrue();
        }
        assertThat(volume.figures().pinned()).isEqualTo(1);
    }

    @Test
    void volumeOfAnotherTenant_findsNothing() {
        keepAll(file(7));
        host.work();

        tenant = new Tenant(4);
        volume.forgetTenant();

        assertThat(read(file(7), 0, 10)).isNull();
    }
}
