package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.MemoryWorker;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers are lost while files are written: a close succeeds through another worker, or reports an error, and is honest. */
class CommitRetryTest {
    private static final long WORKER_BYTES = 64 << 20;
    /** So long the commit of a file is retried. */
    private static final Duration PATIENCE = Duration.ofSeconds(12);
    /** Between two attempts. */
    private static final Duration PAUSE = Duration.ofMillis(250);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL, 2, WORKER_BYTES, null);
    private final MemoryWorker near = cluster.workers().get(0);
    private final MemoryWorker other = cluster.workers().get(1);
    private MemoryMount mount;

    @BeforeEach
    void mount() {
        cluster.clock().advanceBySleeps();
        mount = MemoryMount.of(cluster);
        mount.write("/old", "before");
        mount.faults().forgetCounts();
    }

    @AfterEach
    void unmount() {
        cluster.startMaster();
        mount.close();
    }

    private interface Step {
        void run();
    }

    private Duration took(Step step) {
        long began = cluster.clock().nanos();
        step.run();
        return Duration.ofNanos(cluster.clock().nanos() - began);
    }

    private static void failsWithEio(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
    }

    private void assertHolds(String path, String content) {
        assertThat(cluster.ufs().read(path)).asString().isEqualTo(content);
        assertThat(mount.read(path)).isEqualTo(content);
    }

    /** Hidden ones, too. */
    private List<String> namesInAlluxio() throws StoreException {
        return cluster.connect().list("/", "", 100).entries().stream()
                .map(FileStatus::name)
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/new", "/old"})
    void close_whileWorkerIsStopped_succeedsThroughAnotherAfterOnePause(String path) throws StoreException {
        near.stop();
        assertThat(took(() -> mount.write(path, "after"))).isEqualTo(PAUSE);
        assertHolds(path, "after");
        assertThat(namesInAlluxio())
                .as("nothing is left of the first attempt")
                .containsExactlyElementsOf(path.equals("/new") ? List.of("new", "old") : List.of("old"));
    }

    @Test
    void close_afterWorkerWasFoundStopped_goesPastIt() {
        near.stop();
        mount.write("/old", "after");
        mount.faults().forgetCounts();
        assertThat(took(() -> mount.write("/new", "text"))).isZero();
        assertThat(mount.faults().count(StoreCall.WRITE)).isEqualTo(1);
        assertHolds("/new", "text");
        near.resume();
        assertThat(took(() -> mount.write("/new", "again"))).isZero();
        assertHolds("/new", "again");
    }

    /** Empty: nobody wrote to it, so only its incomplete file says that it is to be uploaded. */
    @Test
    void close_afterUploadOfEmptyNewFileFailedUnexpectedly_uploadsIt() {
        try (OpenFile file = mount.create("/new")) {
            mount.faults().on(StoreCall.COMPLETE).before(() -> {
                throw new IllegalStateException("nobody expects this");
            });
            failsWithEio(file::fsync);
        }
        assertHolds("/new", "");
    }

    /** As on a busy machine, where it takes long until a worker counts as one that is stopped. */
    @ParameterizedTest
    @ValueSource(strings = {"/new", "/old"})
    void close_whoseFirstAttemptTakesLongerThanThePatience_succeedsThroughAnother(String path) {
        mount.faults().on(StoreCall.COMPLETE).before(() -> {
            cluster.clock().advance(PATIENCE.plusSeconds(1));
            near.kill();
        });
        mount.write(path, "after");
        assertHolds(path, "after");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/new", "/old"})
    void close_whenWorkerIsKilledBeforeItAnswers_succeedsThroughAnother(String path) {
        mount.faults().on(StoreCall.COMPLETE).before(near::kill);
        assertThat(took(() -> mount.write(path, "after"))).isEqualTo(PAUSE);
        assertHolds(path, "after");
        assertThat(mount.faults().count(StoreCall.COMPLETE)).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/new", "/old"})
    void close_whenOnlyWorkerComesBackInTime_succeeds(String path) {
        other.kill();
        near.stop();
        mount.faults().on(StoreCall.WRITE).nth(4).before(near::resume);
        assertThat(took(() -> mount.write(path, "after"))).isEqualTo(PAUSE.multipliedBy(1 + 2 + 4));
        assertThat(mount.read(path)).isEqualTo("after");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/new", "/old"})
    void close_whenOnlyWorkerStaysAway_failsWithEioAfterPatience(String path) {
        try (OpenFile file = path.equals("/new") ? mount.create(path) : mount.openToWrite(path)) {
            file.write("after!");
            other.kill();
            near.stop();
            assertThat(took(() -> failsWithEio(() -> mount.requests().flush(file.opened()))))
                    .isBetween(PATIENCE, PATIENCE.plusSeconds(2));
            assertThat(took(() -> failsWithEio(() -> mount.requests().flush(file.opened()))))
                    .as("nobody waits again for what was reported")
                    .isZero();
            near.resume();
            mount.requests().flush(file.opened());
            assertThat(mount.read(path)).isEqualTo("after!");
        }
        assertThat(mount.read(path)).isEqualTo("after!");
    }

    @Test
    void create_afterWorkerWasLost_takesTheNameAgain() throws StoreException {
        other.kill();
        near.kill();
        failsWithEio(() -> mount.write("/lost", "x"));
        assertThat(namesInAlluxio()).as("nothing is left of it").containsExactly("old");
        near.resume();
        mount.write("/lost", "y");
        assertHolds("/lost", "y");
    }

    @Test
    void create_whileMasterIsGone_failsWithEioAndNameCanBeTakenAfterwards() {
        assertThat(mount.exists("/lost")).isFalse();
        cluster.stopMaster();
        failsWithEio(() -> mount.create("/lost"));
        cluster.startMaster();
        assertThat(cluster.ufs().exists("/lost")).isFalse();
        mount.write("/lost", "y");
        assertHolds("/lost", "y");
    }

    @Test
    void close_whileMasterIsGone_failsWithEioAndOldContentStays() {
        try (OpenFile file = mount.openToWrite("/old")) {
            file.write("after!");
            cluster.stopMaster();
            assertThat(took(() -> failsWithEio(file::fsync)))
                    .as("workers alone are waited for")
                    .isZero();
            assertThat(cluster.ufs().read("/old")).asString().isEqualTo("before");
            cluster.startMaster();
            file.fsync();
            assertHolds("/old", "after!");
        }
    }

    /** How a call to a server goes wrong. */
    enum Loss {
        REQUEST {
            @Override
            StoreFaults.Fault at(StoreFaults.Fault fault) {
                return fault.loseRequest();
            }
        },
        ANSWER {
            @Override
            StoreFaults.Fault at(StoreFaults.Fault fault) {
                return fault.loseAnswer();
            }
        };

        abstract StoreFaults.Fault at(StoreFaults.Fault fault);
    }

    /**
     * One loss in the life of a file that is written.
     *
     * @param number of the call of this kind
     */
    record Lost(String path, StoreCall call, int number, Loss loss) {}

    static Stream<Lost> losses() {
        List<Lost> all = new ArrayList<>();
        for (String path : List.of("/new", "/old")) {
            for (StoreCall call : List.of(
                    StoreCall.STATUS,
                    StoreCall.PATH_OF,
                    StoreCall.CREATE,
                    StoreCall.WRITE,
                    StoreCall.COMPLETE,
                    StoreCall.RENAME,
                    StoreCall.DELETE,
                    StoreCall.COMPARED)) {
                for (Loss loss : Loss.values()) {
                    all.add(new Lost(path, call, 1, loss));
                    all.add(new Lost(path, call, 2, loss));
                }
            }
        }
        return all.stream();
    }

    /** Whose close succeeded is there; who was told of an error finds the old content or the new, and can write again. */
    @ParameterizedTest
    @MethodSource("losses")
    void write_whenOneCallIsLost_reportsWhatIsTrue(Lost lost) {
        StoreFaults.Fault fault = lost.loss.at(mount.faults().on(lost.call).nth(lost.number));
        boolean succeeded = true;
        try {
            mount.write(lost.path, "after");
        } catch (FuseFailure e) {
            assertThat(e.errno()).isEqualTo(Errno.EIO);
            succeeded = false;
        }
        fault.remove();
        byte[] there = cluster.ufs().read(lost.path);
        if (succeeded) {
            assertThat(there).asString().isEqualTo("after");
        } else if (lost.path.equals("/old")) {
            assertThat(there).asString().isIn("before", "after");
        } else if (there != null) {
            assertThat(there).asString().isEqualTo("after");
        }
        mount.write(lost.path, "again");
        assertHolds(lost.path, "again");
        try (MemoryMount second = MemoryMount.of(cluster)) {
            assertThat(second.read(lost.path)).isEqualTo("again");
        }
    }
}
