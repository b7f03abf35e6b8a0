package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.mounted.LogLines;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.MemoryWorker;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Servers are lost while files are read and come back: what needs them fails with EIO, what is read is never wrong. */
class ServerLossTest {
    private static final long WORKER_BYTES = 64 << 20;
    private static final int PIECE_BYTES = 128 << 10;
    private static final int PIECES = 64;
    private static final Duration TTL = Duration.ofSeconds(1);

    private final byte[] content = new byte[PIECES * PIECE_BYTES];
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL, 2, WORKER_BYTES, null);
    private final List<MemoryWorker> workers = cluster.workers();
    private MemoryMount mount;

    @BeforeEach
    void mount() {
        cluster.clock().advanceBySleeps();
        new Random(1).nextBytes(content);
        cluster.ufs().write("/file", content);
        mount = MemoryMount.of(cluster.connect())
                .with("metadata_ttl", "1s")
                .with("read_ahead", "1M")
                .open();
    }

    @AfterEach
    void unmount() {
        cluster.startMaster();
        mount.close();
    }

    private static void failsWithEio(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
    }

    private void assertReads(OpenFile file, int piece) {
        int at = piece * PIECE_BYTES;
        assertThat(mount.requests().read(file.opened(), at, PIECE_BYTES))
                .isEqualTo(Arrays.copyOfRange(content, at, at + PIECE_BYTES));
    }

    @Test
    void read_whileMasterIsGone_continuesThroughOpenHandlesAndFailsThroughNewOnes() {
        cluster.clock().advance(Duration.ofMinutes(1)); // workers keep what is read now
        try (OpenFile open = mount.open("/file");
                LogLines log = new LogLines()) {
            assertReads(open, 0);
            cluster.stopMaster();
            cluster.clock().advance(TTL);
            assertReads(open, PIECES - 1);
            assertReads(open, 1);
            failsWithEio(() -> mount.open("/file"));
            assertThat(log.anyWith("failed with EIO")).isTrue();
            cluster.startMaster();
            assertThat(open.readAll()).isEqualTo(content);
            try (OpenFile again = mount.open("/file")) {
                assertThat(again.readAll()).isEqualTo(content);
            }
        }
    }

    /** Nobody could say whether another client has replaced it. */
    @Test
    void read_ofWhatNoWorkerHas_whileMasterIsGone_failsWithEioUntilItIsBack() {
        try (OpenFile open = mount.open("/file")) {
            assertReads(open, 0);
            cluster.stopMaster();
            failsWithEio(() -> mount.requests().read(open.opened(), (PIECES - 1L) * PIECE_BYTES, PIECE_BYTES));
            cluster.startMaster();
            assertReads(open, PIECES - 1);
        }
    }

    @Test
    void read_whileAllWorkersAreGone_failsWithEioUntilOneIsBack() {
        try (OpenFile open = mount.open("/file");
                LogLines log = new LogLines()) {
            assertReads(open, 0);
            workers.forEach(MemoryWorker::kill);
            failsWithEio(() -> mount.requests().read(open.opened(), (PIECES - 1L) * PIECE_BYTES, PIECE_BYTES));
            try (OpenFile other = mount.open("/file")) {
                failsWithEio(() -> mount.requests().read(other.opened(), PIECES / 2L * PIECE_BYTES, PIECE_BYTES));
            }
            assertThat(log.anyWith("failed with EIO")).isTrue();
            workers.get(1).resume();
            assertReads(open, PIECES - 1);
            assertThat(open.readAll()).isEqualTo(content);
        }
    }

    @Test
    void read_inSequenceWhileAllWorkersAreGone_failsBehindWhatWasReadAheadAndContinuesThere() {
        try (OpenFile open = mount.open("/file")) {
            assertReads(open, 0);
            workers.forEach(MemoryWorker::kill);
            int piece = 1;
            while (piece < PIECES && isRead(open, piece)) {
                piece++;
            }
            assertThat(piece).isLessThan(PIECES);
            assertThat(isRead(open, piece)).as("it fails again").isFalse();
            workers.get(0).resume();
            for (; piece < PIECES; piece++) {
                assertReads(open, piece);
            }
        }
    }

    /** False: it failed with EIO. */
    private boolean isRead(OpenFile file, int piece) {
        try {
            assertReads(file, piece);
            return true;
        } catch (FuseFailure e) {
            assertThat(e.errno()).isEqualTo(Errno.EIO);
            return false;
        }
    }

    @Test
    void read_whileOneOfTwoWorkersIsGone_continues() {
        try (OpenFile open = mount.open("/file")) {
            assertReads(open, 0);
            workers.get(0).stop();
            assertThat(open.readAll()).isEqualTo(content);
            workers.get(0).kill();
            assertReads(open, PIECES / 2);
            assertThat(open.readAll()).isEqualTo(content);
        }
    }
}
