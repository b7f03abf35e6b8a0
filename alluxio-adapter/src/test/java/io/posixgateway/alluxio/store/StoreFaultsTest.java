package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a test can have happen to calls. */
class StoreFaultsTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryStore store = cluster.connect();

    private void makeDirectory(String path) throws StoreException {
        store.makeDirectory(path, 0755, Map.of());
    }

    private void assertFails(int errno, String path) {
        assertThatThrownBy(() -> makeDirectory(path))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.errno()).isEqualTo(errno));
    }

    @Test
    void lostAnswer_isDone() {
        store.faults().on(StoreCall.MAKE_DIRECTORY).loseAnswer();
        assertFails(Errno.EIO, "/dir");
        assertThat(cluster.ufs().exists("/dir")).isTrue();
        assertFails(Errno.EEXIST, "/dir");
    }

    @Test
    void lostRequest_isNotDone() throws Exception {
        store.faults().on(StoreCall.MAKE_DIRECTORY).loseRequest();
        assertFails(Errno.EIO, "/dir");
        assertThat(cluster.ufs().exists("/dir")).isFalse();
        makeDirectory("/dir");
    }

    @Test
    void fault_meetsTheNthCallAtItsPath() throws Exception {
        store.faults().on(StoreCall.MAKE_DIRECTORY).at("/b").nth(2).fail(Errno.ENOSPC);
        makeDirectory("/a");
        makeDirectory("/b");
        store.delete("/b");
        assertFails(Errno.ENOSPC, "/b");
        makeDirectory("/b");
        assertThat(store.faults().count(StoreCall.MAKE_DIRECTORY)).isEqualTo(4);
    }

    @Test
    void delay_passesVirtualTime() throws Exception {
        long before = cluster.clock().nanos();
        store.faults().on(StoreCall.MAKE_DIRECTORY).delay(Duration.ofHours(1));
        makeDirectory("/dir");
        assertThat(cluster.clock().nanos() - before)
                .isEqualTo(Duration.ofHours(1).toNanos());
    }

    @Test
    void heldCall_waitsUntilItIsOpened() throws Exception {
        StoreFaults.Held held = store.faults().on(StoreCall.MAKE_DIRECTORY).hold();
        FutureTask<Boolean> made = new FutureTask<>(() -> {
            makeDirectory("/dir");
            return true;
        });
        new Thread(made, "caller").start();
        held.await();
        assertThat(cluster.ufs().exists("/dir")).isFalse();
        held.open();
        assertThat(made.get(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void processThatDies_reachesNobodyAfterThat() throws Exception {
        store.faults().on(StoreCall.MAKE_DIRECTORY).after(store.faults()::dieNow);
        makeDirectory("/last");
        assertFails(Errno.EIO, "/more");
        assertThat(cluster.ufs().list("/")).containsExactly("last");
    }
}
