package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.meta.PathLocks;
import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.FuseRequests;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreFaults.Held;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.Stacks;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** While a file is on its way to a worker that does not answer: who looks at it waits for nothing, and who waits can be killed. */
class HeldCommitTest {
    /** More than the pool has threads. */
    private static final int LOOKS = 80;
    /** After the entries and attributes that the mount may keep. */
    private static final Duration FORGOTTEN = Duration.ofMinutes(1);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private MemoryMount mount;

    @BeforeEach
    void mount() {
        mount = MemoryMount.of(cluster);
    }

    @AfterEach
    void unmount() {
        mount.close();
    }

    /** A program that closes a file it wrote, which waits for the worker. */
    private record Commit(AsyncCall close, Held worker) {
        void finish() throws Exception {
            assertThat(close.isDone()).as("the writer waits").isFalse();
            worker.open();
            close.await();
        }
    }

    private Commit commit(String path, String content) throws Exception {
        OpenFile file = mount.openToWrite(path);
        file.truncate(0);
        file.write(content);
        Held worker = mount.faults().on(StoreCall.WRITE).hold();
        AsyncCall close = AsyncCall.start(file::close);
        worker.await();
        return new Commit(close, worker);
    }

    @Test
    void lookupGetattrReaddir_whileFileIsCommitted_showItAsWrittenAndDoNotWait() throws Exception {
        mount.write("/file", "before");
        Commit commit = commit("/file", "all that was written");
        cluster.clock().advance(FORGOTTEN);
        for (int i = 0; i < LOOKS; i++) {
            assertThat(mount.list("/")).containsExactly("file");
            FuseNode node = mount.lookup("/file");
            assertThat(node.lengthBytes()).isEqualTo("all that was written".length());
            assertThat(mount.requests().getattr(node.id()).lengthBytes()).isEqualTo(node.lengthBytes());
        }
        commit.finish();
        assertThat(mount.read("/file")).isEqualTo("all that was written");
        assertThat(cluster.ufs().read("/file")).asString().isEqualTo("all that was written");
    }

    @Test
    void chmod_whileFileIsCommitted_waitsAndCanBeKilled() throws Exception {
        mount.write("/file", "before");
        Commit commit = commit("/file", "after");
        FuseNode node = mount.lookup("/file");
        assertKilled(() -> mount.requests().chmod(node.id(), 0600));
        commit.finish();
        assertThat(mount.stat("/file").mode() & 0777).isEqualTo(0644);
        assertThat(mount.read("/file")).isEqualTo("after");
    }

    /** The file stays open: its next commit brings the mode to Alluxio. */
    @Test
    void chmod_whileFileIsSynced_isDoneWithTheClose() throws Exception {
        mount.write("/file", "before");
        OpenFile file = mount.openToWrite("/file").write("after!");
        chmodWhile(file::fsync, file.opened().node());
        file.close();
        assertModeElsewhere(0600);
    }

    /** The file is no dirty one any more when the mode can be changed. */
    @Test
    void chmod_whileFileIsCommittedAtItsRelease_isDoneAfterwards() throws Exception {
        mount.write("/file", "before");
        OpenFile file = mount.openToWrite("/file").write("after!");
        chmodWhile(() -> mount.requests().release(file.opened()), file.opened().node());
        assertModeElsewhere(0600);
    }

    /** The commit ends when the change of the mode waits for it. */
    private void chmodWhile(AsyncCall.Work commit, FuseNode node) throws Exception {
        Held worker = mount.faults().on(StoreCall.WRITE).hold();
        AsyncCall committing = AsyncCall.start(commit);
        worker.await();
        AsyncCall chmod = AsyncCall.start(() -> mount.requests().chmod(node.id(), 0600));
        Eventually.holds("the change of the mode waits", () -> Stacks.threadsIn(DirtyFile.class, "await") > 0);
        worker.open();
        committing.await();
        chmod.await();
    }

    private void assertModeElsewhere(int mode) {
        try (MemoryMount other = MemoryMount.of(cluster)) {
            assertThat(other.stat("/file").mode() & 0777).isEqualTo(mode);
            assertThat(other.read("/file")).isEqualTo("after!");
        }
    }

    @Test
    void unlink_whileFileIsCommitted_waitsAndCanBeKilled() throws Exception {
        mount.write("/file", "before");
        Commit commit = commit("/file", "after");
        assertKilled(() -> mount.unlink("/file"));
        commit.finish();
        assertThat(mount.read("/file")).isEqualTo("after");
        assertThat(cluster.ufs().read("/file")).asString().isEqualTo("after");
    }

    @Test
    void rename_whileFileIsCommitted_waitsAndCanBeKilled() throws Exception {
        mount.write("/file", "before");
        Commit commit = commit("/file", "after");
        assertKilled(() -> mount.rename("/file", "/file2"));
        commit.finish();
        assertThat(mount.list("/")).containsExactly("file");
        assertThat(mount.read("/file")).isEqualTo("after");
    }

    /** It waits, and is interrupted while it does. */
    private void assertKilled(AsyncCall.Work work) throws Exception {
        AsyncCall call = AsyncCall.start(work);
        mount.requests().interrupt(call.thread());
        assertThat(call.awaitErrno()).isEqualTo(Errno.EINTR);
    }

    /** Otherwise the worker would make the directory anew in the under file system, at the name that it had. */
    @Test
    void renameOfDirectory_whileFileThatAnotherMountMovedThereIsCommitted_waits() throws Exception {
        try (MemoryMount other = MemoryMount.of(cluster)) {
            mount.mkdir("/from");
            mount.write("/from/file", "before");
            other.mkdir("/to");
            FuseNode to = mount.lookup("/to");
            OpenFile file = mount.openToWrite("/from/file");
            file.truncate(0);
            file.write("after");
            other.rename("/from/file", "/to/file");
            Held worker = mount.faults().on(StoreCall.WRITE).hold();
            AsyncCall close = AsyncCall.start(file::close);
            worker.await();
            assertThat(to.isDirectory()).isTrue();
            AsyncCall move = AsyncCall.start(() -> mount.requests()
                    .rename(
                            new FuseRequests.Place(FuseRequests.ROOT, "to"),
                            new FuseRequests.Place(FuseRequests.ROOT, "renamed"),
                            0));
            Eventually.holds(
                    "the move waits", () -> Stacks.threadsIn(PathLocks.class, "awaitTrue") > 0 || move.isDone());
            assertThat(move.isDone()).as("the directory moved").isFalse();
            worker.open();
            close.await();
            move.await();
            assertThat(mount.read("/renamed/file")).isEqualTo("after");
            assertThat(cluster.ufs().read("/renamed/file")).asString().isEqualTo("after");
            assertThat(cluster.ufs().exists("/to")).isFalse();
            assertThat(mount.exists("/to")).isFalse();
        }
    }
}
