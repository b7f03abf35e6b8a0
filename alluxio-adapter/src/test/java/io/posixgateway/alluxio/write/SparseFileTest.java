package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.DiskFolder;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseRequests.Opened;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreFaults.Fault;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.time.Clock;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Holes and reserved room of files that are being changed: what they take, what is read there, and what reaches Alluxio. */
class SparseFileTest {
    private static final int MIB = 1 << 20;
    private static final int PUNCH = Stat.FALLOC_PUNCH_HOLE | Stat.FALLOC_KEEP_SIZE;
    private static final int COLLAPSE = 8;
    private static final long NEVER = 1L << 45;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private MemoryMount mount(String spoolSize) {
        return MemoryMount.of(cluster.connect()).with("spool_size", spoolSize).open();
    }

    private static byte[] filled(int count) {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, (byte) 'x');
        return bytes;
    }

    private static void fails(int errno, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(errno));
    }

    private static long spoolBytes(MemoryMount mount) {
        return mount.fileSystem().counts().spoolBytes();
    }

    private static void fallocate(MemoryMount mount, OpenFile file, int mode, long offset, long bytes) {
        mount.requests().fallocate(file.opened(), mode, offset, bytes);
    }

    private byte[] committed(String path) {
        return Objects.requireNonNull(cluster.ufs().read(path));
    }

    @Test
    void write_farBehindTheEnd_takesNoRoomForTheHole() {
        try (MemoryMount mount = mount("1G")) {
            try (OpenFile file = mount.create("/f")) {
                file.write(0, filled(10));
                file.write(64 * MIB, filled(10));
                assertThat(spoolBytes(mount)).isBetween(20L, 3 * 4096L);
                file.write(32 * MIB, filled(MIB));
                assertThat(spoolBytes(mount)).isBetween(MIB + 20L, MIB + 3 * 4096L);
                file.truncate(32 * MIB + MIB);
                assertThat(spoolBytes(mount)).isBetween(MIB + 10L, MIB + 2 * 4096L);
                file.truncate(48 * MIB);
                assertThat(spoolBytes(mount)).isBetween(MIB + 10L, MIB + 3 * 4096L);
            }
            assertThat(spoolBytes(mount)).isZero();
            byte[] content = new byte[48 * MIB];
            System.arraycopy(filled(10), 0, content, 0, 10);
            System.arraycopy(filled(MIB), 0, content, 32 * MIB, MIB);
            assertThat(committed("/f")).isEqualTo(content);
        }
    }

    @Test
    void spool_ofAnEarlierProcess_takesWhatItHolds(@TempDir Path folder) throws Exception {
        SpoolFolder before = new SpoolFolder(folder, 1 << 30, 0, true, Clock.system());
        Spool spool = before.make();
        spool.write(64 * MIB, ByteBuffer.wrap(filled(10)));
        spool.close(true);
        assertThat(spool.file()).hasSize(64 * MIB + 10);
        SpoolFolder inherits = new SpoolFolder(folder, 1 << 30, 0, true, Clock.system());
        inherits.records();
        assertThat(inherits.usedBytes()).isBetween(10L, 2 * 4096L);
        SpoolFolder goesOn = new SpoolFolder(folder, 1 << 30, 0, true, Clock.system());
        Spool opened = goesOn.open(spool.file());
        assertThat(opened.lengthBytes()).isEqualTo(64 * MIB + 10);
        assertThat(goesOn.usedBytes()).isBetween(10L, 2 * 4096L);
        opened.write(MIB, ByteBuffer.wrap(filled(MIB)));
        assertThat(goesOn.usedBytes()).isBetween(MIB + 10L, MIB + 2 * 4096L);
        opened.close(false);
        assertThat(goesOn.usedBytes()).isZero();
    }

    /** Alluxio would get zeros for all of it. */
    @Test
    void hole_thatMakesTheFileLongerThanTheSpoolMayBe_isRefused() {
        try (MemoryMount mount = mount("4M")) {
            try (OpenFile file = mount.create("/f")) {
                file.write(0, filled(10));
                fails(Errno.EFBIG, () -> file.truncate(5 * MIB));
                fails(Errno.EFBIG, () -> file.write(5 * MIB, filled(1)));
                assertThat(file.lengthBytes()).isEqualTo(10);
                assertThat(spoolBytes(mount)).isEqualTo(10);
                file.truncate(4 * MIB);
            }
            assertThat(committed("/f")).isEqualTo(Arrays.copyOf(filled(10), 4 * MIB));
        }
    }

    @Test
    void whatEndsWhereNoFileCan_isTooBigRatherThanOutOfRoom() {
        try (MemoryMount mount = mount("4M");
                OpenFile file = mount.create("/f")) {
            file.write(0, filled(10));
            for (long offset : new long[] {NEVER, Long.MAX_VALUE - 100}) {
                fails(Errno.EFBIG, () -> file.write(offset, filled(1)));
                fails(Errno.EFBIG, () -> file.truncate(offset));
                fails(Errno.EFBIG, () -> fallocate(mount, file, 0, offset, 1));
                fails(Errno.EFBIG, () -> fallocate(mount, file, 0, 0, offset));
                fails(Errno.EFBIG, () -> fallocate(mount, file, Stat.FALLOC_KEEP_SIZE, offset, 1));
                fallocate(mount, file, PUNCH, offset, 1);
                fallocate(mount, file, PUNCH, 10, offset);
            }
            assertThat(file.lengthBytes()).isEqualTo(10);
            assertThat(spoolBytes(mount)).isEqualTo(10);
        }
    }

    /** A handle that cannot read is enough. */
    @Test
    void fallocate_growsTheFileAndCountsAgainstTheSpool() {
        try (MemoryMount mount = mount("1M")) {
            mount.write("/f", "0123456789");
            Opened opened = mount.requests().open(mount.lookup("/f"), Stat.O_WRONLY);
            mount.requests().fallocate(opened, 0, 0, 5);
            assertThat(mount.stat("/f").lengthBytes()).isEqualTo(10);
            mount.requests().fallocate(opened, 0, 8, 5000);
            assertThat(mount.stat("/f").lengthBytes()).isEqualTo(5008);
            assertThat(spoolBytes(mount)).isEqualTo(5008);
            fails(Errno.ENOSPC, () -> mount.requests().fallocate(opened, 0, 1000, MIB));
            assertThat(mount.stat("/f").lengthBytes()).isEqualTo(5008);
            assertThat(spoolBytes(mount)).isEqualTo(5008);
            mount.requests().flush(opened);
            mount.requests().release(opened);
            assertThat(committed("/f")).isEqualTo(Arrays.copyOf("0123456789".getBytes(StandardCharsets.UTF_8), 5008));
        }
    }

    @Test
    void write_intoReservedRoom_findsItThoughTheSpoolIsFull() {
        try (MemoryMount mount = mount("2M");
                OpenFile file = mount.create("/f");
                OpenFile other = mount.create("/other")) {
            file.truncate(MIB);
            fallocate(mount, file, 0, 0, MIB);
            fallocate(mount, file, Stat.FALLOC_KEEP_SIZE, MIB, MIB / 2);
            assertThat(file.lengthBytes()).isEqualTo(MIB);
            assertThat(spoolBytes(mount)).isEqualTo(MIB + MIB / 2);
            other.write(0, filled(MIB / 2));
            fails(Errno.ENOSPC, () -> other.write(MIB / 2, filled(1)));
            file.write(0, filled(MIB + MIB / 2));
            assertThat(file.lengthBytes()).isEqualTo(MIB + MIB / 2);
            assertThat(spoolBytes(mount)).isEqualTo(2 * MIB);
        }
    }

    @Test
    void punch_readsAsZerosAndGivesRoomBack() {
        try (MemoryMount mount = mount("1G")) {
            byte[] content = filled(2 * MIB);
            try (OpenFile file = mount.create("/f")) {
                file.write(0, content);
                fallocate(mount, file, PUNCH, 5000, MIB);
                Arrays.fill(content, 5000, 5000 + MIB, (byte) 0);
                assertThat(file.readAll()).isEqualTo(content);
                assertThat(spoolBytes(mount)).isBetween((long) MIB, MIB + 8192L);
                fallocate(mount, file, PUNCH, 2 * MIB - 10, 1000);
                Arrays.fill(content, 2 * MIB - 10, 2 * MIB, (byte) 0);
                assertThat(file.lengthBytes()).isEqualTo(2 * MIB);
            }
            assertThat(committed("/f")).isEqualTo(content);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Stat.FALLOC_ZERO_RANGE, Stat.FALLOC_ZERO_RANGE | Stat.FALLOC_KEEP_SIZE})
    void zeroRange_readsAsZerosAndStaysHeld(int mode, @TempDir(factory = DiskFolder.class) Path disk) {
        try (MemoryMount mount = MemoryMount.of(cluster.connect())
                .with("spool_size", "1G")
                .in(disk)
                .open()) {
            byte[] content = filled(MIB);
            try (OpenFile file = mount.create("/f")) {
                file.write(0, content);
                fallocate(mount, file, mode, 5000, MIB);
                Arrays.fill(content, 5000, MIB, (byte) 0);
                boolean keeps = (mode & Stat.FALLOC_KEEP_SIZE) != 0;
                content = Arrays.copyOf(content, keeps ? MIB : MIB + 5000);
                assertThat(file.readAll()).isEqualTo(content);
                assertThat(spoolBytes(mount)).isEqualTo(MIB + 5000);
            }
            assertThat(committed("/f")).isEqualTo(content);
        }
    }

    @Test
    void fallocate_ofAKindThatIsNotThere_isRefusedWithoutEffect() {
        try (MemoryMount mount = mount("1G")) {
            mount.write("/f", "0123456789");
            try (OpenFile file = mount.openToWrite("/f");
                    OpenFile reader = mount.open("/f")) {
                fails(Errno.EOPNOTSUPP, () -> fallocate(mount, file, COLLAPSE, 0, 4096));
                fails(Errno.EOPNOTSUPP, () -> fallocate(mount, file, Stat.FALLOC_PUNCH_HOLE, 0, 4096));
                assertThat(mount.fileSystem().counts().changedFiles()).isZero();
                fails(Errno.EBADF, () -> fallocate(mount, reader, 0, 0, 4096));
            }
        }
    }

    /** A child of a shell that is now a program which takes no notification of its end: it stays for all to see. */
    private static Process parentOfKilled() throws Exception {
        return new ProcessBuilder("sh", "-c", "sleep 1000 & echo $!; kill -9 $!; exec cat").start();
    }

    private static int child(Process parent) throws Exception {
        BufferedReader out = new BufferedReader(new InputStreamReader(parent.getInputStream(), StandardCharsets.UTF_8));
        int pid = Integer.parseInt(out.readLine());
        io.posixgateway.fuse.conformance.Eventually.holds(
                "it is dead",
                () -> Files.readString(Path.of("/proc/" + pid + "/stat")).contains(") Z "));
        return pid;
    }

    @Test
    void close_ofProgramThatWasKilled_endsAndItsHandlesEndCommits() throws Exception {
        Process parent = parentOfKilled();
        try (MemoryMount mount = mount("1G")) {
            OpenFile file = mount.create("/f");
            file.write(20 * MIB, filled(1));
            mount.faults().on(StoreCall.WRITE).always().delay(Duration.ofSeconds(1));
            mount.requests().asProcess(child(parent));
            fails(Errno.EINTR, () -> mount.requests().flush(file.opened()));
            assertThat(mount.faults().count(StoreCall.WRITE)).as("pieces sent").isLessThan(5);
            assertThat(mount.fileSystem().counts().changedFiles()).isEqualTo(1);
            cluster.clock().advance(Duration.ofMinutes(1));
            assertThat(mount.stat("/f").lengthBytes()).isEqualTo(20 * MIB + 1);
            mount.requests().release(file.opened());
            assertThat(committed("/f")).hasSize(20 * MIB + 1);
            assertThat(mount.fileSystem().counts().changedFiles()).isZero();
        } finally {
            parent.destroyForcibly();
            parent.waitFor();
        }
    }

    @Test
    void unlink_afterItsProgramWasKilledInClose_takesTheFileAway() throws Exception {
        Process parent = parentOfKilled();
        try (MemoryMount mount = mount("1G")) {
            OpenFile file = mount.create("/f");
            file.write(20 * MIB, filled(1));
            Fault slow = mount.faults().on(StoreCall.WRITE).always().delay(Duration.ofSeconds(1));
            mount.requests().asProcess(child(parent));
            fails(Errno.EINTR, () -> mount.requests().flush(file.opened()));
            slow.remove();
            cluster.clock().advance(Duration.ofMinutes(1));
            mount.unlink("/f");
            assertThat(mount.exists("/f")).isFalse();
            mount.requests().release(file.opened());
            assertThat(cluster.ufs().read("/f")).isNull();
            assertThat(mount.exists("/f")).isFalse();
        } finally {
            parent.destroyForcibly();
            parent.waitFor();
        }
    }

    @Test
    void close_ofProgramThatLives_waitsUntilAllIsCommitted() {
        try (MemoryMount mount = mount("1G")) {
            mount.requests().asProcess((int) ProcessHandle.current().pid());
            mount.faults().on(StoreCall.WRITE).always().delay(Duration.ofSeconds(1));
            try (OpenFile file = mount.create("/f")) {
                file.write(20 * MIB, filled(1));
                mount.requests().flush(file.opened());
                assertThat(committed("/f")).hasSize(20 * MIB + 1);
            }
        }
    }

    /** The block that is cut through counts as held from then on. */
    @Test
    void truncate_withinAHoleWhereTheSpoolIsFull_isDone() {
        try (MemoryMount mount = mount("1M")) {
            try (OpenFile sparse = mount.create("/sparse")) {
                sparse.write("data");
                sparse.truncate(MIB / 2);
                try (OpenFile full = mount.create("/full")) {
                    full.write(0, filled((int) (MIB - spoolBytes(mount))));
                    sparse.truncate(9000);
                    assertThat(sparse.lengthBytes()).isEqualTo(9000);
                }
            }
            assertThat(committed("/sparse")).hasSize(9000).startsWith("data".getBytes(StandardCharsets.US_ASCII));
            assertThat(spoolBytes(mount)).isZero();
        }
    }
}
