package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.spi.Errno;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Alluxio is brought up to date with a bucket that others filled. */
@Timeout(120)
class SyncTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
    private final MemoryStore store = cluster.connect();
    private final List<Sync.State> told = new CopyOnWriteArrayList<>();
    private final List<Long> seconds = new CopyOnWriteArrayList<>();
    private volatile boolean waits = true;

    private void put(String path, String text) {
        cluster.ufs().write(path, text.getBytes(StandardCharsets.UTF_8));
    }

    private boolean listen(Sync.State state, long pathSeconds) {
        told.add(state);
        seconds.add(pathSeconds);
        return waits;
    }

    private void sync(String path) throws Exception {
        new Sync(store, cluster.clock()).run(path, this::listen);
    }

    private List<String> names(String path) throws Exception {
        return store.list(path, "", 1000).entries().stream()
                .map(entry -> entry.name())
                .toList();
    }

    @BeforeEach
    void aBucketThatAlluxioKnows() throws Exception {
        put("/data/a", "old");
        put("/data/sub/b", "b");
        assertThat(names("/data")).containsExactly("a", "sub");
        assertThat(names("/data/sub")).containsExactly("b");
    }

    @Test
    void sync_findsWhatIsNewReplacedAndRemovedInTheBucket() throws Exception {
        put("/data/a", "replaced");
        put("/data/new/deep/c", "c");
        cluster.ufs().delete("/data/sub/b");
        put("/data/sub/d", "d");
        assertThat(names("/data")).containsExactly("a", "sub");
        sync("/data");
        assertThat(names("/data")).containsExactly("a", "new", "sub");
        assertThat(store.status("/data/a").lengthBytes()).isEqualTo(8);
        assertThat(names("/data/sub")).containsExactly("d");
        assertThat(names("/data/new/deep")).containsExactly("c");
        Sync.State end = told.get(told.size() - 1);
        assertThat(end.directories()).isEqualTo(4);
        assertThat(end.entries()).isEqualTo(6);
        assertThat(end.failed()).isZero();
    }

    @Test
    void sync_ofOneFile_comparesIt() throws Exception {
        put("/data/a", "replaced");
        sync("/data/a");
        assertThat(store.status("/data/a").lengthBytes()).isEqualTo(8);
    }

    @Test
    void sync_ofWhatIsNowhere_fails() {
        assertThatThrownBy(() -> sync("/none")).isInstanceOfSatisfying(ServiceException.class, e -> assertThat(e.kind())
                .isEqualTo(ServiceException.Kind.NOT_FOUND));
    }

    @Test
    void sync_comparesTheOthersWhereAlluxioRefusesOneDirectory_andEndsWhereItDoesNotAnswer() throws Exception {
        put("/data/z/e", "e");
        store.faults().on(StoreCall.LIST_COMPARED).at("/sub").fail(Errno.EACCES);
        sync("/data");
        Sync.State end = told.get(told.size() - 1);
        assertThat(end.failed()).isEqualTo(1);
        assertThat(end.failure()).startsWith("/data/sub: ");
        assertThat(names("/data/z")).containsExactly("e");
        store.faults().on(StoreCall.LIST_COMPARED).at("/sub").fail(Errno.EIO);
        assertThatThrownBy(() -> sync("/data")).hasMessageStartingWith("/data/sub could not be compared");
    }

    @Test
    void sync_ofALargeDirectory_isReportedEverySecondAndEndsWhenNobodyWaits() throws Exception {
        StoreFaults.Held held =
                store.faults().on(StoreCall.LIST_COMPARED).at("/data").hold();
        AsyncCall running = AsyncCall.start(() -> sync("/data"));
        held.await();
        cluster.clock().awaitWaiting(1);
        cluster.clock().advance(Duration.ofMinutes(10));
        io.posixgateway.alluxio.harness.Waiting.until("it is told", Duration.ofSeconds(60), () -> !told.isEmpty());
        assertThat(told.get(0).path()).isEqualTo("/data");
        assertThat(seconds.get(0)).isEqualTo(600);
        waits = false;
        cluster.clock().awaitWaiting(1);
        cluster.clock().advance(Duration.ofSeconds(1));
        running.await();
    }
}
