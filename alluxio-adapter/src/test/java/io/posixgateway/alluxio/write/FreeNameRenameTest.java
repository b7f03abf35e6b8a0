package io.posixgateway.alluxio.write;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file is renamed to a name that nobody has, where that is a copy, and the master is lost meanwhile: it has one name then. */
class FreeNameRenameTest {
    private static final String CONTENT = "content";
    private static final int MODE = 0640;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
    private final MemoryStore other = cluster.connect();
    private final MemoryMount mount = MemoryMount.of(cluster.connect()).open();

    @BeforeEach
    void makeFile() {
        mount.mkdir("/dir");
        mount.write("/dir/file", CONTENT);
        long file = mount.lookup("/dir/file").id();
        mount.requests().chmod(file, MODE);
        mount.requests().setxattr(file, "user.a", "1");
    }

    @AfterEach
    void unmount() {
        cluster.startMaster();
        mount.close();
    }

    private static void fails(int errno, Runnable work) {
        assertThatThrownBy(work::run).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(errno));
    }

    /** On this mount, to other clients of Alluxio, and in the bucket. */
    private void assertHasOnly(String name) throws StoreException {
        String path = "/dir/" + name;
        assertThat(mount.list("/dir")).containsExactly(name);
        assertThat(mount.read(path)).isEqualTo(CONTENT);
        assertThat(mount.stat(path).mode() & 0777).isEqualTo(MODE);
        assertThat(mount.requests().getxattr(mount.lookup(path).id(), "user.a")).isEqualTo("1");
        assertThat(cluster.ufs().list("/dir")).containsExactly(name);
        assertThat(cluster.ufs().read(path)).asString().isEqualTo(CONTENT);
        List<FileStatus> seen = other.list("/dir", "", 100).entries();
        assertThat(seen).extracting(FileStatus::name).containsExactly(name);
        assertThat(seen.get(0).mode()).isEqualTo(MODE);
        mount.dropCaches();
        cluster.clock().advance(Duration.ofMinutes(1));
        assertThat(mount.list("/dir")).containsExactly(name);
        assertThat(mount.read(path)).isEqualTo(CONTENT);
    }

    /** The store has done it, and the master's journal has nothing of that. */
    @Test
    void rename_whoseMasterDiesAfterTheCopy_isDone() throws StoreException {
        mount.faults().on(StoreCall.RENAME).dieAfterTheCopy();
        mount.rename("/dir/file", "/dir/free");
        assertHasOnly("free");
    }

    @Test
    void rename_ofOpenFile_whoseMasterDiesAfterTheCopy_isDone() throws StoreException {
        try (OpenFile file = mount.openToWrite("/dir/file")) {
            file.write(0, "CONTENT".getBytes(UTF_8));
            mount.faults().on(StoreCall.RENAME).nth(2).dieAfterTheCopy();
            mount.rename("/dir/file", "/dir/free");
            file.write(0, CONTENT.getBytes(UTF_8));
        }
        assertHasOnly("free");
    }

    /** The copy is there, and so is what was copied. */
    @Test
    void rename_whoseMasterDiesBeforeItDeletesTheOldObject_isDone() throws StoreException {
        mount.faults()
                .on(StoreCall.RENAME)
                .before(() -> cluster.ufs().write("/dir/free", CONTENT.getBytes(UTF_8)))
                .loseRequest();
        mount.rename("/dir/file", "/dir/free");
        assertHasOnly("free");
    }

    @Test
    void rename_whoseMasterDiesBeforeTheCopy_isUndone() throws StoreException {
        mount.faults().on(StoreCall.RENAME).loseRequest();
        fails(Errno.EIO, () -> mount.rename("/dir/file", "/dir/free"));
        assertHasOnly("file");
        mount.rename("/dir/file", "/dir/free");
        assertHasOnly("free");
    }

    @Test
    void rename_whoseAnswerIsLost_isDone() throws StoreException {
        mount.faults().on(StoreCall.RENAME).loseAnswer();
        mount.rename("/dir/file", "/dir/free");
        assertHasOnly("free");
    }

    /** Longer than a program waits: it hears of a failure, and the file has one name again with the master. */
    @Test
    void rename_whoseMasterStaysAway_isFinishedWhenItIsBack() throws Exception {
        mount.faults().on(StoreCall.RENAME).after(cluster::stopMaster).dieAfterTheCopy();
        fails(Errno.EIO, () -> mount.rename("/dir/file", "/dir/free"));
        cluster.startMaster();
        Eventually.holds("Alluxio has the new name alone", () -> {
            cluster.clock().advance(Duration.ofSeconds(1));
            List<FileStatus> seen = other.list("/dir", "", 100).entries();
            return seen.size() == 1
                    && seen.get(0).name().equals("free")
                    && seen.get(0).mode() == MODE;
        });
        mount.dropCaches();
        cluster.clock().advance(Duration.ofMinutes(1));
        assertHasOnly("free");
    }

    /** Another client removed it in the bucket: what the new name would be is nothing. */
    @Test
    void rename_ofFileWhoseObjectIsGone_fails() throws StoreException {
        cluster.ufs().delete("/dir/file");
        fails(Errno.EIO, () -> mount.rename("/dir/file", "/dir/free"));
        assertThat(cluster.ufs().list("/dir")).isEmpty();
        mount.dropCaches();
        cluster.clock().advance(Duration.ofMinutes(1));
        assertThat(mount.list("/dir")).isEmpty();
    }

    /** Another client took the name in the bucket: its file is not lost, nor is the renamed one. */
    @Test
    void rename_toNameThatAnotherClientTook_replacesIt() throws StoreException {
        mount.list("/dir");
        cluster.ufs().write("/dir/free", "of another client".getBytes(UTF_8));
        mount.rename("/dir/file", "/dir/free");
        assertHasOnly("free");
    }

    /** The hashes of their paths are the same. */
    @Test
    void rename_besideOneOfAnEarlierProcessForWhichAlluxioHangs_doesNotWait(@TempDir Path folder) throws Exception {
        assertThat("/dir/Aa".hashCode()).isEqualTo("/dir/BB".hashCode());
        MemoryStore client = cluster.connect();
        try (MemoryMount killed = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null)) {
            killed.write("/dir/Aa", "one");
            killed.write("/dir/BB", "other");
            killed.faults().on(StoreCall.RENAME).before(() -> killed.killAfter(0, true, folder.resolve("left")));
            assertThatThrownBy(() -> killed.rename("/dir/Aa", "/dir/free")).isInstanceOf(FuseFailure.class);
            assertThat(killed.isKilled()).isTrue();
            StoreFaults.Held hangs =
                    client.faults().on(StoreCall.DETAILS).at("/dir/Aa").hold();
            try (MemoryMount next = MemoryMount.of(client).openPersistent(folder.resolve("next"), killed)) {
                AsyncCall waits = AsyncCall.start(() -> next.rename("/dir/Aa", "/dir/free"));
                hangs.await();
                AsyncCall passes = AsyncCall.start(() -> next.rename("/dir/BB", "/dir/moved"));
                Eventually.holds("it is renamed", () -> cluster.ufs().exists("/dir/moved"));
                hangs.open();
                passes.await();
                waits.await();
                assertThat(next.read("/dir/free")).isEqualTo("one");
            } finally {
                hangs.open();
            }
        }
    }
}
