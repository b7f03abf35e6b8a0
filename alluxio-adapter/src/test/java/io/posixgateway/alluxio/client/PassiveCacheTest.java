package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import alluxio.client.file.FileSystemContext;
import alluxio.conf.Configuration;
import alluxio.grpc.CacheRequest;
import alluxio.network.TieredIdentityFactory;
import io.posixgateway.alluxio.client.ReadWorkerSelector.Place;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.time.OffsetClock;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import javax.security.auth.Subject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which worker fetches what was read elsewhere. One is on this host, another is not. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PassiveCacheTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long LAST = 4711;

    private final OffsetClock clock = new OffsetClock();
    private final FalseMaster master = new FalseMaster(true);
    private final FalseWorker here = new FalseWorker(TieredIdentityFactory.localIdentity(Configuration.global())
            .getTier(0)
            .getValue());
    private final FalseWorker far = new FalseWorker("far");
    private final FileSystemContext context;
    private final MasterClient client;
    private final WorkerConnections connections;
    private final WorkerHealth watch = new WorkerHealth(clock, address -> true, (work, delayNanos) -> () -> {});
    private final PassiveCache cache;

    PassiveCacheTest() throws IOException {
        StoreOptions options = new StoreOptions(
                master.address(),
                "",
                "THROUGH",
                false,
                Map.of("alluxio.security.authentication.type", "NOSASL", "alluxio.user.hostname", "127.0.0.1"));
        context = FileSystemContext.create(new Subject(), ClientProperties.of(options));
        client = new MasterClient(context, 1, clock);
        connections = new WorkerConnections(context, WorkerList.of(context, client, clock), clock);
        cache = new PassiveCache(connections, watch);
        master.workers.add(here.address());
        master.workers.add(far.address());
    }

    @AfterEach
    void end() throws IOException {
        cache.close();
        connections.close();
        client.close();
        context.close();
        here.close();
        far.close();
        master.close();
    }

    private void fetch(long block, FalseWorker source, boolean fromUfs, boolean toHere) {
        cache.fetch(
                CacheRequest.newBuilder().setBlockId(block),
                new Place(source.address(), fromUfs, false),
                toHere,
                () -> true);
    }

    /** Requests are sent one after the other. */
    private void awaitAll() throws Exception {
        fetch(LAST, far, true, false);
        Waiting.until("the last is sent", LIMIT, () -> far.fetched.stream()
                .anyMatch(request -> request.getBlockId() == LAST));
    }

    @Test
    void fetch_ofWhatAWorkerElsewhereHasOrRead_asksTheOneHere() throws Exception {
        fetch(1, far, false, true);
        fetch(2, far, true, true);
        awaitAll();
        assertThat(here.fetched).extracting(CacheRequest::getBlockId).containsExactly(1L, 2L);
        assertThat(here.fetched)
                .extracting(CacheRequest::getSourcePort)
                .containsOnly(far.address().getDataPort());
        assertThat(far.fetched).hasSize(1);
    }

    @Test
    void fetch_whereTheOneHereIsNotToFetch_asksTheOneThatReadTheUfs() throws Exception {
        fetch(1, far, false, false);
        fetch(2, far, true, false);
        awaitAll();
        assertThat(here.fetched).isEmpty();
        assertThat(far.fetched).extracting(CacheRequest::getBlockId).containsExactly(2L, LAST);
    }

    @Test
    void fetch_ofWhatTheOneHereHas_asksNobody() throws Exception {
        fetch(1, here, false, true);
        awaitAll();
        assertThat(here.fetched).isEmpty();
        assertThat(far.fetched).hasSize(1);
    }

    @Test
    void fetch_byAWorkerThatHangs_isLeftUndone() throws Exception {
        watch.of(here.address()).begin();
        clock.advance(Duration.ofNanos(WorkerHealth.SILENT_NANOS));
        fetch(1, far, false, true);
        awaitAll();
        assertThat(here.fetched).isEmpty();
    }
}
