package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.RunningListings.Listing;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.dispatch.InFlightRequest;
import io.posixgateway.fuse.metrics.CallerProcess;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What takes long in an object store, the first listing of a large directory or the copy of a large object, while the watchdog looks. */
@Timeout(120)
class LongListingTest {
    /** Any call is too long for it, and any age but that of a listing. */
    private static final WatchLimits STRICT =
            new WatchLimits(0, 1, Duration.ofMinutes(5).toNanos());

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
    private final List<String> names = new CopyOnWriteArrayList<>();
    private MemoryMount mount;
    private VolumeWatch watch;
    private int aborts;
    private CallerProcess.State caller = CallerProcess.State.KILLED;

    private final class Watching implements VolumeWatch.Watched {
        @Override
        public List<InFlightRequest> inFlight(long atLeastNanos) {
            return mount.requests().inFlight(atLeastNanos);
        }

        @Override
        public boolean interrupt(long unique, long atLeastNanos) {
            return mount.requests().interruptRemote(unique, atLeastNanos);
        }

        @Override
        public void abort() {
            aborts++;
        }

        @Override
        public List<Listing> listings(long atLeastNanos) {
            return mount.fileSystem().store().listings(atLeastNanos);
        }

        @Override
        public List<Listing> copies(long atLeastNanos) {
            return mount.fileSystem().store().copies(atLeastNanos);
        }

        @Override
        public CallerProcess.State caller(int pid) {
            return caller;
        }

        @Override
        public String pathOf(long node) {
            return "";
        }
    }

    @BeforeEach
    void begin() {
        try (MemoryMount filled = MemoryMount.of(cluster)) {
            filled.mkdir("/big");
            filled.write("/big/object", "data");
            filled.write("/other", "text");
        }
        mount = MemoryMount.of(cluster);
        watch = new VolumeWatch("vol", STRICT, new Watching());
    }

    @AfterEach
    void end() {
        mount.close();
    }

    private StoreFaults.Held held() {
        return mount.faults().on(StoreCall.LIST).at("/big").hold();
    }

    private AsyncCall list() {
        return AsyncCall.start(() -> names.addAll(mount.list("/big")));
    }

    @Test
    void listing_ofTenMinutes_succeedsWhileOtherCallsGoOn() throws Exception {
        StoreFaults.Held held = held();
        AsyncCall listing = list();
        held.await();
        cluster.clock().advance(Duration.ofMinutes(10));
        watch.look();
        assertThat(mount.fileSystem().store().listings(1))
                .containsExactly(new Listing("/big", Duration.ofMinutes(10).toNanos(), 1));
        assertThat(mount.read("/other")).isEqualTo("text");
        assertThat(mount.list("/")).containsExactly("big", "other");
        assertThat(listing.isDone()).isFalse();
        held.open();
        listing.await();
        assertThat(names).containsExactly("object");
        assertThat(watch.interrupted()).isZero();
        assertThat(aborts).isZero();
        assertThat(mount.fileSystem().store().listings(0)).isEmpty();
    }

    /** A large object is copied for as long as it takes. */
    @Test
    void rename_ofTenMinutes_succeeds() throws Exception {
        StoreFaults.Held held = mount.faults().on(StoreCall.RENAME).at("/other").hold();
        AsyncCall renaming = AsyncCall.start(() -> mount.rename("/other", "/moved"));
        held.await();
        cluster.clock().advance(Duration.ofMinutes(10));
        watch.look();
        assertThat(mount.fileSystem().store().copies(1))
                .containsExactly(new Listing("/moved", Duration.ofMinutes(10).toNanos(), 1));
        held.open();
        renaming.await();
        assertThat(mount.read("/moved")).isEqualTo("text");
        assertThat(watch.interrupted()).isZero();
        assertThat(aborts).isZero();
        assertThat(mount.fileSystem().store().copies(0)).isEmpty();
    }

    @Test
    void rename_ofAKilledProgram_endsAtTheNextLook() throws Exception {
        StoreFaults.Held held = mount.faults().on(StoreCall.RENAME).at("/other").hold();
        AsyncCall renaming = AsyncCall.start(() -> mount.rename("/other", "/moved"));
        held.await();
        cluster.clock().advance(Duration.ofSeconds(3));
        mount.requests().signal(renaming.thread());
        watch.look();
        assertThat(renaming.awaitErrno()).isEqualTo(Errno.EINTR);
        assertThat(mount.read("/other")).isEqualTo("text");
    }

    /** As a timer of its own, or a child that ends, may send it. */
    @Test
    void rename_ofAProgramThatHandlesASignal_isWaitedFor() throws Exception {
        caller = CallerProcess.State.LIVES;
        StoreFaults.Held held = mount.faults().on(StoreCall.RENAME).at("/other").hold();
        AsyncCall renaming = AsyncCall.start(() -> mount.rename("/other", "/moved"));
        held.await();
        cluster.clock().advance(Duration.ofMinutes(1));
        mount.requests().signal(renaming.thread());
        watch.look();
        held.open();
        assertThat(renaming.awaitErrno()).isZero();
        assertThat(mount.read("/moved")).isEqualTo("text");
    }

    @Test
    void listing_ofAKilledProgram_endsAtTheNextLook() throws Exception {
        StoreFaults.Held held = held();
        AsyncCall listing = list();
        held.await();
        cluster.clock().advance(Duration.ofSeconds(3));
        watch.look();
        assertThat(watch.interrupted()).isZero();
        mount.requests().signal(listing.thread());
        watch.look();
        assertThat(listing.awaitErrno()).isEqualTo(Errno.EINTR);
        assertThat(mount.list("/big")).containsExactly("object");
    }
}
