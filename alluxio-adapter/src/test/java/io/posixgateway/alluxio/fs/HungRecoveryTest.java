package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.conformance.Eventually;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A mount ends while the thread that recovers what an earlier process left never returns from a call, whoever interrupts it. */
@Timeout(120)
class HungRecoveryTest {
    /** The threads that resolve what an earlier process left: whichever comes first does. */
    private static final Set<String> RECOVERING = Set.of("recovery", "hidden-files");

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
    private final CountDownLatch never = new CountDownLatch(1);
    private final CountDownLatch hangs = new CountDownLatch(1);
    private final List<MemoryMount> mounts = new ArrayList<>();
    private final Path folder;

    HungRecoveryTest(@TempDir Path folder) {
        this.folder = folder;
    }

    @AfterEach
    void end() throws Exception {
        never.countDown();
        for (MemoryMount mount : mounts) {
            isOver(mount::close);
        }
    }

    private void hangForGood() {
        hangs.countDown();
        while (never.getCount() > 0) {
            try {
                never.await();
            } catch (InterruptedException e) {
                // as a call that nothing interrupts
            }
        }
    }

    /** Of what a process left that was killed in a rename over a file. */
    private MemoryMount recovering(StoreCall call) throws InterruptedException {
        MemoryMount killed = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null);
        mounts.add(killed);
        killed.write("/file", "file");
        killed.write("/target", "target");
        killed.faults().on(StoreCall.RENAME).before(() -> killed.killAfter(0, true, folder.resolve("left")));
        assertThatThrownBy(() -> killed.rename("/file", "/target")).isInstanceOf(FuseFailure.class);
        MemoryStore client = cluster.connect();
        client.faults().on(call).always().before(() -> {
            if (RECOVERING.contains(Thread.currentThread().getName())) {
                hangForGood();
            }
        });
        MemoryMount next = MemoryMount.of(client).openPersistent(folder.resolve("next"), killed);
        mounts.add(next);
        assertThat(hangs.await(60, TimeUnit.SECONDS)).isTrue();
        return next;
    }

    private void ends(MemoryMount mount) throws Exception {
        isOver(() -> mount.fileSystem().close());
    }

    private void isOver(Runnable end) throws Exception {
        AsyncCall closing = AsyncCall.start(end::run);
        Eventually.holds("it ends", () -> {
            cluster.clock().advance(Duration.ofSeconds(5));
            return closing.isDone();
        });
        closing.await();
    }

    @ParameterizedTest
    @EnumSource(
            value = StoreCall.class,
            names = {"STATUS", "COMPARED"})
    void leaving_besideARecoveryThatHangs_isOverInTime(StoreCall call) throws Exception {
        MemoryMount mount = recovering(call);
        mount.fileSystem().leaveToNext();
        ends(mount);
    }

    @ParameterizedTest
    @EnumSource(
            value = StoreCall.class,
            names = {"STATUS", "COMPARED"})
    void end_besideARecoveryThatHangs_isOverInTime(StoreCall call) throws Exception {
        ends(recovering(call));
    }
}
