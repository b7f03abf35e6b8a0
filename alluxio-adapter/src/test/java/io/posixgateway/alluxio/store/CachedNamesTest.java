package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.RecordingKernel.Notification;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is believed of names and attributes, and for how long, while another mount changes them. */
class CachedNamesTest {
    private static final Duration TTL = Duration.ofSeconds(5);
    private static final Duration ALMOST = TTL.minusNanos(1);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryMount mount =
            MemoryMount.of(cluster.connect()).with("metadata_ttl", "5s").open();
    private final MemoryMount other =
            MemoryMount.of(cluster.connect()).with("metadata_ttl", "0").open();

    @AfterEach
    void unmount() {
        mount.close();
        other.close();
    }

    private static void assertErrno(int errno, Runnable work) {
        assertThatThrownBy(work::run).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(errno));
    }

    @Test
    void lookup_afterRemoteRemoval_findsTheFileUntilTheTtlHasPassed() {
        mount.write("/file", "text");
        mount.stat("/file");
        cluster.clock().advance(TTL);
        long node = mount.lookup("/file").id();
        other.unlink("/file");
        cluster.clock().advance(ALMOST);
        assertThat(mount.lookup("/file").id()).isEqualTo(node);
        cluster.clock().advance(Duration.ofNanos(1));
        assertThat(mount.exists("/file")).isFalse();
    }

    @Test
    void lookup_tellsTheKernelHowLongTheNameIsBelieved() {
        mount.write("/file", "text");
        cluster.clock().advance(TTL);
        FuseNode fresh = mount.lookup("/file");
        assertThat(fresh.nameValid()).isEqualTo(TTL);
        cluster.clock().advance(Duration.ofSeconds(2));
        FuseNode aged = mount.lookup("/file");
        assertThat(aged.nameValid()).isEqualTo(TTL.minusSeconds(2));
        assertThat(aged.attributesValid()).isEqualTo(TTL.minusSeconds(2));
    }

    @Test
    void lookup_ofMissing_isBelievedForASecond_andNotAskedForAgain() {
        assertThat(mount.exists("/file")).isFalse();
        other.write("/file", "text");
        mount.faults().forgetCounts();
        assertThat(mount.exists("/file")).isFalse();
        assertThat(mount.faults().counts()).isEmpty();
        cluster.clock().advance(Duration.ofSeconds(1));
        assertThat(mount.exists("/file")).isTrue();
        assertThat(mount.faults().count(StoreCall.STATUS)).isLessThanOrEqualTo(2);
    }

    @Test
    void getattr_afterRemoteWrite_showsTheOldLengthUntilTheTtlHasPassed() {
        mount.write("/file", "text");
        cluster.clock().advance(TTL);
        FuseNode seen = mount.stat("/file");
        other.write("/file", "longer text");
        cluster.clock().advance(ALMOST);
        assertThat(mount.requests().getattr(seen.id()).lengthBytes()).isEqualTo(4);
        cluster.clock().advance(Duration.ofNanos(1));
        assertThat(mount.requests().getattr(seen.id()).lengthBytes()).isEqualTo(11);
    }

    @Test
    void getattr_afterRemoteWrite_hasTheKernelDropPages() throws Exception {
        mount.write("/file", "text");
        cluster.clock().advance(TTL);
        FuseNode seen = mount.stat("/file");
        other.write("/file", "longer text");
        cluster.clock().advance(TTL);
        mount.kernel().clear();
        mount.requests().getattr(seen.id());
        mount.kernel().await(Notification.content(seen.id()));
    }

    @Test
    void node_staysTheSame_whenAnotherMountReplacesTheContent() {
        mount.write("/file", "text");
        FuseNode seen = mount.stat("/file");
        other.write("/file", "another");
        cluster.clock().advance(TTL);
        assertThat(mount.requests().getattr(seen.id()).lengthBytes()).isEqualTo(7);
        assertThat(mount.lookup("/file").id()).isEqualTo(seen.id());
        assertThat(mount.read("/file")).isEqualTo("another");
    }

    @Test
    void node_isFoundWhereAnotherMountRenamedItTo() {
        mount.mkdir("/dir");
        mount.write("/file", "text");
        FuseNode seen = mount.stat("/file");
        other.rename("/file", "/dir/renamed");
        other.write("/file", "another");
        cluster.clock().advance(TTL);
        assertThat(mount.requests().getattr(seen.id()).lengthBytes()).isEqualTo(4);
        assertThat(mount.lookup("/dir/renamed").id()).isEqualTo(seen.id());
        assertThat(mount.lookup("/file").id()).isNotEqualTo(seen.id());
    }

    @Test
    void getattr_ofRemovedNode_isEstale() {
        mount.write("/file", "text");
        FuseNode seen = mount.stat("/file");
        other.unlink("/file");
        cluster.clock().advance(TTL);
        assertErrno(Errno.ESTALE, () -> mount.requests().getattr(seen.id()));
    }

    @Test
    void open_seesWhatWasClosedBeforeOpenTrust() {
        mount.write("/file", "text");
        cluster.clock().advance(TTL);
        FuseNode seen = mount.lookup("/file");
        other.write("/file", "another");
        cluster.clock().advance(Duration.ofSeconds(1));
        FuseRequests.Opened opened = mount.requests().open(seen, Stat.O_RDONLY);
        assertThat(mount.requests().read(opened, 0, 100)).asString().isEqualTo("another");
        mount.requests().release(opened);
    }

    @Test
    void open_withinOpenTrust_asksNobody() {
        mount.write("/file", "text");
        FuseNode seen = mount.stat("/file");
        mount.requests().release(mount.requests().open(seen, Stat.O_RDONLY));
        mount.faults().forgetCounts();
        cluster.clock().advance(Duration.ofMillis(999));
        mount.requests().release(mount.requests().open(seen, Stat.O_RDONLY));
        assertThat(mount.faults().counts()).isEmpty();
        cluster.clock().advance(Duration.ofMillis(1));
        mount.requests().release(mount.requests().open(seen, Stat.O_RDONLY));
        assertThat(mount.faults().count(StoreCall.STATUS)).isEqualTo(1);
    }

    @Test
    void outsiderInTheUfs_isSeenWhenAlluxioHasLookedThere() throws StoreException {
        mount.write("/file", "text");
        cluster.clock().advance(Duration.ofSeconds(1));
        cluster.ufs().write("/file", "by others".getBytes(StandardCharsets.UTF_8));
        cluster.clock().advance(TTL);
        assertThat(mount.stat("/file").lengthBytes()).isEqualTo(4);
        other.store().compared("/file");
        cluster.clock().advance(TTL);
        assertThat(mount.read("/file")).isEqualTo("by others");
    }

    @Test
    void nameThatThisMountTook_isComparedWhenAlluxioHasItAgain() throws StoreException {
        mount.mkdir("/dir");
        mount.write("/dir/file", "text");
        cluster.at(Moment.NAMES_LISTED_IN_UFS, path -> mount.unlink("/dir/file"));
        assertThat(other.list("/dir")).containsExactly("file");
        cluster.clock().advance(TTL);
        mount.faults().forgetCounts();
        assertThat(mount.exists("/dir/file")).isFalse();
        assertThat(mount.faults().count(StoreCall.COMPARED)).isEqualTo(1);
        mount.write("/dir/file", "again");
        assertThat(cluster.ufs().read("/dir/file")).asString().isEqualTo("again");
    }
}
