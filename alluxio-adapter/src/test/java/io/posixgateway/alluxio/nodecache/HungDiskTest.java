package io.posixgateway.alluxio.nodecache;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.TmpfsFolder;
import io.posixgateway.alluxio.mounted.LogLines;
import io.posixgateway.alluxio.store.ManualClock;
import io.posixgateway.fuse.conformance.Eventually;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that hangs for good holds up nobody for good, and who may not wait not at all. */
class HungDiskTest {
    private static final int SMALL = 10_000;
    private static final Duration BOUND = Duration.ofNanos(DiskCalls.ANSWER_NANOS);

    @TempDir(factory = TmpfsFolder.class)
    private Path above = Path.of("");

    private final ManualClock clock = new ManualClock();
    private final CacheFolders folders = new CacheFolders(clock);
    private final byte[] content = new byte[SMALL];
    private HangingDisk disk;
    private CacheFolders.Shared shared;
    private CacheVolume volume;

    @BeforeEach
    void open() throws Exception {
        new Random(1).nextBytes(content);
        disk = new HangingDisk(new LocalDisk(above.resolve("cache")));
        shared = opened();
        clock.awaitWaiting(1); // the scrub
        volume = new CacheVolume(shared, () -> new Tenant(3), new Heap(), clock);
    }

    @AfterEach
    void answer() {
        disk.answer();
        volume.close();
    }

    private CacheFolders.Shared opened() throws Exception {
        return folders.open(above.resolve("cache"), 1 << 20, true, disk);
    }

    /** Without a limit. */
    private static final class Heap implements CacheVolume.Buffers {
        @Override
        public ByteBuffer take(int bytes) {
            return ByteBuffer.allocate(bytes);
        }

        @Override
        public void give(ByteBuffer buffer) {
            // the collector has it
        }
    }

    private CachedFile file(long id) {
        return Objects.requireNonNull(volume.open(id, SMALL, 1, true));
    }

    private CachedFile kept(long id) throws Exception {
        CachedFile file = file(id);
        file.keep(0, ByteBuffer.wrap(content));
        Eventually.holds("it is kept", () -> volume.hasAll(id, SMALL, 1));
        return file;
    }

    private static int read(CachedFile file, boolean mayWait) {
        return file.read(0, ByteBuffer.allocateDirect(SMALL), mayWait);
    }

    private static <T> CompletableFuture<T> begun(Callable<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(call.call());
            } catch (Exception | AssertionError e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    private static <T> T ended(CompletableFuture<T> call) throws Exception {
        Eventually.holds("it returns", call::isDone);
        return call.get();
    }

    /** What a call returns that waits for the disk as long as it may. */
    private <T> T afterTheBound(Callable<T> call) throws Exception {
        int before = clock.waiting();
        CompletableFuture<T> result = begun(call);
        Eventually.holds("it waits", () -> clock.waiting() > before && disk.unanswered() > 0);
        assertThat(result).isNotDone();
        clock.advance(BOUND);
        return ended(result);
    }

    private void assertUsedAgain() throws Exception {
        disk.answer();
        Eventually.holds("it is used again", () -> !volume.figures().suspended());
    }

    @Test
    void readThatHangs_isLeftToAlluxio_asAreAllOthersAtOnce_untilTheDiskAnswers() throws Exception {
        CachedFile one = kept(1);
        CachedFile other = kept(2);
        assertThat(read(one, true)).isEqualTo(SMALL);
        disk.hang();

        assertThat(afterTheBound(() -> read(one, true))).isEqualTo(-1);
        assertThat(volume.figures().suspended()).isTrue();
        assertThat(volume.figures().faults()).isEqualTo(1);
        assertThat(ended(begun(() -> read(other, true)))).isEqualTo(-1);
        assertThat(volume.hasWhole(2, SMALL, 1)).isFalse();

        assertUsedAgain();
        assertThat(read(one, true) + read(other, true)).isEqualTo(2 * SMALL);
        assertThat(volume.figures().dropped()).isZero();
    }

    @Test
    void whoMayNotWait_doesNotWait() throws Exception {
        CachedFile open = kept(1);
        CachedFile other = kept(2);
        assertThat(read(open, true)).isEqualTo(SMALL);
        disk.hang();

        assertThat(ended(begun(() -> read(open, false)))).isEqualTo(-1);
        assertThat(ended(begun(() -> read(other, false)))).isEqualTo(-1);
        assertThat(ended(begun(() -> {
                    open.close();
                    return true;
                })))
                .isTrue();
    }

    @Test
    void whatIsInMemory_isReadWithoutTheDisk() throws Exception {
        CachedFile file = kept(1);
        assertThat(read(file, true)).isEqualTo(SMALL);
        int before = disk.reads();
        ByteBuffer into = ByteBuffer.allocateDirect(SMALL);

        assertThat(file.read(0, into, false)).isEqualTo(SMALL);

        assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(content));
        assertThat(disk.reads()).isEqualTo(before);
    }

    @Test
    void openThatHangs_isGivenUp_andItsFileClosedLater() throws Exception {
        kept(1).close();
        disk.hang();

        assertThat(afterTheBound(() -> volume.openWhole(1, SMALL, 1) == null)).isTrue();
        assertThat(volume.figures().pinned()).isZero();

        assertUsedAgain();
        Eventually.holds("it is closed", () -> disk.open() == 0);
        Objects.requireNonNull(volume.openWhole(1, SMALL, 1)).close();
    }

    @Test
    void moreCallsThanThreads_areGivenUp_andNoneIsMadeForNobody() throws Exception {
        kept(1).close();
        disk.hang();
        CompletableFuture<?>[] all = new CompletableFuture<?>[20];
        for (int i = 0; i < all.length; i++) {
            all[i] = begun(() -> volume.openWhole(1, SMALL, 1) == null);
        }
        clock.awaitWaiting(all.length + 1); // and the scrub
        Eventually.holds("all threads wait", () -> disk.unanswered() == DiskCalls.MAX_THREADS);
        clock.advance(BOUND);

        for (CompletableFuture<?> each : all) {
            assertThat(ended(each)).isEqualTo(true);
        }
        assertUsedAgain();
        assertThat(disk.opens()).isEqualTo(DiskCalls.MAX_THREADS);
    }

    @Test
    void writeThatHangs_suspendsTheCache() throws Exception {
        CachedFile known = kept(1);
        assertThat(read(known, true)).isEqualTo(SMALL);
        disk.hang();
        file(2).keep(0, ByteBuffer.wrap(content));
        Eventually.holds("it is written", () -> disk.unanswered() == 1);
        clock.advance(Duration.ofNanos(DiskCalls.CHANGE_NANOS - 1));
        assertThat(volume.figures().suspended()).isFalse();
        clock.advance(Duration.ofNanos(1));
        assertThat(volume.figures().suspended()).isTrue();
        assertThat(shared.cache().mayKeep()).isFalse();

        assertUsedAgain();
        Eventually.holds("it is kept", () -> volume.hasAll(2, SMALL, 1));
    }

    @Test
    void folderThatAnUnmountedVolumeStillHas_isNotSaidToBeOfAnotherProcess() throws Exception {
        disk.hang();
        file(2).keep(0, ByteBuffer.wrap(content));
        Eventually.holds("it is written", () -> disk.unanswered() == 1);
        volume.close();

        CacheFolders.Shared again;
        try (LogLines log = new LogLines()) {
            again = folders.open(above.resolve("cache"), 1 << 20, true, new LocalDisk(above.resolve("cache")));
            assertThat(log.with("another process")).isEmpty();
            assertThat(log.with("volumes that were unmounted have it")).hasSize(1);
        }
        volume = new CacheVolume(again, () -> new Tenant(3), new Heap(), clock);
        disk.answer();
        Eventually.holds("it is used", () -> {
            clock.advance(Duration.ofMinutes(1));
            return again.isReady(true);
        });
    }

    @Test
    void folderWhoseDiskHangs_holdsUpNeitherStartNorTakeover_andIsUsedOnceItAnswers() throws Exception {
        volume.close();
        Eventually.holds("its scrub ended", () -> clock.waiting() == 0);
        disk.hang();

        CacheFolders.Shared one = afterTheBound(this::opened);
        assertThat(one.isReady(false)).isFalse();
        clock.advance(Duration.ofMinutes(1));
        CacheFolders.Shared other = ended(begun(this::opened));
        assertThat(other).isSameAs(one);
        assertThat(ended(begun(() -> one.isReady(true)))).isFalse();

        disk.answer();
        Eventually.holds("it is used", () -> one.isReady(false));
        one.close();
        other.close();
        shared = opened();
        volume = new CacheVolume(shared, () -> new Tenant(3), new Heap(), clock);
    }
}
