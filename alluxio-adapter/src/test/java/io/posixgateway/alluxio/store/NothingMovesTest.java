package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.meta.DirectoryTimes;
import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.FuseRequests.Stated;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.Stacks;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.wire.Layouts;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What stat shows stays as it is until a program changes it: over the close, its time to live, caches, takeovers; on other mounts. */
class NothingMovesTest {
    private static final Duration A_MOMENT = Duration.ofNanos(7_123_457);
    private static final Duration LONGER_THAN_ATTRIBUTES_LIVE = Duration.ofSeconds(10);
    private static final Duration GIVEN = Duration.ofSeconds(1_000_000_000, 123_456_789);
    private static final Instant GIVEN_TIME = Instant.ofEpochSecond(1_000_000_000, 123_456_789);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final Path folder;

    NothingMovesTest(@TempDir Path folder) {
        this.folder = folder;
    }

    @BeforeEach
    void hasAMasterWhoseClockIsAnother() {
        cluster.masterIsAhead(Duration.ofMillis(-1_234));
    }

    private void aMomentLater() {
        cluster.clock().advance(A_MOMENT);
    }

    /** As a program writes a file: none of its calls is made at the time of another. */
    private OpenFile written(MemoryMount mount, String path, String text) {
        OpenFile file = mount.create(path);
        aMomentLater();
        file.write(text);
        aMomentLater();
        return file;
    }

    private void make(MemoryMount mount, String path, String text) {
        written(mount, path, text).close();
        aMomentLater();
    }

    private void makeDirectory(MemoryMount mount, String path) {
        mount.mkdir(path);
        aMomentLater();
    }

    private static void setTime(MemoryMount mount, String path) {
        mount.requests().setModified(mount.lookup(path).id(), GIVEN);
    }

    private static Stated stat(MemoryMount mount, String path) {
        return mount.requests().stat(mount.lookup(path).id());
    }

    /** All below the path, and it. */
    private static Map<String, Stated> tree(MemoryMount mount, String path) {
        Map<String, Stated> all = new TreeMap<>();
        Stated at = stat(mount, path);
        all.put(path, at);
        if ((at.mode() & 0170000) == 0040000) {
            for (String name : mount.list(path)) {
                all.putAll(tree(mount, path + "/" + name));
            }
        }
        return all;
    }

    private static Stated at(Map<String, Stated> tree, String path) {
        Stated found = tree.get(path);
        return Objects.requireNonNull(found, path);
    }

    /** Alluxio is asked, and knows what was shown then, at once or when the mount's own thread has told it. */
    private Stated statLater(MemoryMount mount, String path) throws Exception {
        cluster.clock().advance(LONGER_THAN_ATTRIBUTES_LIVE);
        Stated shown = stat(mount, path);
        Eventually.holds("Alluxio knows the time of " + path, () -> {
            try (MemoryMount fresh = MemoryMount.of(cluster)) {
                return stat(fresh, path).modified().equals(shown.modified());
            }
        });
        return shown;
    }

    private static Map<String, Stated> again(MemoryMount mount, Map<String, Stated> noted) {
        return noted.keySet().stream()
                .collect(Collectors.toMap(path -> path, path -> stat(mount, path), (a, b) -> a, TreeMap::new));
    }

    /** Whatever happens but a program's change. */
    private void staysAsItIs(MemoryMount first, Map<String, Stated> noted) {
        assertThat(again(first, noted)).as("at once").isEqualTo(noted);
        cluster.clock().advance(LONGER_THAN_ATTRIBUTES_LIVE);
        assertThat(again(first, noted)).as("when attributes are old").isEqualTo(noted);
        assertThat(tree(first, "/tree")).as("when it is listed").isEqualTo(noted);
        first.dropCaches();
        assertThat(again(first, noted)).as("when the kernel forgot all").isEqualTo(noted);
        first.fileSystem().invalidate("/");
        assertThat(again(first, noted)).as("when all is invalid").isEqualTo(noted);
        awaitKnown(noted);
        first.kill();
        try (MemoryMount next = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("next"), first)) {
            assertThat(again(next, noted)).as("after a takeover").isEqualTo(noted);
            cluster.clock().advance(LONGER_THAN_ATTRIBUTES_LIVE);
            assertThat(tree(next, "/tree")).as("after a takeover, later").isEqualTo(noted);
        }
    }

    /** What the mount's own thread keeps in Alluxio a moment later, other mounts see then. */
    private void awaitKnown(Map<String, Stated> noted) {
        try {
            Eventually.holds("another mount shows " + noted, () -> {
                try (MemoryMount second = MemoryMount.of(cluster)) {
                    return again(second, noted).equals(noted);
                }
            });
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private MemoryMount first() {
        MemoryMount mount = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null);
        makeDirectory(mount, "/tree");
        return mount;
    }

    @Test
    void stat_ofFilesThatWereWritten_staysAsItWasAtTheClose() {
        try (MemoryMount mount = first()) {
            for (int i = 0; i < 5; i++) {
                make(mount, "/tree/new" + i, "text");
                make(mount, "/tree/empty" + i, "");
                make(mount, "/tree/grown" + i, "te");
                try (OpenFile file = mount.openToWrite("/tree/grown" + i)) {
                    file.write(2, new byte[] {'x'});
                    aMomentLater();
                }
            }
            staysAsItIs(mount, tree(mount, "/tree"));
        }
    }

    @Test
    void stat_ofFileThatIsOpen_isTheSameAfterItsClose() {
        try (MemoryMount mount = first()) {
            OpenFile made = written(mount, "/tree/file", "text");
            Stated open = stat(mount, "/tree/file");
            aMomentLater();
            made.close();
            assertThat(stat(mount, "/tree/file")).isEqualTo(open);
            try (OpenFile again = mount.openToWrite("/tree/file")) {
                again.write("other");
                aMomentLater();
                mount.requests().chmod(mount.lookup("/tree/file").id(), 0600);
                open = stat(mount, "/tree/file");
                assertThat(open.changed()).isAfter(open.modified());
                aMomentLater();
            }
            assertThat(stat(mount, "/tree/file")).isEqualTo(open);
            staysAsItIs(mount, tree(mount, "/tree"));
        }
    }

    @Test
    void stat_ofTreeAsCpMakesIt_showsTheTimesThatWereGiven() {
        try (MemoryMount mount = first()) {
            for (String directory : new String[] {"/tree/a", "/tree/a/b"}) {
                makeDirectory(mount, directory);
                for (int i = 0; i < 3; i++) {
                    OpenFile file = written(mount, directory + "/f" + i, "text");
                    setTime(mount, directory + "/f" + i);
                    mount.requests().chmod(file.opened().node().id(), 0640);
                    file.close();
                    aMomentLater();
                }
            }
            for (String directory : new String[] {"/tree/a/b", "/tree/a", "/tree"}) {
                setTime(mount, directory);
                mount.requests().chmod(mount.lookup(directory).id(), 0750);
                aMomentLater();
            }
            Map<String, Stated> noted = tree(mount, "/tree");
            assertThat(noted.values()).extracting(Stated::modified).containsOnly(GIVEN_TIME);
            staysAsItIs(mount, noted);
        }
    }

    /** As a program writes beside a file, renames it there, and removes another. */
    @Test
    void stat_ofFilesAndDirectoriesThatWereRenamed_staysAsItIs() {
        try (MemoryMount mount = first()) {
            makeDirectory(mount, "/tree/a");
            for (int i = 0; i < 3; i++) {
                make(mount, "/tree/a/file" + i, "old");
                make(mount, "/tree/a/tmp", "new");
                mount.rename("/tree/a/tmp", "/tree/a/file" + i);
                aMomentLater();
            }
            make(mount, "/tree/a/gone", "text");
            mount.unlink("/tree/a/gone");
            aMomentLater();
            makeDirectory(mount, "/tree/tmp");
            make(mount, "/tree/tmp/f", "text");
            mount.rename("/tree/tmp", "/tree/b");
            aMomentLater();
            makeDirectory(mount, "/tree/empty");
            mount.rmdir("/tree/empty");
            aMomentLater();
            mount.requests().symlink(mount.lookup("/tree").id(), "link", "a/file1");
            aMomentLater();
            staysAsItIs(mount, tree(mount, "/tree"));
        }
    }

    /** As tar compares before and after it read a directory. */
    @Test
    void list_ofFreshDirectory_doesNotMoveItsTimeNorItsLength() {
        try (MemoryMount mount = first()) {
            makeDirectory(mount, "/tree/d");
            make(mount, "/tree/d/f", "x");
            Stated before = stat(mount, "/tree/d");
            assertThat(mount.list("/tree/d")).containsExactly("f");
            assertThat(stat(mount, "/tree/d")).isEqualTo(before);
        }
    }

    @Test
    void stat_ofDirectory_staysWhenFileThatWasRemovedIsClosed() throws Exception {
        try (MemoryMount mount = first()) {
            make(mount, "/tree/file", "text");
            make(mount, "/tree/changed", "text");
            OpenFile open = mount.open("/tree/file");
            mount.unlink("/tree/file");
            aMomentLater();
            try (OpenFile changed = mount.openToWrite("/tree/changed")) {
                changed.write("more");
            }
            Map<String, Stated> noted = tree(mount, "/tree");
            aMomentLater();
            open.close();
            MemoryStore plain = cluster.connect();
            Eventually.holds(
                    "its hidden name is gone",
                    () -> plain.list("/tree", "", 10).entries().size() == 1);
            staysAsItIs(mount, noted);
        }
    }

    /** The kernel forgets its node with that, and it is no longer the one of its file. */
    @Test
    void stat_ofDirectory_staysWhenFileThatWasAppendedAndRemovedIsClosed() throws Exception {
        try (MemoryMount mount = first()) {
            make(mount, "/tree/file", "text");
            mount.write("/tree/file", "appended");
            OpenFile open = mount.open("/tree/file");
            mount.unlink("/tree/file");
            Map<String, Stated> noted = tree(mount, "/tree");
            aMomentLater();
            open.close();
            MemoryStore plain = cluster.connect();
            Eventually.holds(
                    "its hidden name is gone",
                    () -> plain.list("/tree", "", 10).entries().isEmpty());
            staysAsItIs(mount, noted);
        }
    }

    /** The response is of the time before that, and this mount does not know any more what it had done then. */
    @Test
    void getattr_ofDirectory_staysWhenItsTimesAreKeptDuringTheRequest() throws Exception {
        try (MemoryMount mount = first()) {
            make(mount, "/tree/file", "text");
            OpenFile open = mount.open("/tree/file");
            mount.unlink("/tree/file");
            aMomentLater();
            long tree = mount.lookup("/tree").id();
            Stated noted = mount.requests().stat(tree);
            aMomentLater();
            open.close();
            MemoryStore plain = cluster.connect();
            Eventually.holds(
                    "its hidden name is gone",
                    () -> plain.list("/tree", "", 10).entries().isEmpty());
            byte[] before = times(plain);
            mount.fileSystem().invalidate("/");
            mount.faults().on(StoreCall.STATUS).at("/tree").after(() -> awaitKept(plain, before));
            assertThat(mount.requests().stat(tree)).isEqualTo(noted);
            assertThat(mount.requests().stat(tree)).isEqualTo(noted);
        }
    }

    /** A program's request is answered first, while the one that would keep the times is under way. */
    @Test
    void getattr_ofDirectoryWhileItsTimesAreAboutToBeKept_leavesThemToBeKept() throws Exception {
        try (MemoryMount mount = first()) {
            make(mount, "/tree/file", "text");
            OpenFile open = mount.open("/tree/file");
            mount.unlink("/tree/file");
            aMomentLater();
            long tree = mount.lookup("/tree").id();
            Stated noted = mount.requests().stat(tree);
            aMomentLater();
            open.close();
            cluster.clock().awaitWaiting(1);
            MemoryStore plain = cluster.connect();
            byte[] before = times(plain);
            CountDownLatch answered = new CountDownLatch(1);
            mount.faults().on(StoreCall.STATUS).at("/tree").after(() -> {
                assertThat(mount.requests().stat(tree)).isEqualTo(noted);
                answered.countDown();
            });
            cluster.clock().advance(LONGER_THAN_ATTRIBUTES_LIVE);
            answered.await();
            awaitKept(plain, before);
            awaitKnown(Map.of("/tree", noted));
        }
    }

    private static byte[] times(MemoryStore plain) throws StoreException {
        return plain.status("/tree").xattrs().getOrDefault(PosixXattr.XATTR, new byte[0]);
    }

    private void awaitKept(MemoryStore plain, byte[] before) {
        try {
            Eventually.holds("its times are kept in Alluxio", () -> {
                cluster.clock().advance(Duration.ofSeconds(1));
                return !Arrays.equals(times(plain), before);
            });
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Nobody looks at the directory here; the other mount sees what it saw. */
    @Test
    void stat_ofDirectoryOnOtherMount_staysWhenFileInItIsCommitted() throws Exception {
        try (MemoryMount mount = first();
                MemoryMount other = MemoryMount.of(cluster)) {
            make(mount, "/tree/file", "text");
            Stated noted = statLater(mount, "/tree");
            assertThat(stat(other, "/tree")).isEqualTo(noted);
            int before = mount.faults().count(StoreCall.CHANGE);
            try (OpenFile file = mount.openToWrite("/tree/file")) {
                file.write("more");
            }
            cluster.clock().awaitWaiting(1);
            cluster.clock().advance(LONGER_THAN_ATTRIBUTES_LIVE);
            Eventually.holds("it is kept", () -> mount.faults().count(StoreCall.CHANGE) > before);
            assertThat(stat(other, "/tree")).isEqualTo(noted);
        }
    }

    /** Nobody asked Alluxio for the directory since, and what is known here is forgotten. */
    @Test
    void stat_ofDirectory_staysWhenItIsInvalidAtOnce() {
        try (MemoryMount mount = first()) {
            make(mount, "/tree/file", "text");
            make(mount, "/tree/gone", "text");
            mount.unlink("/tree/gone");
            Stated noted = stat(mount, "/tree");
            mount.fileSystem().invalidate("/");
            assertThat(stat(mount, "/tree")).isEqualTo(noted);
            try (MemoryMount other = MemoryMount.of(cluster)) {
                assertThat(stat(other, "/tree")).isEqualTo(noted);
            }
        }
    }

    /** The next mount shows what this one did. */
    @Test
    void stat_ofDirectory_staysWhenItIsUnmountedAtOnce() {
        Stated noted;
        try (MemoryMount mount = first()) {
            make(mount, "/tree/file", "text");
            noted = stat(mount, "/tree");
        }
        try (MemoryMount next = MemoryMount.of(cluster)) {
            assertThat(stat(next, "/tree")).isEqualTo(noted);
        }
    }

    /** Somebody looks at a directory after a change of its names: its attribute is on its way to Alluxio. */
    private record Look(long node, StoreFaults.Held kept, AsyncCall call) {
        void end() throws Exception {
            kept.open();
            call.await();
        }
    }

    private Look look(MemoryMount mount) throws Exception {
        make(mount, "/tree/file", "text");
        make(mount, "/tree/gone", "text");
        mount.unlink("/tree/gone");
        long node = mount.lookup("/tree").id();
        cluster.clock().advance(LONGER_THAN_ATTRIBUTES_LIVE);
        StoreFaults.Held kept = mount.faults().on(StoreCall.CHANGE).at("/tree").hold();
        AsyncCall call = AsyncCall.start(() -> mount.requests().getattr(node));
        kept.await();
        return new Look(node, kept, call);
    }

    /** Returns when the program is through, or waits in this method. */
    private static void isThroughOrWaits(AsyncCall program, Class<?> type, String method) throws Exception {
        Eventually.holds("it is through, or waits", () -> program.isDone() || Stacks.threadsIn(type, method) > 0);
    }

    @Test
    void change_ofDirectoryWhoseTimeIsBeingKept_stays() throws Exception {
        try (MemoryMount mount = first();
                MemoryMount other = MemoryMount.of(cluster)) {
            Look look = look(mount);
            AsyncCall program = AsyncCall.start(() -> {
                mount.requests().chown(look.node(), 2000);
                mount.requests().chmod(look.node(), 01777);
                setTime(mount, "/tree");
            });
            isThroughOrWaits(program, DirectoryTimes.class, "awaitRemotely");
            look.end();
            program.await();
            for (MemoryMount each : List.of(mount, other)) {
                Stated seen = statLater(each, "/tree");
                assertThat(seen.uid()).isEqualTo(2000);
                assertThat(seen.mode() & 07777).isEqualTo(01777);
                assertThat(seen.modified()).isEqualTo(GIVEN_TIME);
            }
        }
    }

    @Test
    void stat_ofDirectory_staysWhenNameIsChangedWhileItsTimeIsBeingKept() throws Exception {
        try (MemoryMount mount = first()) {
            Look look = look(mount);
            aMomentLater();
            mount.unlink("/tree/file");
            Stated noted = mount.requests().stat(look.node());
            look.end();
            staysAsItIs(mount, Map.of("/tree", noted));
        }
    }

    /** The next process may write the attribute as soon as this one has left. */
    @Test
    void leave_whileTimeOfDirectoryIsBeingKept_waitsForThat() throws Exception {
        MemoryMount mount = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("leaving"), null);
        makeDirectory(mount, "/tree");
        Look look = look(mount);
        AsyncCall leaves = AsyncCall.start(() -> {
            mount.fileSystem().leaveToNext();
            mount.fileSystem().close();
        });
        isThroughOrWaits(leaves, DirectoryTimes.class, "awaitWriters");
        assertThat(leaves.isDone()).isFalse();
        look.end();
        leaves.await();
    }

    /** As a program that goes on in a directory whose time it has set. */
    @Test
    void stat_ofDirectoryWhoseTimeWasSet_staysWhenNamesAreChangedAgain() {
        try (MemoryMount mount = first()) {
            make(mount, "/tree/file", "text");
            setTime(mount, "/tree");
            make(mount, "/tree/other", "text");
            Stated noted = stat(mount, "/tree");
            assertThat(noted.modified()).isNotEqualTo(GIVEN_TIME);
            staysAsItIs(mount, tree(mount, "/tree"));
        }
    }

    /** What the master's clock says is known only as exactly as a call was short. */
    @Test
    void names_madeByOthersAfterCallTookLong_moveTheTime() throws Exception {
        try (MemoryMount mount = first();
                MemoryMount other = MemoryMount.of(cluster)) {
            make(mount, "/tree/file", "text");
            mount.faults().on(StoreCall.CREATE).after(() -> cluster.clock().advance(Duration.ofSeconds(3)));
            make(mount, "/tree/slow", "text");
            mount.unlink("/tree/file");
            Stated noted = stat(mount, "/tree");
            aMomentLater();
            other.unlink("/tree/slow");
            Stated seen = statLater(mount, "/tree");
            assertThat(seen.modified()).isAfter(noted.modified());
            assertThat(statLater(other, "/tree")).isEqualTo(seen);
        }
    }

    @Test
    void names_madeByOthersWhileFileIsCommitted_moveTheTime() throws Exception {
        try (MemoryMount mount = first();
                MemoryMount other = MemoryMount.of(cluster)) {
            make(mount, "/tree/file", "text");
            Stated noted = stat(mount, "/tree");
            make(other, "/tree/before", "text");
            Stated seen = statLater(other, "/tree");
            aMomentLater();
            try (OpenFile file = mount.openToWrite("/tree/file")) {
                file.write("more");
            }
            assertThat(stat(mount, "/tree")).isEqualTo(seen).isNotEqualTo(noted);
            aMomentLater();
            make(other, "/tree/after", "text");
            seen = statLater(other, "/tree");
            assertThat(stat(mount, "/tree")).isEqualTo(seen);
            assertThat(stat(other, "/tree")).isEqualTo(seen);
        }
    }

    @Test
    void change_byOtherClient_isSeen() throws Exception {
        try (MemoryMount mount = first();
                MemoryMount other = MemoryMount.of(cluster)) {
            make(mount, "/tree/file", "text");
            setTime(mount, "/tree/file");
            setTime(mount, "/tree");
            aMomentLater();
            Map<String, Stated> before = tree(mount, "/tree");
            other.write("/tree/file", "other");
            aMomentLater();
            other.write("/tree/more", "text");
            statLater(other, "/tree");
            Map<String, Stated> after = tree(mount, "/tree");
            assertThat(after).containsOnlyKeys("/tree", "/tree/file", "/tree/more");
            assertThat(at(after, "/tree/file").modified())
                    .isEqualTo(stat(other, "/tree/file").modified())
                    .isAfter(at(before, "/tree/file").modified());
            assertThat(at(after, "/tree").modified())
                    .isEqualTo(stat(other, "/tree").modified())
                    .isAfter(at(before, "/tree").modified());
        }
    }

    /** One that knows nothing of our attribute. */
    @Test
    void replacement_byClientWithoutAttributes_showsItsTime() throws Exception {
        try (MemoryMount mount = first()) {
            make(mount, "/tree/file", "text");
            setTime(mount, "/tree/file");
            MemoryStore plain = cluster.connect();
            plain.delete("/tree/file");
            io.posixgateway.alluxio.store.StoreWriter sink =
                    plain.create("/tree/file", 0644, Map.of(), java.util.UUID.randomUUID());
            sink.complete();
            long millis = plain.status("/tree/file").modifiedMillis();
            cluster.clock().advance(LONGER_THAN_ATTRIBUTES_LIVE);
            assertThat(stat(mount, "/tree/file").modified()).isEqualTo(Instant.ofEpochMilli(millis));
        }
    }

    @Test
    void newFile_thatIsWritten_takesOneCallMoreForItsTime() {
        try (MemoryMount mount = first()) {
            int before = mount.faults().count(StoreCall.CHANGE);
            make(mount, "/tree/empty", "");
            assertThat(mount.faults().count(StoreCall.CHANGE) - before).isZero();
            make(mount, "/tree/file", "text");
            assertThat(mount.faults().count(StoreCall.CHANGE) - before).isEqualTo(1);
            try (OpenFile file = mount.openToWrite("/tree/file")) {
                file.write("more");
            }
            assertThat(mount.faults().count(StoreCall.CHANGE) - before)
                    .as("the file that replaces another has its time from its creation on")
                    .isEqualTo(1);
        }
    }

    @Test
    void accessTime_ofFile_isThatOfItsCreation() {
        try (MemoryMount mount = first()) {
            make(mount, "/tree/file", "text");
            long node = mount.lookup("/tree/file").id();
            mount.requests()
                    .setattr(node, SetAttributes.MODE, changes -> changes.putInt(Layouts.SETATTR_IN_MODE, 0600));
            staysAsItIs(mount, tree(mount, "/tree"));
        }
    }
}
