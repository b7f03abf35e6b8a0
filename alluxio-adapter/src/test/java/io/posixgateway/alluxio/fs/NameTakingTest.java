package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Names that seem to be taken, and are not, can be taken; those of others cannot. */
class NameTakingTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final Store others = cluster.connect();

    private MemoryMount mount(String ttl) {
        return MemoryMount.of(cluster.connect()).with("metadata_ttl", ttl).open();
    }

    private static void fails(int errno, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(errno));
    }

    private static void make(MemoryMount mount, String path, String content) {
        try (MemoryMount.OpenFile file = mount.create(path)) {
            file.write(content);
        }
    }

    /** It counts as a writer while it waits for the removal, so the end of the other one leaves the content to it. */
    @Test
    void open_thatIsKilledWhileTheFileIsBeingRemoved_leavesNothingThatIsNotUploaded() throws Exception {
        try (MemoryMount mount = mount("1h")) {
            make(mount, "/file", "old");
            MemoryMount.OpenFile writer = mount.openToWrite("/file");
            writer.write("new");
            StoreFaults.Held removal = mount.faults()
                    .on(StoreCall.DELETE)
                    .at("/file")
                    .fail(Errno.EIO)
                    .hold();
            FuseNode file = mount.lookup("/file");
            FutureTask<Void> remover = started(() -> fails(Errno.EIO, () -> mount.unlink("/file")));
            removal.await();
            AtomicReference<Thread> killed = new AtomicReference<>();
            FutureTask<Void> opener = started(() -> {
                killed.set(Thread.currentThread());
                fails(Errno.EINTR, () -> mount.requests().open(file, Stat.O_RDWR));
            });
            Eventually.holds("it began", () -> killed.get() != null);
            Eventually.holds(
                    "it waits",
                    () -> !mount.requests().inFlight(0).isEmpty()
                            && mount.fileSystem().counts().openFiles() == 2);
            mount.requests().release(writer.opened());
            mount.requests().interrupt(Objects.requireNonNull(killed.get()));
            opener.get(60, TimeUnit.SECONDS);
            removal.open();
            remover.get(60, TimeUnit.SECONDS);
            Eventually.holds("it is uploaded", () -> inUfs("/file").equals("new"));
            Eventually.holds(
                    "nothing is left", () -> mount.fileSystem().counts().changedFiles() == 0);
        }
    }

    private static FutureTask<Void> started(Runnable work) {
        FutureTask<Void> task = new FutureTask<>(work, null);
        new Thread(task, "beside").start();
        return task;
    }

    private StoreWriter begin(String path) throws StoreException {
        return others.create(path, 0600, Map.of(), UUID.randomUUID());
    }

    private void makeByOthers(String path, String content) throws StoreException {
        StoreWriter made = begin(path);
        made.write(content.getBytes(StandardCharsets.UTF_8), 0, content.length());
        made.complete();
    }

    /** As when a directory's names are loaded while they change: Alluxio believes in a file that its store has no more. */
    private void bringBack(String path) throws StoreException {
        begin(path).complete();
        assertThat(cluster.ufs().delete(path)).isTrue();
        assertThat(others.status(path).complete()).isTrue();
    }

    private String inUfs(String path) {
        byte[] content = cluster.ufs().read(path);
        return content == null ? "nothing" : new String(content, StandardCharsets.UTF_8);
    }

    @Test
    void create_ofNameThatAlluxioAloneBelievesIn_takesIt() throws Exception {
        try (MemoryMount mount = mount("1h")) {
            make(mount, "/source", "source");
            for (String path : new String[] {"/made", "/moved", "/folder"}) {
                assertThat(mount.exists(path)).isFalse();
                bringBack(path);
            }
            make(mount, "/made", "made");
            mount.rename("/source", "/moved");
            mount.mkdir("/folder");
            assertThat(inUfs("/made")).isEqualTo("made");
            assertThat(inUfs("/moved")).isEqualTo("source");
            assertThat(inUfs("/source")).isEqualTo("nothing");
            assertThat(cluster.ufs().exists("/folder")).isTrue();
            assertThat(mount.stat("/folder").isDirectory()).isTrue();
        }
    }

    @Test
    void lookup_ofNameThatWasTakenAway_doesNotBelieveAlluxioAlone() throws Exception {
        try (MemoryMount mount = mount("0s")) {
            for (String name : new String[] {"deleted", "moved", "listed", "others"}) {
                make(mount, "/" + name, name);
            }
            for (String name : new String[] {"deleted", "listed", "others"}) {
                mount.unlink("/" + name);
            }
            mount.rename("/moved", "/here");
            for (String name : new String[] {"deleted", "moved", "listed"}) {
                bringBack("/" + name);
            }
            begin("/others").complete();
            assertThat(mount.exists("/deleted")).isFalse();
            make(mount, "/deleted", "again");
            assertThat(mount.exists("/moved")).isFalse();
            mount.rename("/here", "/moved");
            assertThat(mount.read("/moved")).isEqualTo("moved");
            assertThat(mount.list("/")).containsExactlyInAnyOrder("deleted", "moved", "others");
            assertThat(mount.read("/others")).isEmpty();
            assertThat(mount.read("/deleted")).isEqualTo("again");
        }
    }

    @Test
    void create_ofNameThatOthersTookMeanwhile_leavesTheirs() throws Exception {
        try (MemoryMount mount = mount("1h")) {
            assertThat(mount.exists("/whole")).isFalse();
            assertThat(mount.exists("/begun")).isFalse();
            makeByOthers("/whole", "o");
            StoreWriter begun = begin("/begun");
            for (String path : new String[] {"/whole", "/begun"}) {
                fails(Errno.EEXIST, () -> mount.create(path));
            }
            begun.write(new byte[] {'b'}, 0, 1);
            begun.complete();
            assertThat(inUfs("/whole")).isEqualTo("o");
            assertThat(inUfs("/begun")).isEqualTo("b");
            assertThat(mount.read("/whole")).isEqualTo("o");
        }
    }

    /** As rename(2) has it: the name's being believed missing here does not make it one that must be free. */
    @Test
    void rename_toNameThatOthersTookMeanwhile_replacesTheirs() throws Exception {
        try (MemoryMount mount = mount("1h")) {
            make(mount, "/source", "source");
            assertThat(mount.exists("/target")).isFalse();
            makeByOthers("/target", "others");
            mount.rename("/source", "/target");
            assertThat(mount.read("/target")).isEqualTo("source");
            assertThat(mount.list("/")).containsExactly("target");
            assertThat(inUfs("/target")).isEqualTo("source");
            assertThat(inUfs("/source")).isEqualTo("nothing");
            // Of theirs, too, which the kernel never knew.
            Eventually.holds(
                    "nothing is left",
                    () -> mount.fileSystem().counts().changedFiles() == 0
                            && mount.fileSystem().counts().spoolBytes() == 0);
        }
    }

    @Test
    void renameWithoutReplacing_toNameThatOthersTookMeanwhile_leavesBoth() throws Exception {
        try (MemoryMount mount = mount("1h")) {
            make(mount, "/source", "source");
            assertThat(mount.exists("/target")).isFalse();
            makeByOthers("/target", "others");
            fails(Errno.EEXIST, () -> mount.rename("/source", "/target", Stat.RENAME_NOREPLACE));
            assertThat(mount.read("/source")).isEqualTo("source");
            assertThat(inUfs("/target")).isEqualTo("others");
        }
    }

    /** Without any other call to the mount. */
    private void awaitUndone(MemoryMount mount) throws InterruptedException {
        Eventually.holds(
                "the creation is undone",
                () -> mount.faults().count(StoreCall.DELETE) == 1
                        && !cluster.ufs().exists("/again")
                        && isFree("/again"));
    }

    private boolean isFree(String path) {
        try {
            return others.status(path).id() < 0;
        } catch (StoreException e) {
            return e.errno() == Errno.ENOENT;
        }
    }

    /** Its incomplete file is in Alluxio, and would be in everyone's way. */
    @Test
    void create_afterCreationWhoseAnswerWasLost_takesName() throws Exception {
        try (MemoryMount mount = mount("1h")) {
            assertThat(mount.exists("/again")).isFalse();
            mount.faults().on(StoreCall.CREATE).loseAnswer();
            fails(Errno.EIO, () -> mount.create("/again"));
            awaitUndone(mount);
            make(mount, "/again", "written");
            assertThat(inUfs("/again")).isEqualTo("written");
            assertThat(mount.read("/again")).isEqualTo("written");
        }
    }

    /** The request may still be on its way: it is made and removed, so that it finds that it was done. */
    @Test
    void create_afterCreationWhoseRequestWasLost_takesName() throws Exception {
        try (MemoryMount mount = mount("1h")) {
            mount.faults().on(StoreCall.CREATE).loseRequest();
            fails(Errno.EIO, () -> mount.create("/again"));
            awaitUndone(mount);
            assertThat(mount.exists("/again")).isFalse();
            make(mount, "/again", "written");
            assertThat(inUfs("/again")).isEqualTo("written");
        }
    }

    /** What others made at that name since is theirs, and stays. */
    @Test
    void create_afterLostAnswerAndOthersTookName_leavesTheirs() throws Exception {
        try (MemoryMount mount = mount("1h")) {
            mount.faults().on(StoreCall.CREATE).loseAnswer();
            mount.faults().on(StoreCall.CREATE).loseRequest(); // of what would undo it at once
            fails(Errno.EIO, () -> mount.create("/again"));
            Eventually.holds("it was tried", () -> mount.faults().count(StoreCall.CREATE) == 2);
            others.delete("/again");
            makeByOthers("/again", "others");
            fails(Errno.EEXIST, () -> mount.create("/again"));
            assertThat(inUfs("/again")).isEqualTo("others");
        }
    }
}
