package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.bypass.BypassResult;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.harness.Walk;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseRequests;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Alluxio is formatted while it is mounted: ids begin anew, and none of before may lead to a file of now. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FormattedAlluxioTest {
    private static final String OLD = "the old file's bytes";
    private static final String NEW = "a stranger's content"; // as long

    private final MemoryCluster before;
    private final MemoryCluster after;
    private final Path folder;
    private final Path blocks;

    FormattedAlluxioTest(@TempDir Path folder) throws IOException {
        this.folder = folder;
        this.blocks = Files.createDirectory(folder.resolve("blocks"));
        this.before = new MemoryCluster(MemoryUfs.Kind.LOCAL, 1, 64 << 20, blocks);
        this.after = new MemoryCluster(MemoryUfs.Kind.LOCAL, 1, 64 << 20, blocks);
    }

    private static void isStale(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.ESTALE));
    }

    /** Until it is noticed, it is shown as it was known, for who has it open. */
    private static boolean isStaleNow(MemoryMount mount, long node) {
        try {
            mount.requests().getattr(node);
            return false;
        } catch (FuseFailure stale) {
            assertThat(stale.errno()).isEqualTo(Errno.ESTALE);
            return true;
        }
    }

    private static void awaitNow(MemoryMount mount) throws Exception {
        Waiting.until("the Alluxio of now is known", Duration.ofSeconds(60), () -> answers(mount));
    }

    /** A call that came while the two were compared may be of the Alluxio before, and is stale; the kernel repeats it. */
    private static boolean answers(MemoryMount mount) {
        try {
            mount.requests().getattr(FuseRequests.ROOT);
            return true;
        } catch (FuseFailure stale) {
            assertThat(stale.errno()).isEqualTo(Errno.ESTALE);
            return false;
        }
    }

    /** The files of the Alluxio before are gone, and others have their numbers. */
    private void format(MemoryMount... mounts) {
        try (Stream<Path> files = Files.list(blocks)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try (MemoryMount other = MemoryMount.of(after)) {
            other.write("/innocent", NEW);
        }
        for (MemoryMount mount : mounts) {
            mount.store().answeredBy(after);
        }
        before.clock().advance(Duration.ofSeconds(10)); // it takes a while
    }

    private List<Path> aside(Path where) {
        return Walk.files(where).stream()
                .filter(file -> file.toString().matches(".*/aside/spool-\\d+"))
                .toList();
    }

    @Test
    void openFile_readsNoBytesOfTheFileThatHasItsNumber() throws Exception {
        try (MemoryMount mount = MemoryMount.of(before)) {
            mount.write("/mine", OLD);
            OpenFile reader = mount.open("/mine");
            long node = reader.opened().node().id();
            format(mount);
            isStale(reader::readText);
            isStale(() -> mount.requests().getattr(node));
            awaitNow(mount);
            assertThat(mount.list("/")).containsExactly("innocent");
            assertThat(mount.read("/innocent")).isEqualTo(NEW);
            assertThat(mount.lookup("/innocent").id()).isNotEqualTo(node);
            assertThat(mount.exists("/mine")).isFalse();
            isStale(reader::readText);
            reader.close(); // nothing is lost
        }
    }

    private static MemoryMount bypassed(MemoryCluster cluster) {
        return MemoryMount.of(cluster.connect())
                .with("bypass", "on")
                .with("consistency", "immutable")
                .open();
    }

    private static BypassResult bypass(MemoryMount mount, OpenFile file) {
        return mount.fileSystem().blockSet(file.opened().node().id()).bypassResult();
    }

    /** What is open past the gateway is opened by the numbers of its blocks, as what is read here is. */
    @Test
    void bypass_givesNoBlocks_whereTheirNumbersMayBeAnothers() {
        try (MemoryMount mount = bypassed(before)) {
            mount.write("/mine", OLD);
            try (OpenFile reader = mount.open("/mine")) {
                assertThat(bypass(mount, reader)).isEqualTo(BypassResult.GIVEN);
                format(mount);
                assertThat(bypass(mount, reader)).isNotEqualTo(BypassResult.GIVEN);
            }
        }
    }

    /** Where nothing is asked of Alluxio for long, an open finds out whether it is the one of before. */
    @Test
    void bypass_givesBlocks_afterAnOpenThatFoundTheAlluxioOfBefore() {
        try (MemoryMount mount = bypassed(before)) {
            mount.write("/mine", OLD);
            mount.open("/mine").close(); // which asks where blocks are
            before.clock().advance(Duration.ofMinutes(1));
            try (OpenFile reader = mount.open("/mine")) {
                assertThat(bypass(mount, reader)).isEqualTo(BypassResult.GIVEN);
            }
        }
    }

    /** The name was to be taken in the Alluxio before; in that of now the path is somebody else's. */
    @Test
    void nameWhoseCreationWasNotAnswered_isNotTakenInTheAlluxioOfNow() throws Exception {
        AtomicInteger taken = new AtomicInteger();
        try (MemoryMount mount = MemoryMount.of(before)) {
            mount.faults().on(StoreCall.CREATE).loseRequest();
            assertThatThrownBy(() -> mount.create("/name")).isInstanceOf(FuseFailure.class);
            format(mount);
            awaitNow(mount);
            mount.faults().on(StoreCall.CREATE).at("/name").always().before(taken::incrementAndGet);
            mount.write("/next", NEW);
        }
        assertThat(taken).hasValue(0);
    }

    /** A backup has the id of the cluster, and brings back the numbers that were given since. */
    @Test
    void openFile_ofARestoredAlluxio_isNotTheFileThatHasItsNumber() throws Exception {
        after.isRestored(before);
        after.clock().advance(Duration.ofHours(1));
        try (MemoryMount mount = MemoryMount.of(before)) {
            mount.write("/mine", OLD);
            OpenFile reader = mount.open("/mine");
            assertThat(mount.list("/")).containsExactly("mine");
            long node = reader.opened().node().id();
            format(mount);
            before.clock().advance(Duration.ofHours(1)); // nothing that is known is believed any more
            Waiting.until(
                    "that its number is another's is noticed", Duration.ofSeconds(60), () -> isStaleNow(mount, node));
            isStale(reader::readText);
            assertThat(mount.list("/")).containsExactly("innocent");
            assertThat(mount.read("/innocent")).isEqualTo(NEW);
            assertThat(mount.lookup("/innocent").id()).isNotEqualTo(node);
            reader.close();
        }
    }

    @Test
    void nextProcess_afterARestoredAlluxio_takesNoNodeOfBeforeForAFileOfNow() throws Exception {
        after.isRestored(before);
        after.clock().advance(Duration.ofHours(1));
        MemoryMount mount = MemoryMount.of(before.connect()).openPersistent(folder.resolve("first"), null);
        mount.write("/mine", OLD);
        assertThat(mount.list("/")).containsExactly("mine");
        long node = mount.lookup("/mine").id();
        format(mount);
        isStale(() -> mount.requests().getattr(node));
        mount.kill();
        try (MemoryMount next = MemoryMount.of(after.connect()).openPersistent(folder.resolve("next"), mount)) {
            isStale(() -> next.requests().getattr(node));
            assertThat(next.read("/innocent")).isEqualTo(NEW);
        }
        mount.close();
    }

    /** Its blocks are open here, and have the numbers of another file's blocks. */
    @Test
    void newFile_isNotReadFromBlockFilesOfBefore() throws Exception {
        try (MemoryMount mount = MemoryMount.of(before)) {
            mount.write("/mine", OLD);
            OpenFile reader = mount.open("/mine");
            assertThat(reader.readText()).isEqualTo(OLD);
            format(mount);
            awaitNow(mount);
            assertThat(mount.read("/innocent")).isEqualTo(NEW);
            isStale(reader::readText);
        }
    }

    @Test
    void call_thatNobodyAnswered_isFollowedByAComparison() throws Exception {
        try (MemoryMount mount = MemoryMount.of(before)) {
            mount.write("/mine", OLD);
            OpenFile reader = mount.open("/mine");
            before.stopMaster();
            assertThatThrownBy(() -> mount.list("/")).isInstanceOf(FuseFailure.class);
            format();
            mount.store().answeredBy(after);
            awaitNow(mount);
            assertThat(mount.list("/")).containsExactly("innocent");
            isStale(reader::readText);
        }
    }

    @Test
    void unsavedContent_isSetAside_andItsWriterHearsOfIt() throws Exception {
        Path kept = folder.resolve("kept");
        try (MemoryMount mount = MemoryMount.of(before.connect()).openPersistent(kept, null)) {
            mount.write("/mine", OLD);
            OpenFile writer = mount.openToWrite("/mine").write("UNSAVED");
            format(mount);
            assertThatThrownBy(writer::fsync).isInstanceOf(FuseFailure.class);
            Waiting.until(
                    "the content is set aside",
                    Duration.ofSeconds(60),
                    () -> aside(kept).size() == 1);
            isStale(writer::fsync);
            isStale(writer::close);
            assertThat(aside(kept)).singleElement().satisfies(content -> assertThat(content)
                    .hasContent("UNSAVED" + OLD.substring(7)));
            assertThat(mount.read("/innocent")).isEqualTo(NEW);
            mount.write("/next", "of the new one");
            assertThat(after.ufs().read("/next")).asString().isEqualTo("of the new one");
        }
        assertThat(after.ufs().read("/innocent")).asString().isEqualTo(NEW);
    }

    @Test
    void nextProcesses_takeNoNodeOfBeforeForAFileOfNow() {
        try (MemoryMount first = MemoryMount.of(before.connect()).openPersistent(folder.resolve("first"), null)) {
            first.write("/mine", OLD);
            OpenFile old = first.open("/mine");
            first.kill();
            format();
            try (MemoryMount second = MemoryMount.of(after.connect()).openPersistent(folder.resolve("second"), first)) {
                OpenFile same = second.inherited(old);
                isStale(same::readText);
                OpenFile reader = second.open("/innocent");
                assertThat(reader.readText()).isEqualTo(NEW);
                second.kill();
                try (MemoryMount third =
                        MemoryMount.of(after.connect()).openPersistent(folder.resolve("third"), second)) {
                    isStale(third.inherited(old)::readText);
                    assertThat(third.inherited(reader).readText()).isEqualTo(NEW);
                    assertThat(third.lookup("/innocent").id())
                            .isEqualTo(reader.opened().node().id());
                }
            }
        }
    }

    /** What an earlier process noted of its nodes names ids that are those of others now. */
    @Test
    void notedNodesOfBefore_areNotFoundForFilesOfNow() {
        try (MemoryMount first = MemoryMount.of(before.connect()).openPersistent(folder.resolve("first"), null)) {
            first.write("/mine", OLD);
            first.write("/mine", OLD);
            OpenFile old = first.open("/mine");
            long node = old.opened().node().id();
            first.kill();
            format();
            try (MemoryMount other = MemoryMount.of(after)) {
                for (int i = 0; i < 8; i++) {
                    other.write("/file" + i, NEW); // one has the id that the old one had last
                }
            }
            try (MemoryMount second = MemoryMount.of(after.connect()).openPersistent(folder.resolve("second"), first)) {
                isStale(second.inherited(old)::readText);
                second.kill();
                try (MemoryMount third =
                        MemoryMount.of(after.connect()).openPersistent(folder.resolve("third"), second)) {
                    for (int i = 0; i < 8; i++) {
                        assertThat(third.lookup("/file" + i).id()).isNotEqualTo(node);
                        assertThat(third.read("/file" + i)).isEqualTo(NEW);
                    }
                }
            }
        }
    }
}
