package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.mounted.LogLines;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreFaults.Fault;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where there is no room, in Alluxio's under file system or in the spool, that is reported, and the old content stays. */
class SpoolLimitTest {
    private static final long FAR = 3_000_000;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        new Random(1).nextBytes(bytes);
        return bytes;
    }

    private MemoryMount mount(String spoolSize) {
        cluster.clock().advanceBySleeps();
        return MemoryMount.of(cluster.connect()).with("spool_size", spoolSize).open();
    }

    private static void write(MemoryMount mount, String path, byte[] content) {
        try (OpenFile file = mount.exists(path) ? mount.openToWrite(path) : mount.create(path)) {
            file.truncate(0);
            file.write(0, content);
        }
    }

    private static void failsWithEnospc(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.ENOSPC));
    }

    private void assertHolds(MemoryMount mount, String path, byte[] content) {
        assertThat(cluster.ufs().read(path)).isEqualTo(content);
        try (OpenFile file = mount.open(path)) {
            assertThat(file.readAll()).isEqualTo(content);
        }
    }

    private static List<Path> kept(MemoryMount mount) throws IOException {
        try (Stream<Path> files = Files.list(mount.folder())) {
            return files.filter(file -> file.getFileName().toString().startsWith("spool-"))
                    .toList();
        }
    }

    /** No file gets into the under file system as long as this is not removed. */
    private static Fault fullDisk(MemoryMount mount) {
        return mount.faults().on(StoreCall.COMPLETE).always().fail(Errno.ENOSPC);
    }

    @Test
    void close_whenUnderFileSystemIsFull_failsAndContentStaysInTheSpool() throws Exception {
        try (MemoryMount mount = mount("1G");
                LogLines log = new LogLines()) {
            byte[] old = bytes(100_000);
            write(mount, "/f", old);
            Fault full = fullDisk(mount);
            long began = cluster.clock().nanos();
            failsWithEnospc(() -> write(mount, "/f", bytes(3_000_000)));
            assertThat(cluster.clock().nanos()).as("it is not retried").isEqualTo(began);
            assertThat(cluster.ufs().read("/f")).isEqualTo(old);
            assertThat(mount.fileSystem().counts().changedFiles()).isZero();
            Path kept = kept(mount).get(0);
            assertThat(kept).hasBinaryContent(bytes(3_000_000));
            assertThat(log.anyWith("Upload failed; the content stays in " + kept))
                    .isTrue();
            assertThat(mount.fileSystem().counts().spoolBytes()).isEqualTo(3_000_000);
            failsWithEnospc(() -> write(mount, "/new", bytes(3_000_000)));
            full.remove();
            write(mount, "/f", bytes(200_000));
            assertHolds(mount, "/f", bytes(200_000));
            write(mount, "/new", bytes(10));
            assertHolds(mount, "/new", bytes(10));
        }
    }

    @Test
    void fsync_whenUnderFileSystemIsFull_failsAndWhatIsSmallerIsCommittedAfterwards() {
        try (MemoryMount mount = mount("1G")) {
            byte[] old = bytes(100_000);
            write(mount, "/f", old);
            Fault full = fullDisk(mount);
            try (OpenFile file = mount.openToWrite("/f")) {
                file.write(50_000, bytes(3_000_000));
                failsWithEnospc(file::fsync);
                assertThat(cluster.ufs().read("/f")).isEqualTo(old);
                file.truncate(old.length);
                file.write(0, old);
                full.remove();
            }
            assertHolds(mount, "/f", old);
        }
    }

    @Test
    void create_whileContentThatCouldNotBeCommittedTakesTheSpool_failsUntilThatIsTakenAway() throws Exception {
        try (MemoryMount mount = mount("4M");
                LogLines log = new LogLines()) {
            Fault full = fullDisk(mount);
            failsWithEnospc(() -> write(mount, "/f", bytes(3_000_000)));
            full.remove();
            Path kept = kept(mount).get(0);
            failsWithEnospc(() -> write(mount, "/other", bytes(2_000_000)));
            assertThat(log.anyWith("3000000 bytes of them are content that could not be uploaded, such as [" + kept
                            + "]: move or delete"))
                    .isTrue();
            Files.delete(kept);
            write(mount, "/other", bytes(2_000_000));
            assertHolds(mount, "/other", bytes(2_000_000));
            assertThat(mount.fileSystem().counts().spoolBytes()).isZero();
        }
    }

    /** Its readers continue, and nothing is left of what was prepared for them. */
    @Test
    void rename_thatCannotCommitItsSource_leavesTheTargetToItsReaders() {
        try (MemoryMount mount = mount("1G")) {
            write(mount, "/f", bytes(1000));
            try (OpenFile reader = mount.open("/f");
                    OpenFile writer = mount.create("/large")) {
                writer.write(0, bytes(3_000_000));
                Fault full = fullDisk(mount);
                failsWithEnospc(() -> mount.rename("/large", "/f"));
                assertThat(mount.fileSystem().counts().changedFiles()).isEqualTo(1);
                full.remove();
                writer.truncate(0);
                assertThat(reader.readAll()).isEqualTo(bytes(1000));
            }
            assertHolds(mount, "/f", bytes(1000));
            assertHolds(mount, "/large", new byte[0]);
        }
    }

    @Test
    void write_ofMoreThanTheSpoolHolds_failsAndTheOldContentStays() {
        try (MemoryMount mount = mount("1M")) {
            write(mount, "/f", bytes(1000));
            try (OpenFile file = mount.openToWrite("/f")) {
                failsWithEnospc(() -> file.write(1000, bytes(3_000_000)));
            }
            write(mount, "/g", bytes(1000));
            assertHolds(mount, "/g", bytes(1000));
            byte[] there = Objects.requireNonNull(cluster.ufs().read("/f"));
            assertThat(Arrays.copyOf(there, 1000)).isEqualTo(bytes(1000));
            assertHolds(mount, "/f", there);
        }
    }

    /** Nobody has the file open, so nobody's close would end it. */
    @ParameterizedTest
    @ValueSource(longs = {10_000_000, Long.MAX_VALUE})
    void truncate_byNameToMoreThanTheSpoolHolds_failsAndTakesNoRoomAfterwards(long lengthBytes) {
        try (MemoryMount mount = mount("1M")) {
            write(mount, "/f", bytes(100_000));
            assertThatThrownBy(() -> mount.truncate("/f", lengthBytes)).isInstanceOf(FuseFailure.class);
            assertThat(mount.fileSystem().counts().changedFiles()).isZero();
            assertThat(mount.fileSystem().counts().spoolBytes()).isZero();
            assertHolds(mount, "/f", bytes(100_000));
        }
    }

    /** A disk of a mebibyte. */
    private static void mountSmall(Path at) throws Exception {
        assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=1m", "none", at.toString()) == 0, "may not mount");
    }

    private static void unmountSmall(Path at) throws Exception {
        Eventually.holds("it is unmounted", () -> run("umount", at.toString()) == 0);
    }

    private static int run(String... words) throws Exception {
        return new ProcessBuilder(words).start().waitFor();
    }

    @Test
    void write_whenTheDiskOfTheSpoolIsFull_failsAndWhatWasWrittenBeforeIsThere(@TempDir Path spool) throws Exception {
        mountSmall(spool);
        try (MemoryMount mount = MemoryMount.of(cluster.connect()).in(spool).open()) {
            byte[] old = bytes(100_000);
            write(mount, "/f", old);
            int written = 0;
            try (OpenFile file = mount.openToWrite("/f")) {
                byte[] piece = bytes(64 << 10);
                try {
                    while (written < FAR) {
                        written += mount.requests().write(file.opened(), 200_000 + written, piece);
                    }
                } catch (FuseFailure e) {
                    assertThat(e.errno()).isEqualTo(Errno.ENOSPC);
                }
                assertThat((long) written).isPositive().isLessThan(FAR);
                assertThat(file.lengthBytes()).isEqualTo(200_000 + written);
            }
            byte[] there = Objects.requireNonNull(cluster.ufs().read("/f"));
            assertThat(there).hasSize(200_000 + written);
            assertThat(Arrays.copyOf(there, old.length)).isEqualTo(old);
            assertHolds(mount, "/f", there);
        } finally {
            unmountSmall(spool);
        }
    }

    /** What has to be copied there first is not; what is there already gets a hole, which takes nothing. */
    @Test
    void truncate_whenTheDiskOfTheSpoolIsFull_failsAndTheFileStaysAsItWas(@TempDir Path spool) throws Exception {
        mountSmall(spool);
        try (MemoryMount mount = MemoryMount.of(cluster.connect()).in(spool).open()) {
            byte[] old = bytes(100_000);
            write(mount, "/copied", old);
            write(mount, "/spooled", old);
            try (OpenFile open = mount.openToWrite("/spooled");
                    OpenFile other = mount.openToWrite("/copied")) {
                open.write(0, new byte[] {old[0]});
                assertThatThrownBy(() -> Files.write(spool.resolve("others"), new byte[2 << 20]))
                        .hasMessageContaining("No space left");
                failsWithEnospc(() -> other.truncate(500_000));
                assertThat(other.lengthBytes()).isEqualTo(old.length);
                assertThat(other.readAll()).isEqualTo(old);
                open.truncate(500_000);
                failsWithEnospc(() -> open.write(300_000, bytes(200_000)));
            }
            assertHolds(mount, "/copied", old);
            byte[] longer = Objects.requireNonNull(cluster.ufs().read("/spooled"));
            assertThat(longer).hasSize(500_000);
            assertThat(Arrays.copyOf(longer, old.length)).isEqualTo(old);
        } finally {
            unmountSmall(spool);
        }
    }
}
