package io.posixgateway.alluxio.gateway;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.client.StoreParts;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.session.MountException;
import io.posixgateway.fuse.session.PersistentSession;
import io.posixgateway.fuse.session.SessionNotes;
import io.posixgateway.fuse.session.SessionOptions;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes that take the session of a real keeper, one after the other, and end at some point of their start. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SessionStartFaultTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String NAME = "vol";

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final Path folder;
    private final Path mountPoint;
    private final KeeperClient keeper;
    private Program program;

    SessionStartFaultTest(@TempDir Path folder) throws IOException {
        this.folder = folder;
        this.mountPoint = Files.createDirectory(folder.resolve("mount"));
        this.keeper = new KeeperClient(folder.resolve("keeper.sock"), 20_000, Clock.system());
    }

    @BeforeEach
    void mount() throws Exception {
        assumeTrue(Built.isRoot(), "only root can run a keeper that mounts");
        String socket = folder.resolve("keeper.sock").toString();
        program = Program.start(folder, List.of(Built.keeper().toString(), "--socket", socket));
        Waiting.until("the keeper answers", LIMIT, () -> {
            try {
                return keeper.pid() == program.pid();
            } catch (KeeperException notYet) {
                return false;
            }
        });
        keeper.mount(new KeeperClient.Mount(NAME, mountPoint.toString(), "test", false, false, true, List.of()));
    }

    @AfterEach
    void unmount() throws Exception {
        if (program != null) {
            keeper.unmount(NAME);
            program.close();
            Mounts.discard(mountPoint);
        }
    }

    private AlluxioFileSystem open(Path state) throws Exception {
        Clock clock = cluster.clock();
        AdapterOptions options = AdapterOptions.of(AdapterOptions.TABLE.read(Map.of("spool", state.toString())));
        return AlluxioMount.openPersistent(
                new AlluxioOptions("", "/", "", Map.of()),
                options,
                new AlluxioMount.Opening(StoreParts.metered(cluster.connect(), clock), false),
                clock);
    }

    private static SessionOptions options() {
        return MountOptions.kept(FileSystemFactory.OPTIONS.read(Map.of()), NAME, false);
    }

    /** A process that serves the session from this folder, and leaves it to the next one. */
    private void serve(Path state) throws Exception {
        AlluxioFileSystem files = open(state);
        try {
            PersistentSession kept = SessionStart.resume(NAME, files, keeper.take(NAME));
            try (FuseSession session = FuseSession.serve(files, kept, options(), Clock.system())) {
                assertThat(session.ended()).isFalse();
                files.leaveToNext();
            }
        } finally {
            files.leaveToNext();
            files.close();
        }
    }

    private void isServedElsewhere(ThrowingCallable step) {
        assertThatThrownBy(step)
                .isInstanceOfSatisfying(ServiceException.class, e -> assertThat(e.kind())
                        .isEqualTo(ServiceException.Kind.SERVED_ELSEWHERE))
                .hasMessageContaining("another gateway serves volume " + NAME);
    }

    /** Started with another spool, it does not see the lock of the one that serves. */
    @Test
    void aSecondGateway_neitherServesNorRefusesNorEndsASession_thatOneServes() throws Exception {
        Path state = folder.resolve("state");
        RefusedSessions refused = new RefusedSessions(keeper, Clock.system());
        AlluxioFileSystem files = open(state);
        PersistentSession kept = SessionStart.resume(NAME, files, keeper.take(NAME));
        try (FuseSession session = FuseSession.serve(files, kept, options(), Clock.system())) {
            isServedElsewhere(() -> serve(folder.resolve("other")));
            isServedElsewhere(() -> refused.refuse(NAME, new byte[0], options(), "A test says so"));
            isServedElsewhere(() -> refused.abort(NAME, "A test says so"));
            assertThat(mountPoint).isEmptyDirectory();
            assertThat(session.ended()).isFalse();
            files.leaveToNext();
        }
        refused.refuse(NAME, new byte[0], options(), "A test says so");
        isServedElsewhere(() -> serve(state));
        refused.endAll();
        serve(state);
    }

    /** Such as for want of memory: what was claimed for good could never be served, nor even ended. */
    @Test
    void aSession_whoseStartFailsUnexpectedly_canBeClaimedAgain() throws Exception {
        AlluxioFileSystem files = open(folder.resolve("state"));
        FileSystem broken = (FileSystem)
                Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {FileSystem.class}, (p, m, a) -> {
                    throw new OutOfMemoryError("a test says so");
                });
        try {
            PersistentSession kept = SessionStart.resume(NAME, files, keeper.take(NAME));
            assertThatThrownBy(() -> FuseSession.serve(broken, kept, options(), Clock.system()))
                    .isInstanceOf(OutOfMemoryError.class);
        } finally {
            files.leaveToNext();
            files.close();
        }
        serve(folder.resolve("state"));
    }

    @Test
    void aFolderThatIsHeld_isThatOfAProcessThatIsEnding_whereNobodyClaimsTheSessionAnyMore() throws Exception {
        ServiceException held = FileSystemFactory.failure(StoreException.heldFolder("a test says so"));
        serve(folder.resolve("state"));
        isEnding(SessionStart.whyHeld(NAME, keeper, false, held));
        PersistentSession claimed = SessionStart.claimed(NAME, keeper.take(NAME));
        try {
            isServedElsewhere(() -> {
                throw SessionStart.whyHeld(NAME, keeper, false, held);
            });
            isEnding(SessionStart.whyHeld(NAME, keeper, true, held));
        } finally {
            claimed.close();
        }
        ServiceException other = FileSystemFactory.failure(new StoreException(Errno.EBUSY, "Alluxio says so", null));
        assertThat(SessionStart.whyHeld(NAME, keeper, false, other)).isSameAs(other);
    }

    private static void isEnding(ServiceException why) {
        assertThat(why.kind()).isEqualTo(ServiceException.Kind.ENDING);
        assertThat(why).hasMessageContaining("restart the node");
    }

    /** One of those that claim nothing may live: its calls are not answered by another beside it. */
    @Test
    void aFolderThatIsHeld_isNotThatOfAProcessThatIsEnding_whereAnEarlierVersionServes() throws Exception {
        ServiceException held = FileSystemFactory.failure(StoreException.heldFolder("a test says so"));
        assertThat(SessionStart.whyHeld(NAME, keeper, false, held)).isSameAs(held);
    }

    private void isRefused(Path state) {
        assertThatThrownBy(() -> serve(state))
                .isInstanceOfSatisfying(
                        ServiceException.class, e -> assertThat(e.kind()).isEqualTo(ServiceException.Kind.PRECONDITION))
                .hasMessageContaining("cannot be served from " + state)
                .hasMessageContaining("stateDir");
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectory(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    @Test
    void aSession_thatWasServed_isRefusedFromAnotherFolder() throws Exception {
        serve(folder.resolve("first"));
        isRefused(folder.resolve("other"));
        serve(folder.resolve("first"));
        isRefused(folder.resolve("other"));
    }

    @Test
    void aSession_isServedFromACopyOfItsFolder_andFromThenOnFromThatAlone() throws Exception {
        serve(folder.resolve("first"));
        copy(folder.resolve("first"), folder.resolve("copy"));
        serve(folder.resolve("copy"));
        isRefused(folder.resolve("first"));
        serve(folder.resolve("copy"));
    }

    /** Killed after the folder had the new id, and before the session had it. */
    @Test
    void aSession_whoseProcessWasKilledWhileItWasMarked_isServedFromItsFolder() throws Exception {
        serve(folder.resolve("first"));
        long before = folderOf();
        serve(folder.resolve("first"));
        folderIs(before);
        serve(folder.resolve("first"));
    }

    /** Which folder it is, is not known. */
    @Test
    void aSession_thatAnEarlierVersionServed_isServedFromTheFolderThatIsGiven() throws Exception {
        serve(folder.resolve("first"));
        folderIs(0);
        serve(folder.resolve("other"));
        isRefused(folder.resolve("first"));
    }

    /** A folder with what a mount of this name left when its node died: a draft of a file that another node has written since. */
    private Path left() throws Exception {
        Path left = folder.resolve("left");
        try (MemoryMount other = MemoryMount.of(cluster);
                MemoryMount dead = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("dead"), null)) {
            other.write("/file", "begun from");
            dead.openToWrite("/file").write("STALE");
            dead.kill();
            dead.leaveTo(left);
            other.write("/file", "acknowledged");
        }
        return left;
    }

    private void isSetAside(Path state) throws Exception {
        try (Stream<Path> aside = Files.list(state.resolve("aside"))) {
            assertThat(aside.filter(file -> file.toString().matches(".*spool-\\d+")))
                    .singleElement()
                    .satisfies(content -> assertThat(content).hasContent("STALE from"));
        }
        assertThat(cluster.ufs().read("/file")).asString().isEqualTo("acknowledged");
    }

    @Test
    void whatADeadMountLeft_isSetAside_thoughTheFirstProcessEndedBeforeThat() throws Exception {
        Path state = left();
        keeper.take(NAME).close();
        serve(state);
        isSetAside(state);
    }

    @Test
    void whatADeadMountLeft_isSetAside_thoughTheSessionWasRefusedAtFirst() throws Exception {
        Path state = left();
        refuseOnce();
        refuseOnce();
        serve(state);
        isSetAside(state);
    }

    private boolean servedBefore() throws Exception {
        PersistentSession kept = keeper.take(NAME);
        try (SessionNotes notes = SessionNotes.of(kept)) {
            return notes.servedBefore();
        } finally {
            kept.close();
        }
    }

    private void refuseOnce() throws Exception {
        RefusedSessions refused = new RefusedSessions(keeper, Clock.system());
        refused.refuse(NAME, new byte[] {1}, options(), "A test says so");
        refused.endAll();
    }

    @Test
    void aSession_thatWasServed_isGoneOnWith_thoughItWasRefusedSince() throws Exception {
        assertThat(servedBefore()).isFalse();
        serve(folder.resolve("first"));
        assertThat(servedBefore()).isTrue();
        refuseOnce();
        assertThat(servedBefore()).isTrue();
    }

    /** As after a rollback: that version knows no note of it. */
    @Test
    void aSession_thatAnEarlierVersionServed_isGoneOnWith_thoughItWasRefusedBefore() throws Exception {
        try (MemoryMount other = MemoryMount.of(cluster)) {
            other.write("/file", "text");
        }
        refuseOnce();
        assertThat(servedBefore()).isFalse();
        AlluxioFileSystem files = open(folder.resolve("first"));
        PersistentSession kept = keeper.take(NAME);
        files.resume(true);
        try (FuseSession session = FuseSession.serve(files, kept, options(), Clock.system())) {
            assertThat(mountPoint.resolve("file")).hasContent("text");
            assertThat(session.ended()).isFalse();
            files.leaveToNext();
        }
        assertThat(servedBefore()).isTrue();
    }

    /** Such as by abort_after: the keeper and its mount live on. */
    @Test
    void aSession_whoseConnectionWasAborted_isNotServed() throws Exception {
        serve(folder.resolve("first"));
        assertThat(keeper.list()).extracting(KeeperClient.Session::ended).containsExactly(false);
        abortConnection();
        assertThatThrownBy(() -> serve(folder.resolve("first")))
                .isInstanceOf(MountException.class)
                .hasMessageContaining("connection has ended");
        assertThat(keeper.list()).extracting(KeeperClient.Session::ended).containsExactly(true);
    }

    private void abortConnection() throws Exception {
        PersistentSession kept = keeper.take(NAME);
        kept.close();
        String number = requireNonNull(kept.device()).replaceFirst(".*:", "");
        String script = "cd /sys/fs/fuse/connections; [ -d " + number
                + " ] || mount -t fusectl fusectl . && cd \"$PWD\";" + " echo 1 > " + number + "/abort";
        try (Program aborts = Program.start(folder, List.of("unshare", "--mount", "sh", "-c", script))) {
            assertThat(aborts.await(LIMIT)).as(aborts.output()).isZero();
        }
    }

    /** Which folder the session remembers. */
    private long folderOf() throws Exception {
        PersistentSession kept = keeper.take(NAME);
        try (SessionNotes notes = SessionNotes.of(kept)) {
            return notes.folder();
        } finally {
            kept.close();
        }
    }

    private void folderIs(long id) throws Exception {
        PersistentSession kept = keeper.take(NAME);
        try (SessionNotes notes = SessionNotes.of(kept)) {
            notes.folderIs(id);
        } finally {
            kept.close();
        }
    }
}
