package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.meta.PathLocks;
import io.posixgateway.alluxio.meta.TempNames;
import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.Bound;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.Stacks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A directory is removed while hidden files in it are: each is removed once, wherever it is by then. */
class SillyRenameInRemovedDirectoryTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryStore outside = cluster.connect();
    private final Path folder;

    SillyRenameInRemovedDirectoryTest(@TempDir Path folder) {
        this.folder = folder;
    }

    /** What others do meanwhile. */
    private interface Work {
        void run() throws StoreException;
    }

    private static Runnable unchecked(Work work) {
        return () -> {
            try {
                work.run();
            } catch (StoreException e) {
                throw new AssertionError(e);
            }
        };
    }

    private boolean isEmpty() throws StoreException {
        return outside.list("/", "", 100).entries().isEmpty()
                && cluster.ufs().list("/").isEmpty();
    }

    /** The file was deleted while it is open, and is removed now that the kernel forgets it. */
    private static StoreFaults.Held isBeingRemoved(MemoryMount mount, String path) throws InterruptedException {
        Bound known = mount.bind(path);
        OpenFile file = mount.open(path);
        mount.unlink(path);
        file.close();
        // The end of the handle finds that the kernel knows the file. Were it seen later, it would remove the file,
        // too.
        CountDownLatch done = new CountDownLatch(1);
        mount.fileSystem().volume.later(done::countDown);
        done.await();
        StoreFaults.Held removal = mount.faults().on(StoreCall.DELETE).hold();
        known.close();
        removal.await();
        return removal;
    }

    /** Returns when the program is through, or waits for those who go by a path that it takes away. */
    private static void isThroughOrWaits(AsyncCall program) throws Exception {
        Eventually.holds(
                "it is through, or waits",
                () -> program.isDone() || Stacks.threadsIn(PathLocks.class, "awaitTrue") > 0);
    }

    @Test
    void rmdir_whileDeletedFileInItIsBeingRemoved_leavesNothing() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.mkdir("/d");
            mount.write("/d/file", "text");
            StoreFaults.Held removal = isBeingRemoved(mount, "/d/file");
            AsyncCall rmdir = AsyncCall.start(() -> mount.rmdir("/d"));
            isThroughOrWaits(rmdir);
            removal.open();
            rmdir.await();
            Eventually.holds("nothing is left", this::isEmpty);
        }
    }

    @Test
    void rename_overDirectoryInWhichDeletedFileIsBeingRemoved_leavesNothing() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.mkdir("/new");
            mount.mkdir("/d");
            mount.write("/d/file", "text");
            StoreFaults.Held removal = isBeingRemoved(mount, "/d/file");
            AsyncCall rename = AsyncCall.start(() -> mount.rename("/new", "/d"));
            isThroughOrWaits(rename);
            removal.open();
            rename.await();
            mount.rmdir("/d");
            Eventually.holds("nothing is left", this::isEmpty);
        }
    }

    /** The mount that hid it hears nothing of that. */
    @Test
    void rmdir_byAnotherMountWhileDeletedFileInItIsOpen_leavesNothing() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster);
                MemoryMount another = MemoryMount.of(cluster)) {
            mount.mkdir("/d");
            mount.write("/d/file", "text");
            OpenFile file = mount.open("/d/file");
            mount.unlink("/d/file");
            another.rmdir("/d");
            assertThat(outside.list("/", "", 100).entries()).as("it moved up").hasSize(1);
            assertThat(file.readText()).isEqualTo("text");
            file.close();
            Eventually.holds("nothing is left", this::isEmpty);
        }
    }

    @Test
    void rmdir_whoseHiddenFileIsRemovedMeanwhile_succeeds() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.mkdir("/d");
            String hidden = "/d/" + TempNames.make();
            outside.create(hidden, 0644, Map.of(), UUID.randomUUID()).complete();
            mount.faults().on(StoreCall.RENAME).before(unchecked(() -> outside.delete(hidden)));
            mount.rmdir("/d");
            assertThat(isEmpty()).isTrue();
        }
    }

    /** Another mount removes its directory just then. */
    @Test
    void hiddenFile_thatMovesUpAsTheNextProcessRemovesIt_isRemoved() throws Exception {
        MemoryMount killed =
                MemoryMount.of(cluster.connect()).in(folder.resolve("first")).open();
        killed.mkdir("/d");
        killed.write("/d/file", "text");
        OpenFile file = killed.open("/d/file");
        killed.unlink("/d/file");
        killed.kill();
        String name = outside.list("/d", "", 100).entries().get(0).name();
        killed.leaveTo(folder.resolve("next"));
        MemoryStore client = cluster.connect();
        client.faults().on(StoreCall.DELETE).before(unchecked(() -> {
            outside.rename("/d/" + name, "/" + name, false);
            outside.delete("/d");
        }));
        try (MemoryMount next =
                MemoryMount.of(client).in(folder.resolve("next")).open()) {
            Eventually.holds("nothing is left", () -> {
                cluster.clock().advance(Duration.ofSeconds(1));
                return isEmpty();
            });
            assertThat(next.list("/")).isEmpty();
        }
        assertThat(file.opened()).isNotNull();
        killed.close();
    }
}
