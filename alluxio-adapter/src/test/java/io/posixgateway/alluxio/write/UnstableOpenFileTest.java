package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.ManualClock;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.MemoryWorker;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A synced file that stays open, or is renamed, while a worker that stopped may still undo its upload. */
class UnstableOpenFileTest {
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final Duration DONE = Duration.ofSeconds(30);
    private static final Duration WORKER_GONE = Duration.ofMinutes(61);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL, 2, 64 << 20, null);
    private final ManualClock clock = cluster.clock();
    private final MemoryWorker near = cluster.workers().get(0);

    @BeforeEach
    void retryAtOnce() {
        clock.advanceBySleeps();
    }

    private String committed(String path) {
        byte[] content = cluster.ufs().read(path);
        return content == null ? "" : new String(content, StandardCharsets.UTF_8);
    }

    /** What a worker does that had been sent other content before, unless it has removed the file. */
    private void undo(String path) {
        if (cluster.ufs().exists(path)) {
            cluster.ufs().write(path, "undone".getBytes(StandardCharsets.UTF_8));
        }
    }

    private MemoryMount.OpenFile synced(MemoryMount mount, String text) {
        near.stop();
        MemoryMount.OpenFile file = mount.create("/file").write(text);
        file.fsync();
        assertThat(committed("/file")).isEqualTo(text);
        return file;
    }

    private void lookUntilCommitted(String path, String text) throws Exception {
        Eventually.holds(path + " is uploaded again", () -> {
            clock.advance(LOOK);
            return committed(path).equals(text);
        });
    }

    /** Time passes, in which looks that are due are done. */
    private void lookFor(MemoryMount mount, Duration time) throws Exception {
        long end = clock.nanos() + time.toNanos();
        Eventually.holds("it looked", () -> {
            clock.advance(LOOK);
            return clock.nanos() - end > 0;
        });
        assertThat(mount.exists("/")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void sync_pastStoppedWorker_isCommittedAgainThoughTheFileStaysOpen(boolean removes) throws Exception {
        cluster.staleWorkerWritesRemove(removes);
        try (MemoryMount mount = MemoryMount.of(cluster);
                MemoryMount.OpenFile file = synced(mount, "synced")) {
            mount.faults().on(StoreCall.RENAME).fail(Errno.EIO);
            near.resume();
            undo("/file");
            lookUntilCommitted("/file", "synced");
            assertThat(file.readText()).isEqualTo("synced");
        }
        assertThat(committed("/file")).isEqualTo("synced");
    }

    /** It is no change to the file that its writer closes it. */
    @Test
    void close_ofFileSyncedPastStoppedWorker_leavesWhatAnotherClientWroteSince() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster);
                MemoryMount another = MemoryMount.of(cluster)) {
            MemoryMount.OpenFile file = synced(mount, "synced");
            near.resume();
            another.write("/file", "newest");
            lookFor(mount, DONE);
            assertThat(committed("/file")).isEqualTo("newest");
            file.close();
            assertThat(committed("/file")).isEqualTo("newest");
        }
    }

    /** Within the second in which the worker wrote it, so that nothing tells it from a file of another client. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void sync_pastStoppedWorker_isSetAsideAtTheCloseWhenAlluxioHasLoadedWhatTheWorkerWroteLate(boolean isChanged)
            throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            MemoryMount.OpenFile file = synced(mount, "synced content");
            if (isChanged) {
                mount.requests().chmod(mount.stat("/file").id(), 0600);
            }
            near.resume();
            undo("/file");
            cluster.connect().compared("/file");
            lookFor(mount, DONE);
            file.close();
            Path aside = mount.folder().resolve("aside");
            Eventually.holds("it is set aside", () -> {
                clock.advance(LOOK);
                return Files.exists(aside) && hasContent(aside, "synced content");
            });
            assertThat(committed("/file")).isEqualTo("undone");
        }
    }

    private static boolean hasContent(Path aside, String text) throws IOException {
        try (Stream<Path> files = Files.list(aside)) {
            for (Path file : files.toList()) {
                if (Files.readString(file, StandardCharsets.ISO_8859_1).equals(text)) {
                    return true;
                }
            }
            return false;
        }
    }

    @Test
    void write_afterSyncPastStoppedWorker_isCommittedOverWhatAnotherClientWroteSince() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster);
                MemoryMount another = MemoryMount.of(cluster)) {
            MemoryMount.OpenFile file = synced(mount, "synced");
            near.resume();
            another.write("/file", "newest");
            lookFor(mount, DONE);
            file.write("written");
            file.close();
            assertThat(committed("/file")).isEqualTo("written");
        }
    }

    @Test
    void sync_pastStoppedWorker_isCommittedAgainByTheNextProcessThoughTheFileStaysOpen(@TempDir Path folder)
            throws Exception {
        MemoryMount first = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null);
        MemoryMount.OpenFile file = synced(first, "synced");
        first.kill();
        near.resume();
        undo("/file");
        try (MemoryMount second = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("second"), first);
                MemoryMount.OpenFile open = second.inherited(file)) {
            clock.advance(WORKER_GONE);
            lookUntilCommitted("/file", "synced");
            assertThat(open.readText()).isEqualTo("synced");
        }
        first.close();
    }

    /** The worker wrote where the file was, so what it wrote moved with the directory. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void inDoubt_whoseDirectoryWasRenamed_isCommittedAgainWhenItsNodeIsBack(boolean open, @TempDir Path folder)
            throws Exception {
        MemoryMount dead = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("dead"), null);
        dead.mkdir("/dir");
        near.stop();
        MemoryMount.OpenFile file = dead.create("/dir/file").write("synced");
        file.fsync();
        if (!open) {
            file.close();
        }
        near.resume();
        undo("/dir/file");
        dead.rename("/dir", "/other");
        assertThat(committed("/other/file")).isEqualTo("undone");
        dead.kill();
        try (MemoryMount back = MemoryMount.of(cluster.connect()).openReturned(folder.resolve("back"), dead)) {
            clock.advance(WORKER_GONE);
            lookUntilCommitted("/other/file", "synced");
            assertThat(back.read("/other/file")).isEqualTo("synced");
        }
        dead.close();
    }
}
