package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.Bound;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Files and directories without a name that the kernel knows all the same: bind mounts, descriptors of O_PATH, working directories. */
class OrphanTest {
    private static final Duration LONG = Duration.ofHours(1);

    private final Path folder;
    private final MemoryCluster cluster;

    OrphanTest(@TempDir Path folder) throws IOException {
        this.folder = folder;
        this.cluster =
                new MemoryCluster(MemoryUfs.Kind.LOCAL, 1, 1 << 30, Files.createDirectory(folder.resolve("blocks")));
    }

    @BeforeEach
    void blockFoldersAreLearnedAtOnce() {
        cluster.clock().advance(LONG);
    }

    /** How a file loses its name. */
    private enum Loss {
        REPLACED,
        DELETED,
        DELETED_AND_MADE_ANEW;

        void of(MemoryMount mount, String path) {
            if (this == REPLACED) {
                mount.write(path + ".new", "two");
                mount.rename(path + ".new", path);
                return;
            }
            mount.unlink(path);
            if (this == DELETED_AND_MADE_ANEW) {
                mount.write(path, "two");
            }
        }
    }

    private static void awaitNothingLeft(MemoryMount mount) throws InterruptedException {
        Eventually.holds(
                "nothing is left",
                () -> mount.fileSystem().counts().changedFiles() == 0
                        && mount.fileSystem().counts().spoolBytes() == 0);
    }

    @ParameterizedTest
    @EnumSource
    void boundFile_thatLostItsName_goesOn(Loss loss) throws InterruptedException {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", "one");
            try (Bound bound = mount.bind("/file")) {
                loss.of(mount, "/file");
                cluster.clock().advance(LONG);
                assertThat(bound.read()).isEqualTo("one");
                assertThat(bound.stat().lengthBytes()).isEqualTo("one".length());
                mount.requests().chmod(bound.node(), 0600);
                bound.write("three");
                cluster.clock().advance(LONG);
                assertThat(bound.read()).isEqualTo("three");
                assertThat(bound.stat().mode()).isEqualTo(Stat.S_IFREG | 0600);
                if (loss != Loss.DELETED) {
                    assertThat(mount.read("/file")).isEqualTo("two");
                    assertThat(mount.stat("/file").mode()).isEqualTo(Stat.S_IFREG | 0644);
                }
            }
            awaitNothingLeft(mount);
            assertThat(cluster.ufs().list("/")).hasSize(loss == Loss.DELETED ? 0 : 1);
        }
    }

    @Test
    void attributesOfBoundFile_thatWasReplaced_areNotThoseOfTheOneAtItsPath() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", "one");
            try (Bound bound = mount.bind("/file")) {
                Loss.REPLACED.of(mount, "/file");
                mount.requests().chmod(bound.node(), 0600);
                mount.requests().setxattr(bound.node(), "user.a", "old");
                assertThat(bound.stat().mode()).isEqualTo(Stat.S_IFREG | 0600);
                assertThat(mount.requests().getxattr(bound.node(), "user.a")).isEqualTo("old");
                assertThat(mount.stat("/file").mode()).isEqualTo(Stat.S_IFREG | 0644);
                assertThatThrownBy(() ->
                                mount.requests().getxattr(mount.lookup("/file").id(), "user.a"))
                        .isInstanceOfSatisfying(
                                FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENODATA));
            }
        }
    }

    /** What it is since then nobody asked. */
    @ParameterizedTest
    @EnumSource
    void boundFile_thatWasWrittenJustBefore_goesOn(Loss loss) {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", "one");
            try (Bound bound = mount.bind("/file")) {
                mount.write("/file", "three");
                long number = bound.stat().inode();
                mount.write("/file", "three");
                loss.of(mount, "/file");
                cluster.clock().advance(LONG);
                assertThat(bound.read()).isEqualTo("three");
                assertThat(bound.stat().lengthBytes()).isEqualTo("three".length());
                assertThat(bound.stat().inode()).isEqualTo(number);
            }
        }
    }

    @Test
    void boundFile_thatIsOpenToo_outlivesItsLastHandle() throws InterruptedException {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/deleted", "one");
            mount.write("/replaced", "one");
            try (Bound deleted = mount.bind("/deleted");
                    Bound replaced = mount.bind("/replaced")) {
                OpenFile first = mount.open("/deleted");
                OpenFile second = mount.open("/replaced");
                Loss.DELETED.of(mount, "/deleted");
                Loss.REPLACED.of(mount, "/replaced");
                first.close();
                second.close();
                assertThat(deleted.read()).isEqualTo("one");
                assertThat(replaced.read()).isEqualTo("one");
            }
            awaitNothingLeft(mount);
            Eventually.holds(
                    "what was hidden is removed", () -> cluster.ufs().list("/").equals(List.of("replaced")));
        }
    }

    /** What was held in vain is closed, and costs no copy. */
    @Test
    void fileThatNobodyRefersTo_leavesNothing() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            for (int i = 0; i < 100; i++) {
                mount.write("/file", "one");
                mount.unlink("/file");
                assertThat(mount.fileSystem().counts().spoolBytes()).isZero();
            }
        }
    }

    @Test
    void replacedFile_ofWhichNoBlocksAreHere_isCopiedWhereItIsSmall() {
        MemoryCluster remote = new MemoryCluster(MemoryUfs.Kind.LOCAL);
        try (MemoryMount mount = MemoryMount.of(remote)) {
            mount.write("/file", "one");
            try (Bound bound = mount.bind("/file")) {
                Loss.REPLACED.of(mount, "/file");
                bound.write(bound.read() + " and more");
                assertThat(bound.read()).isEqualTo("one and more");
                assertThat(mount.read("/file")).isEqualTo("two");
            }
        }
    }

    @Test
    void removedDirectory_showsNothingOfTheOneMadeInItsPlace() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.mkdir("/folder");
            try (Bound working = mount.bind("/folder")) {
                mount.rmdir("/folder");
                mount.mkdir("/folder");
                mount.write("/folder/file", "text");
                cluster.clock().advance(LONG);
                assertThat(working.stat().isDirectory()).isTrue();
                assertThat(mount.namesOf(working)).isEmpty();
                assertThatThrownBy(() -> mount.requests().lookup(working.node(), "file"))
                        .isInstanceOfSatisfying(
                                FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT));
            }
        }
    }

    private MemoryMount first() {
        return MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null);
    }

    private MemoryMount next(MemoryMount killed) {
        return MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("next"), killed);
    }

    @ParameterizedTest
    @EnumSource
    void boundFile_whoseProcessIsKilledASecondLater_goesOnInTheNext(Loss loss) throws InterruptedException {
        try (MemoryMount killed = first()) {
            killed.write("/file", "one");
            Bound bound = killed.bind("/file");
            loss.of(killed, "/file");
            Eventually.holds("it is in the spool", () -> {
                cluster.clock().advance(Duration.ofSeconds(1));
                return killed.fileSystem().counts().changedFiles() > 0;
            });
            assertThat(bound.read()).as("read when it is copied").isEqualTo("one");
            killed.kill();
            try (MemoryMount next = next(killed)) {
                try (Bound same = next.inherited(bound)) {
                    assertThat(same.read()).isEqualTo("one");
                    same.write("three");
                    assertThat(same.read()).isEqualTo("three");
                }
                awaitNothingLeft(next);
            }
        }
    }

    /** One that fails in a way that nobody expects stops no other, and not the thread that copies them. */
    @Test
    void boundFiles_ofWhichOneFailsUnexpectedly_areCopiedButForThat() throws InterruptedException {
        try (MemoryMount mount = first()) {
            VolumeContext volume = mount.fileSystem().volume;
            AtomicInteger copies = new AtomicInteger();
            volume.dirtyFiles.readFrom((inode, id) -> {
                if (copies.incrementAndGet() == 1) {
                    throw new LinkageError("nobody expects this");
                }
                return volume.orphans.open(inode, id);
            });
            List<Bound> bound = new ArrayList<>();
            for (String path : List.of("/one", "/two", "/three")) {
                mount.write(path, "text");
                bound.add(mount.bind(path));
                mount.unlink(path);
            }
            Eventually.holds("the others are in the spool", () -> {
                cluster.clock().advance(Duration.ofSeconds(1));
                return mount.fileSystem().counts().changedFiles() == 2;
            });
            bound.forEach(Bound::close);
        }
    }

    /** Copies of this mount begin when the latch opens, or at once for a thread that is interrupted. */
    private static CountDownLatch copiesBegin(MemoryMount mount, CountDownLatch mayGoOn) {
        CountDownLatch begun = new CountDownLatch(1);
        VolumeContext volume = mount.fileSystem().volume;
        volume.dirtyFiles.readFrom((inode, id) -> {
            begun.countDown();
            try {
                mayGoOn.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return volume.orphans.open(inode, id);
        });
        return begun;
    }

    @ParameterizedTest
    @EnumSource
    void boundFile_thatIsBeingCopiedAtAHandover_goesOnInTheNextProcess(Loss loss) throws InterruptedException {
        MemoryMount first = first();
        first.write("/file", "one");
        Bound bound = first.bind("/file");
        CountDownLatch mayGoOn = new CountDownLatch(1);
        CountDownLatch begun = copiesBegin(first, mayGoOn);
        loss.of(first, "/file");
        Eventually.holds("it is being copied", () -> {
            cluster.clock().advance(Duration.ofSeconds(1));
            return begun.getCount() == 0;
        });
        Thread leaving = new Thread(() -> {
            first.fileSystem().leaveToNext();
            first.fileSystem().close();
        });
        leaving.start();
        Eventually.holds("it waits for that", () -> leaving.getState() == Thread.State.WAITING || !leaving.isAlive());
        mayGoOn.countDown();
        leaving.join();
        try (MemoryMount next = next(first)) {
            try (Bound same = next.inherited(bound)) {
                assertThat(same.read()).isEqualTo("one");
            }
            awaitNothingLeft(next);
        }
    }

    @Test
    void boundFile_thatAProgramBeginsToChange_isHeldUntilItIsCopied() throws InterruptedException {
        try (MemoryMount mount = first()) {
            mount.write("/file", "one");
            try (Bound bound = mount.bind("/file")) {
                CountDownLatch mayGoOn = new CountDownLatch(1);
                CountDownLatch begun = copiesBegin(mount, mayGoOn);
                mount.unlink("/file");
                Thread change = new Thread(() -> {
                    try (OpenFile file = bound.open(Stat.O_RDWR)) {
                        file.write(3, " two".getBytes(StandardCharsets.UTF_8));
                    }
                });
                change.start();
                begun.await();
                Thread copies = new Thread(mount.fileSystem().volume.orphans::leave);
                copies.start();
                Eventually.holds(
                        "it waits for that", () -> copies.getState() == Thread.State.WAITING || !copies.isAlive());
                mayGoOn.countDown();
                copies.join();
                change.join();
                assertThat(bound.read()).isEqualTo("one two");
            }
        }
    }

    @Test
    void boundFile_thatWasHidden_goesOnInTheNextProcessAndIsRemovedAtLast() throws InterruptedException {
        try (MemoryMount killed = first()) {
            killed.write("/file", "one");
            Bound bound = killed.bind("/file");
            OpenFile open = killed.open("/file");
            killed.unlink("/file");
            open.close();
            killed.kill();
            try (MemoryMount next = next(killed)) {
                try (Bound same = next.inherited(bound)) {
                    assertThat(same.read()).isEqualTo("one");
                }
                Eventually.holds("it is removed", () -> cluster.ufs().list("/").isEmpty());
            }
        }
    }
}
