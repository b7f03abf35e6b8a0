package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.DiskFolder;
import io.posixgateway.alluxio.store.FuseRequests.Stated;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which times a program's call moves: those that it moves on ext4, as seen there. */
class MovedTimesTest {
    private static final Duration A_MOMENT = Duration.ofMillis(1_234);
    private static final Duration LONGER_THAN_ATTRIBUTES_LIVE = Duration.ofSeconds(10);
    private static final int PUNCH = Stat.FALLOC_PUNCH_HOLE | Stat.FALLOC_KEEP_SIZE;
    private static final int ZERO_AND_KEEP_SIZE = Stat.FALLOC_ZERO_RANGE | Stat.FALLOC_KEEP_SIZE;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private void aMomentLater() {
        cluster.clock().advance(A_MOMENT);
    }

    private static Stated stat(MemoryMount mount, String path) {
        return mount.requests().stat(mount.lookup(path).id());
    }

    private void staysLaterAndElsewhere(MemoryMount mount, String path, Stated shown) {
        cluster.clock().advance(LONGER_THAN_ATTRIBUTES_LIVE);
        assertThat(stat(mount, path)).as("when attributes are old").isEqualTo(shown);
        try (MemoryMount other = MemoryMount.of(cluster)) {
            assertThat(stat(other, path)).as("on another mount").isEqualTo(shown);
        }
    }

    /** A call that changes content, or might, on the file that is there. */
    private Stated movesBoth(MemoryMount mount, String path, Runnable call) {
        Stated before = stat(mount, path);
        aMomentLater();
        call.run();
        Stated after = stat(mount, path);
        assertThat(after.modified()).as("mtime").isEqualTo(cluster.clock().instant());
        assertThat(after.changed()).as("ctime").isEqualTo(after.modified());
        assertThat(after.accessed()).as("atime").isEqualTo(before.accessed());
        return after;
    }

    private Stated movesChangeAlone(MemoryMount mount, String path, Runnable call) {
        Stated before = stat(mount, path);
        aMomentLater();
        call.run();
        Stated after = stat(mount, path);
        assertThat(after.changed()).as("ctime").isAfter(before.changed());
        assertThat(after.modified()).as("mtime").isEqualTo(before.modified());
        assertThat(after.accessed()).as("atime").isEqualTo(before.accessed());
        return after;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, Stat.FALLOC_KEEP_SIZE, PUNCH, Stat.FALLOC_ZERO_RANGE, ZERO_AND_KEEP_SIZE})
    void fallocate_withinTheFile_movesItsTimes(int mode, @TempDir(factory = DiskFolder.class) Path disk) {
        try (MemoryMount mount = MemoryMount.of(cluster.connect()).in(disk).open()) {
            mount.write("/f", "content");
            aMomentLater();
            Stated shown;
            try (OpenFile file = mount.openToWrite("/f")) {
                file.write("other");
                shown = movesBoth(mount, "/f", () -> mount.requests().fallocate(file.opened(), mode, 0, 3));
                aMomentLater();
            }
            assertThat(stat(mount, "/f")).as("after the close").isEqualTo(shown);
            staysLaterAndElsewhere(mount, "/f", shown);
        }
    }

    @Test
    void fallocate_behindTheEnd_whichStays_movesItsTimes() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/f", "content");
            aMomentLater();
            Stated shown;
            try (OpenFile file = mount.openToWrite("/f")) {
                shown = movesBoth(
                        mount, "/f", () -> mount.requests().fallocate(file.opened(), Stat.FALLOC_KEEP_SIZE, 100, 100));
            }
            assertThat(shown.lengthBytes()).isEqualTo(7);
            staysLaterAndElsewhere(mount, "/f", shown);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "content"})
    void truncate_toTheLengthThatItHas_movesItsTimes(String content) {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/f", content);
            aMomentLater();
            long node = mount.lookup("/f").id();
            Stated shown = movesBoth(mount, "/f", () -> mount.requests().truncate(node, content.length()));
            aMomentLater();
            staysLaterAndElsewhere(mount, "/f", shown);
        }
    }

    @Test
    void truncate_ofFileThatIsBeingWritten_toTheLengthThatItHas_movesItsTimes() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            Stated shown;
            try (OpenFile file = mount.create("/f")) {
                file.write("content");
                shown = movesBoth(mount, "/f", () -> file.truncate(7));
                aMomentLater();
            }
            staysLaterAndElsewhere(mount, "/f", shown);
        }
    }

    @Test
    void openThatTruncates_whereNothingIs_movesItsTimes() {
        try (MemoryMount mount = MemoryMount.of(cluster);
                OpenFile written = mount.create("/f")) {
            written.write("content");
            written.truncate(0);
            movesBoth(mount, "/f", () -> {
                FuseRequests.Opened file = mount.requests().open(mount.lookup("/f"), Stat.O_RDWR | Stat.O_TRUNC);
                mount.requests().release(file);
            });
        }
    }

    /** The kernel asks for no change at all then. */
    private static void chownOfNeither(MemoryMount mount, String path) {
        mount.requests().setattr(mount.lookup(path).id(), 0, changes -> {});
    }

    @Test
    void chown_toNoOtherOwnerOrGroup_movesTheTimeOfTheChange() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", "content");
            mount.mkdir("/directory");
            mount.requests().symlink(mount.lookup("/").id(), "link", "file");
            aMomentLater();
            for (String path : new String[] {"/file", "/directory", "/link"}) {
                Stated shown = movesChangeAlone(mount, path, () -> chownOfNeither(mount, path));
                staysLaterAndElsewhere(mount, path, shown);
            }
            try (OpenFile file = mount.openToWrite("/file")) {
                file.write("other");
                movesChangeAlone(mount, "/file", () -> chownOfNeither(mount, "/file"));
            }
        }
    }

    /** As ext4, which asks only who owns the file when there is something to change. */
    @Test
    void chown_toNoOtherOwnerOrGroup_byAStranger_succeeds() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", "content");
            mount.mkdir("/directory");
            mount.faults().on(StoreCall.CHANGE).always().fail(Errno.EACCES);
            for (String path : new String[] {"/file", "/directory"}) {
                Stated before = stat(mount, path);
                aMomentLater();
                chownOfNeither(mount, path);
                assertThat(stat(mount, path)).isEqualTo(before);
                long node = mount.lookup(path).id();
                assertThatThrownBy(() -> mount.requests().chown(node, 1234))
                        .isInstanceOfSatisfying(
                                FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EACCES));
            }
        }
    }

    /** Alluxio moves it with the modification time. */
    @Test
    void accessTimeOfDirectory_staysWhenItsNamesChange() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.mkdir("/d");
            Stated made = stat(mount, "/d");
            aMomentLater();
            mount.write("/d/f", "content");
            assertThat(stat(mount, "/d").accessed()).as("at once").isEqualTo(made.accessed());
            cluster.clock().advance(LONGER_THAN_ATTRIBUTES_LIVE);
            mount.rename("/d/f", "/d/g");
            mount.unlink("/d/g");
            mount.fileSystem().invalidate("/");
            Stated shown = stat(mount, "/d");
            assertThat(shown.accessed()).as("when Alluxio is asked").isEqualTo(made.accessed());
            assertThat(shown.modified()).isAfter(made.modified());
            staysLaterAndElsewhere(mount, "/d", shown);
        }
    }

    /** What Alluxio said before the last change of names is not what is shown since, nor kept in its place. */
    @Test
    void timeOfDirectory_thatAlluxioAnswersBeforeANameIsRemoved_stays() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.mkdir("/d");
            mount.write("/d/first", "content");
            mount.write("/d/second", "content");
            aMomentLater();
            mount.unlink("/d/first");
            mount.fileSystem().invalidate("/d");
            mount.faults().on(StoreCall.STATUS).at("/d").after(() -> {
                aMomentLater();
                mount.unlink("/d/second");
            });
            stat(mount, "/d");
            Stated shown = stat(mount, "/d");
            assertThat(shown.modified())
                    .isAfterOrEqualTo(cluster.clock().instant().truncatedTo(ChronoUnit.MILLIS));
            staysLaterAndElsewhere(mount, "/d", shown);
        }
    }

    /** It has no attribute of the gateway's, and the content goes into a new file. */
    @Test
    void accessTimeOfFileThatOthersMade_staysWhenItIsWritten() throws Exception {
        StoreWriter sink = cluster.connect().create("/f", 0644, Map.of(), UUID.randomUUID());
        sink.write(new byte[] {1, 2, 3}, 0, 3);
        sink.complete();
        aMomentLater();
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            Stated before = stat(mount, "/f");
            try (OpenFile file = mount.openToWrite("/f")) {
                file.write("other");
                aMomentLater();
            }
            Stated shown = stat(mount, "/f");
            assertThat(shown.accessed()).isEqualTo(before.accessed());
            assertThat(shown.modified()).isAfter(before.modified());
            staysLaterAndElsewhere(mount, "/f", shown);
        }
    }
}
