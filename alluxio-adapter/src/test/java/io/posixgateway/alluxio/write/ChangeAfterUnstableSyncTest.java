package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.ManualClock;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.MemoryWorker;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What was synced past a stopped worker outlives what the writer does to the file before its next sync. */
class ChangeAfterUnstableSyncTest {
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final Duration WORKER_GONE = Duration.ofMinutes(61);
    private static final String SYNCED = "synced content";

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL, 2, 64 << 20, null);
    private final ManualClock clock = cluster.clock();
    private final MemoryWorker near = cluster.workers().get(0);

    /** What changes the content of an open file. */
    enum Change {
        WRITE {
            @Override
            void by(MemoryMount mount, OpenFile file) {
                file.write("torn");
            }
        },
        CUT {
            @Override
            void by(MemoryMount mount, OpenFile file) {
                file.truncate(0);
            }
        },
        LENGTHEN {
            @Override
            void by(MemoryMount mount, OpenFile file) {
                file.truncate(1_000_000);
            }
        },
        PUNCH {
            @Override
            void by(MemoryMount mount, OpenFile file) {
                int mode = Stat.FALLOC_PUNCH_HOLE | Stat.FALLOC_KEEP_SIZE;
                mount.requests().fallocate(file.opened(), mode, 0, SYNCED.length());
            }
        };

        abstract void by(MemoryMount mount, OpenFile file);
    }

    @BeforeEach
    void retryAtOnce() {
        clock.advanceBySleeps();
        cluster.staleWorkerWritesRemove(true);
    }

    private String committed() {
        byte[] content = cluster.ufs().read("/file");
        return content == null ? "" : new String(content, StandardCharsets.UTF_8);
    }

    private OpenFile synced(MemoryMount mount) {
        near.stop();
        OpenFile file = mount.create("/file").write(SYNCED);
        file.fsync();
        return file;
    }

    private void lookUntilCommitted(String text) throws Exception {
        Eventually.holds("it is uploaded again", () -> {
            clock.advance(LOOK);
            return committed().equals(text);
        });
    }

    private static List<Path> spooled(MemoryMount mount) throws IOException {
        try (Stream<Path> all = Files.list(mount.folder())) {
            return all.filter(file -> file.getFileName().toString().matches("spool-\\d+"))
                    .toList();
        }
    }

    private void lookUntilNothingIsLeft(MemoryMount mount) throws Exception {
        Eventually.holds("nothing is in the spool", () -> {
            clock.advance(LOOK);
            return spooled(mount).isEmpty() && mount.fileSystem().counts().spoolBytes() == 0;
        });
    }

    @ParameterizedTest
    @EnumSource
    void change_afterSync_leavesWhatWasSyncedWhenItsNodeDied(Change change, @TempDir Path folder) throws Exception {
        MemoryMount dead = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("dead"), null);
        OpenFile file = synced(dead);
        change.by(dead, file);
        dead.kill();
        near.resume();
        assertThat(committed()).as("the worker undid it").isEmpty();
        try (MemoryMount back = MemoryMount.of(cluster.connect()).openReturned(folder.resolve("back"), dead)) {
            assertHasSynced(back);
            clock.advance(WORKER_GONE);
            lookUntilCommitted(SYNCED);
            assertThat(back.read("/file")).isEqualTo(SYNCED);
        }
        dead.close();
    }

    /** The writer goes on in the next process, whose next commit is the newer one. */
    @Test
    void change_afterSync_isCommittedByTheNextProcess(@TempDir Path folder) throws Exception {
        MemoryMount first = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null);
        OpenFile file = synced(first);
        file.write("newest");
        first.kill();
        near.resume();
        try (MemoryMount second = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("second"), first)) {
            clock.advance(WORKER_GONE);
            second.inherited(file).close();
            assertThat(committed()).isEqualTo("newest content");
            lookUntilNothingIsLeft(second);
            assertThat(committed()).isEqualTo("newest content");
            assertThat(second.folder().resolve("aside")).isEmptyDirectory();
        }
        first.close();
    }

    @Test
    void close_thatFailsAfterAChange_leavesWhatWasSynced() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            OpenFile file = synced(mount);
            file.write("torn");
            near.resume();
            StoreFaults.Fault full =
                    mount.faults().on(StoreCall.COMPLETE).always().fail(Errno.ENOSPC);
            assertThatThrownBy(file::close).isInstanceOf(FuseFailure.class);
            full.remove();
            assertThat(committed()).isEmpty();
            assertHasSynced(mount);
            lookUntilCommitted(SYNCED);
        }
    }

    private static void assertHasSynced(MemoryMount mount) throws IOException {
        assertThat(spooled(mount)).anySatisfy(copy -> assertThat(copy).content().isEqualTo(SYNCED));
    }

    @Test
    void commit_afterAChange_leavesNoCopyOfWhatWasSyncedBefore() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            OpenFile file = synced(mount);
            for (int i = 0; i < 5; i++) {
                file.write("line " + i);
                assertThat(spooled(mount)).as("the file and what was synced").hasSize(2);
                file.fsync();
                assertThat(spooled(mount)).as("the file alone").hasSize(1);
            }
            file.close();
            near.resume();
            lookUntilNothingIsLeft(mount);
            assertThat(committed()).startsWith("line 4");
        }
    }

    @Test
    void unlink_afterAChange_leavesNoCopy() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            OpenFile file = synced(mount);
            file.write("torn");
            mount.unlink("/file");
            file.write("more");
            assertThat(spooled(mount)).as("the file alone").hasSize(1);
            file.close();
            near.resume();
            lookUntilNothingIsLeft(mount);
            assertThat(committed()).isEmpty();
            assertThat(mount.folder().resolve("aside")).doesNotExist();
        }
    }

    /** No room for a copy: the call says so, and the content is as it was. */
    @Test
    void change_whereThereIsNoRoomForACopy_failsAndChangesNothing() throws Exception {
        byte[] content = new byte[600_000];
        Arrays.fill(content, (byte) 7);
        try (MemoryMount mount =
                MemoryMount.of(cluster.connect()).with("spool_size", "1M").open()) {
            near.stop();
            OpenFile file = mount.create("/file").write(0, content);
            file.fsync();
            for (Change change : List.of(Change.WRITE, Change.CUT, Change.PUNCH)) {
                assertThatThrownBy(() -> change.by(mount, file))
                        .as("%s", change)
                        .isInstanceOfSatisfying(
                                FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOSPC));
                assertThat(file.readAll()).isEqualTo(content);
            }
            near.resume();
            lookUntilCommitted(new String(content, StandardCharsets.UTF_8));
            file.close();
            lookUntilNothingIsLeft(mount);
        }
    }

    /** A copy takes no more room than what it is of. */
    @Test
    void change_ofSparseFile_copiesNoHole() throws Exception {
        try (MemoryMount mount =
                MemoryMount.of(cluster.connect()).with("spool_size", "4M").open()) {
            near.stop();
            OpenFile file = mount.create("/file").write(3_500_000, SYNCED.getBytes(StandardCharsets.UTF_8));
            file.fsync();
            file.write("torn");
            assertThat(mount.fileSystem().counts().spoolBytes()).isLessThan(100_000);
            near.resume();
            file.close();
            assertThat(file(3_500_000)).isEqualTo("torn" + SYNCED);
        }
    }

    private String file(int at) {
        byte[] content = cluster.ufs().read("/file");
        assertThat(content).isNotNull();
        String all = new String(content, StandardCharsets.UTF_8);
        return all.substring(0, 4) + all.substring(at);
    }
}
