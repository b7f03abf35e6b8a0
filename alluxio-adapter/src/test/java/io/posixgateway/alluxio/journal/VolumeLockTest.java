package io.posixgateway.alluxio.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One process holds a volume's folder, whatever its disk takes, and whatever version the other one is. */
class VolumeLockTest {
    private static final int SWAPS = 3_000;
    /** As a gateway of an earlier version, which locks a file in the folder and nothing else. */
    private static final String EARLIER = """
            import fcntl, sys, time
            held = open(sys.argv[1], sys.argv[2])
            fcntl.lockf(held, getattr(fcntl, sys.argv[3]) | fcntl.LOCK_NB)
            print('held', flush=True)
            time.sleep(600)
            """;

    private final Path parent;
    private final Path folder;

    VolumeLockTest(@TempDir Path parent) {
        this.parent = parent;
        this.folder = parent.resolve("disk/volume");
    }

    private static void run(String... words) throws Exception {
        assertThat(new ProcessBuilder(words).start().waitFor())
                .as("%s", List.of(words))
                .isZero();
    }

    /** A disk of its own for the folder, which is there. */
    private Path disk(String options) throws Exception {
        assumeTrue(Built.isRoot(), "only root can mount a disk");
        Path disk = Files.createDirectory(parent.resolve("disk"));
        run("mount", "-t", "tmpfs", "-o", options, "none", disk.toString());
        return disk;
    }

    private static int lock(Path folder) {
        return Native.lockFolder(Native.pathBytes(folder.toString()), new long[2]);
    }

    private void isHeld() {
        assertThat(lock(folder)).as("another process").isEqualTo(-Errno.EAGAIN);
        assertThatThrownBy(() -> VolumeStateDir.open(folder))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
                .hasMessageContaining(folder.toString());
    }

    private Program earlier(String mode, String kind) throws Exception {
        Program holder = Program.start(
                parent,
                List.of(
                        "python3",
                        "-c",
                        EARLIER,
                        folder.resolve(VolumeLock.FILE).toString(),
                        mode,
                        kind));
        holder.awaitOutput("held", Duration.ofSeconds(30));
        return holder;
    }

    @Test
    void take_heldByAnother_isRefusedUntilItEnds() throws Exception {
        StateFolder.make(folder);
        int other = lock(folder);
        assertThat(VolumeLock.tryTake(folder)).isNull();
        Native.close(other);
        VolumeStateDir.open(folder).close();
        VolumeStateDir.open(folder).close();
    }

    /** As a disk or a server of NFS that hangs: opening a pipe for writing waits for who reads it. */
    @Test
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void take_whileThatOfAnotherVolumeHangs_doesNotWait() throws Exception {
        StateFolder.make(folder);
        Path pipe = folder.resolve(VolumeLock.FILE);
        run("mkfifo", pipe.toString());
        Thread hangs = new Thread(() -> {
            try {
                VolumeLock.take(folder).close();
            } catch (IOException | StoreException e) {
                // It is no file.
            }
        });
        hangs.setDaemon(true);
        hangs.start();
        try {
            Eventually.holds("it takes the folder", () -> {
                int descriptor = lock(folder);
                Native.close(descriptor);
                return descriptor == -Errno.EAGAIN;
            });
            Path other = Files.createDirectory(parent.resolve("other"));
            VolumeStateDir.open(other).close();
            assertThat(VolumeLock.tryTake(folder)).as("by another thread").isNull();
        } finally {
            new RandomAccessFile(pipe.toFile(), "rw").close();
        }
        hangs.join();
        Files.delete(pipe);
        VolumeStateDir.open(folder).close();
    }

    @Test
    void take_diskIsFull_hasOneHolder() throws Exception {
        Path disk = disk("nr_inodes=2"); // the disk's own folder and the volume's
        try {
            StateFolder.make(folder);
            try (VolumeStateDir held = VolumeStateDir.open(folder)) {
                assertThat(held.path().resolve(VolumeLock.FILE)).doesNotExist();
                isHeld();
            }
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    @Test
    void take_diskIsReadOnly_hasOneHolder() throws Exception {
        Path disk = disk("size=4m");
        try {
            StateFolder.make(folder);
            for (boolean hasFile : new boolean[] {false, true}) {
                if (hasFile) {
                    Files.createFile(folder.resolve(VolumeLock.FILE));
                }
                run("mount", "-o", "remount,ro", disk.toString());
                VolumeStateDir held = VolumeStateDir.open(folder);
                isHeld();
                held.close();
                run("mount", "-o", "remount,rw", disk.toString());
            }
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    @Test
    void take_earlierVersionHoldsTheFile_isRefused() throws Exception {
        VolumeStateDir.open(folder).close();
        try (Program holder = earlier("r+", "LOCK_EX")) {
            assertThat(VolumeLock.tryTake(folder)).isNull();
            holder.kill();
        }
        VolumeStateDir.open(folder).close();
    }

    /** On a disk that takes nothing, an earlier version has a reader's lock, which does not keep another reader away. */
    @Test
    void take_earlierVersionHoldsTheFileOfAReadOnlyDisk_isRefused() throws Exception {
        Path disk = disk("size=4m");
        try {
            StateFolder.make(folder);
            Files.createFile(folder.resolve(VolumeLock.FILE));
            run("mount", "-o", "remount,ro", disk.toString());
            try (Program holder = earlier("r", "LOCK_SH")) {
                assertThat(VolumeLock.tryTake(folder)).isNull();
                holder.kill();
            }
            VolumeStateDir.open(folder).close();
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    @Test
    void held_earlierVersion_cannotLockTheFile() throws Exception {
        try (VolumeStateDir held = VolumeStateDir.open(folder);
                Program other = Program.start(
                        parent,
                        List.of(
                                "python3",
                                "-c",
                                EARLIER,
                                held.path().resolve("lock").toString(),
                                "r+",
                                "LOCK_EX"))) {
            assertThat(other.await(Duration.ofSeconds(30))).isNotZero();
            assertThat(other.output()).contains("BlockingIOError");
        }
    }

    /** A session that ends removes the folder under its lock; who waited for that lock must not be left with one that is gone. */
    @Test
    void take_folderIsReplacedMeanwhile_holdsTheOneAtThePath() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        Thread remover = new Thread(() -> {
            while (!ended.get()) {
                removeUnderItsLock();
            }
        });
        remover.setDaemon(true);
        remover.start();
        try {
            for (int i = 0; i < SWAPS; i++) {
                try (VolumeLock lock = VolumeLock.tryTake(folder)) {
                    assertThat(lock == null || lock(folder) == -Errno.EAGAIN)
                            .as("try %d: the folder at the path is held", i)
                            .isTrue();
                }
            }
        } finally {
            ended.set(true);
            remover.join();
        }
    }

    private void removeUnderItsLock() {
        int held = lock(folder);
        if (held >= 0) {
            try {
                Files.deleteIfExists(folder.resolve(VolumeLock.FILE));
                Files.deleteIfExists(folder);
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            } finally {
                Native.close(held);
            }
        }
    }

    @Test
    void take_interrupted_isRefusedAtOnce() throws Exception {
        StateFolder.make(folder);
        int other = lock(folder);
        try {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> VolumeLock.take(folder)).isInstanceOf(StoreException.class);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
            Native.close(other);
        }
    }
}
