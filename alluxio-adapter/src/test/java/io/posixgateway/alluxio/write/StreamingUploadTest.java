package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.AsyncCall;
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
import java.util.Arrays;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Large new files go straight to Alluxio while they are written in sequence; whatever else is done to them, no byte is lost. */
class StreamingUploadTest {
    private static final int PIECE = 700_001;

    private final byte[] content = new byte[5 * PIECE];
    private MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private MemoryMount mount = mount("64M");

    /** @param spool how much of it there is */
    private MemoryMount mount(String spool) {
        new Random(1).nextBytes(content);
        cluster.clock().advanceBySleeps();
        return MemoryMount.of(cluster.connect())
                .with("stream_from", "1M")
                .with("spool_size", spool)
                .open();
    }

    private void remount(String spool) {
        mount.close();
        mount = mount(spool);
    }

    @AfterEach
    void unmount() {
        mount.close();
    }

    private long spooled() {
        return mount.fileSystem().counts().spoolBytes();
    }

    private byte[] pieces(int from, int to) {
        return Arrays.copyOfRange(content, from * PIECE, to * PIECE);
    }

    /** A new file whose first three pieces are streamed. */
    private OpenFile streaming(String path) {
        OpenFile file = mount.create(path);
        file.write(0, pieces(0, 3));
        assertThat(spooled()).as("it is streamed").isZero();
        return file;
    }

    private void write(OpenFile file, int from, int to) {
        file.write((long) from * PIECE, pieces(from, to));
    }

    private void assertHolds(String path, byte[] expected) {
        assertThat(cluster.ufs().read(path)).isEqualTo(expected);
        try (OpenFile file = mount.open(path)) {
            assertThat(file.readAll()).isEqualTo(expected);
        }
    }

    /** Asked for before it: what is said then is of a time before the change, which may have been made. */
    @Test
    void modeOfAStream_whoseChangeHasAnUnknownOutcome_isAskedForAgain() {
        mount.close();
        mount = MemoryMount.of(cluster.connect())
                .with("stream_from", "1M")
                .with("metadata_ttl", "1h")
                .open();
        OpenFile file = streaming("/f");
        long node = file.opened().node().id();
        mount.requests().chmod(node, 0600);
        mount.faults()
                .on(StoreCall.CHANGE)
                .at("/f")
                .before(() ->
                        assertThat(mount.requests().getattr(node).mode() & 0777).isEqualTo(0644))
                .loseAnswer();
        assertThatThrownBy(file::close).isInstanceOf(FuseFailure.class);
        assertThat(mount.stat("/f").mode() & 0777).isEqualTo(0600);
    }

    /** Interrupted before anything of it is closed, as by a program's own timer: nothing is lost. */
    @Test
    void stream_whoseFsyncIsInterrupted_isCompletedByTheNext() throws Exception {
        OpenFile file = streaming("/file");
        StoreFaults.Held held = mount.faults().on(StoreCall.STATUS).at("/file").hold();
        AsyncCall fsync = AsyncCall.start(file::fsync);
        held.await();
        mount.requests().interrupt(fsync.thread());
        assertThat(fsync.awaitErrno()).isEqualTo(Errno.EINTR);
        write(file, 3, 4);
        file.fsync();
        assertThat(cluster.ufs().read("/file")).isEqualTo(pieces(0, 4));
        write(file, 4, 5);
        file.close();
        assertHolds("/file", content);
    }

    /** The last who could complete it. */
    @Test
    void stream_whoseFileCannotBeSeenUntilItsLastClose_isLostAndLeavesNothing() throws Exception {
        OpenFile file = streaming("/file");
        StoreFaults.Fault away = mount.faults().on(StoreCall.STATUS).at("/file").always();
        away.fail(Errno.EIO);
        failsWithEio(file::close);
        away.remove();
        Eventually.holds("nothing is in the way", () -> {
            cluster.clock().advance(java.time.Duration.ofSeconds(2));
            return !mount.exists("/file");
        });
        mount.write("/file", "again");
    }

    /** The change was acknowledged before: nothing that fails when the content is there takes it back. */
    @Test
    void modeOfAStreamToAnObjectStore_isKept_whenNoCallSucceedsAfterItsUpload() {
        mount.close();
        cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        mount = mount("64M");
        OpenFile file = streaming("/file");
        mount.requests().chmod(file.opened().node().id(), 0600);
        mount.faults()
                .on(StoreCall.COMPLETE)
                .after(() -> mount.faults().on(StoreCall.CHANGE).always().fail(Errno.EIO));
        mount.requests().flush(file.opened());
        try (MemoryMount other = MemoryMount.of(cluster)) {
            assertThat(other.stat("/file").mode() & 0777).isEqualTo(0600);
        }
    }

    /** Another attempt would find the stream closed, and take that for success. */
    @Test
    void stream_whoseUploadFailsUnexpectedly_isLost() {
        OpenFile file = streaming("/file");
        mount.faults().on(StoreCall.COMPLETE).nth(1).before(() -> {
            throw new IllegalStateException("nobody expects this");
        });
        failsWithEio(() -> mount.requests().flush(file.opened()));
        failsWithEio(() -> mount.requests().flush(file.opened()));
    }

    /** It has a part of what was to be written, which would come before it once more. */
    @Test
    void stream_whoseWriteFailsUnexpectedly_isLost() {
        OpenFile file = streaming("/file");
        mount.faults().on(StoreCall.WRITE).after(() -> {
            throw new IllegalStateException("nobody expects this");
        });
        failsWithEio(() -> write(file, 3, 4));
        failsWithEio(() -> write(file, 3, 4));
        failsWithEio(() -> mount.requests().flush(file.opened()));
    }

    /** What the sink has by then must not come before the content once more. */
    @Test
    void stream_thatFailsUnexpectedlyAsItBegins_leavesTheContentInTheSpool() {
        OpenFile file = mount.create("/file");
        file.write(0, pieces(0, 1));
        mount.faults().on(StoreCall.WRITE).after(() -> {
            throw new IllegalStateException("nobody expects this");
        });
        failsWithEio(() -> write(file, 1, 3));
        write(file, 1, 3);
        file.close();
        assertHolds("/file", pieces(0, 3));
    }

    /** It steps aside while the stream is cancelled; killed meanwhile, the gateway has it as a hidden file that is not its own. */
    @Test
    void cancelOfStream_killedWhileAnotherClientsFileIsAside_givesItItsNameBack(@TempDir Path folder) throws Exception {
        MemoryStore other = cluster.connect();
        try (MemoryMount killed = MemoryMount.of(cluster.connect())
                .with("stream_from", "1M")
                .in(folder.resolve("killed"))
                .open()) {
            OpenFile file = killed.create("/file");
            file.write(0, pieces(0, 3));
            other.delete("/file");
            try (MemoryMount another = MemoryMount.of(cluster)) {
                another.write("/file", "of others");
            }
            killed.faults().on(StoreCall.RENAME).after(killed::kill);
            killed.faults().on(StoreCall.WRITE).always().fail(Errno.ENOSPC);
            assertThatThrownBy(() -> write(file, 3, 5)).isInstanceOf(FuseFailure.class);
            killed.leaveTo(folder.resolve("next"));
        }
        assertThat(cluster.ufs().exists("/file")).isFalse();
        try (MemoryMount next =
                MemoryMount.of(cluster.connect()).in(folder.resolve("next")).open()) {
            Eventually.holds("the file has its name", () -> cluster.ufs().exists("/file"));
            assertThat(next.read("/file")).isEqualTo("of others");
        }
    }

    private static void failsWithEio(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
    }

    @Test
    void write_inSequenceOfMoreThanTheSpoolHolds_takesNoSpool() {
        remount("2M");
        byte[] all = new byte[4 * content.length];
        for (int round = 0; round < 4; round++) {
            System.arraycopy(content, 0, all, round * content.length, content.length);
        }
        try (OpenFile file = streaming("/large")) {
            file.write(3L * PIECE, Arrays.copyOfRange(all, 3 * PIECE, all.length));
            assertThat(file.lengthBytes()).isEqualTo(all.length);
            assertThat(spooled()).isZero();
        }
        assertHolds("/large", all);
    }

    @Test
    void write_ofAFewBytesAtATime_streamsFromTheGivenLength() {
        try (OpenFile file = mount.create("/file")) {
            file.write(0, pieces(0, 1));
            assertThat(spooled()).isEqualTo(PIECE);
            file.write(PIECE, pieces(1, 2));
            assertThat(spooled()).isZero();
        }
        assertHolds("/file", pieces(0, 2));
    }

    @Test
    void readAndWrite_elsewhereInStreamedFile_completeItAndContinue() {
        try (OpenFile file = streaming("/file")) {
            assertThat(mount.requests().read(file.opened(), PIECE, 1000))
                    .isEqualTo(Arrays.copyOfRange(content, PIECE, PIECE + 1000));
            write(file, 3, 5);
            file.write(5, new byte[] {1, 2, 3});
            content[5] = 1;
            content[6] = 2;
            content[7] = 3;
        }
        assertHolds("/file", content);
    }

    @Test
    void fsyncRenameTruncate_ofStreamedFile_keepAllBytes() {
        mount.mkdir("/folder");
        mount.write("/folder/old", "old");
        try (OpenFile file = streaming("/folder/new")) {
            mount.rename("/folder", "/moved");
            write(file, 3, 4);
            file.fsync();
            assertThat(cluster.ufs().read("/moved/new")).isEqualTo(pieces(0, 4));
            mount.rename("/moved/new", "/moved/old");
            write(file, 4, 5);
            file.truncate(4L * PIECE + 10);
        }
        assertHolds("/moved/old", Arrays.copyOf(content, 4 * PIECE + 10));
        assertThat(cluster.ufs().exists("/moved/new")).isFalse();
        assertThat(cluster.ufs().exists("/folder")).isFalse();
    }

    @Test
    void unlink_ofStreamedFile_leavesItReadableToItsEnd() throws InterruptedException {
        try (OpenFile file = streaming("/file")) {
            mount.unlink("/file");
            write(file, 3, 5);
            assertThat(file.readAll()).isEqualTo(content);
        }
        Eventually.holds("it is removed", () -> cluster.ufs().list("/").isEmpty());
    }

    @Test
    void unlink_ofStreamedFileLargerThanTheSpool_leavesItReadableToItsEnd() throws InterruptedException {
        remount("1M");
        try (OpenFile file = streaming("/large")) {
            write(file, 3, 5);
            try (OpenFile second = mount.open("/large")) {
                assertThat(second.readAll()).isEqualTo(content);
            }
            mount.unlink("/large");
            assertThat(file.readAll()).isEqualTo(content);
            assertThat(spooled()).isZero();
        }
        Eventually.holds("it is removed", () -> cluster.ufs().list("/").isEmpty());
    }

    @Test
    void truncateToNothing_ofStreamedFileLargerThanTheSpool_beginsItAnew() {
        remount("1M");
        try (OpenFile file = streaming("/large")) {
            write(file, 3, 5);
            file.truncate(0);
            assertThat(file.lengthBytes()).isZero();
            write(file, 0, 1);
        }
        assertHolds("/large", pieces(0, 1));
    }

    @Test
    void stream_whoseFileWasDeletedElsewhere_failsUntilItIsClosed() throws StoreException {
        OpenFile file = streaming("/file");
        cluster.connect().delete("/file");
        failsWithEio(file::fsync);
        failsWithEio(() -> write(file, 3, 4));
        failsWithEio(file::close);
        assertThat(mount.exists("/file")).isFalse();
        mount.write("/file", "again");
        assertHolds("/file", "again".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }

    @Test
    void stream_whoseWorkerRefuses_failsUntilItIsTruncatedToNothing() {
        OpenFile file = streaming("/file");
        mount.faults().on(StoreCall.WRITE).fail(Errno.ENOSPC);
        assertThatThrownBy(() -> write(file, 3, 4)).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.ENOSPC));
        assertThatThrownBy(() -> write(file, 4, 5)).isInstanceOf(FuseFailure.class);
        assertThatThrownBy(file::fsync).isInstanceOf(FuseFailure.class);
        file.truncate(0);
        write(file, 0, 1);
        file.close();
        assertHolds("/file", pieces(0, 1));
    }

    @Test
    void stream_thatCannotBegin_staysInTheSpool() {
        mount.faults().on(StoreCall.WRITE).loseRequest();
        try (OpenFile file = mount.create("/file")) {
            write(file, 0, 1);
            write(file, 1, 5);
            assertThat(spooled()).isEqualTo(content.length);
        }
        assertHolds("/file", content);
    }
}
