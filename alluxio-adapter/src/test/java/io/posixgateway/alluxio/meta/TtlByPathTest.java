package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.RecordingKernel.Notification;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two mounts of one folder, which believe what is in "stays" for an hour, and what is in "changes" not at all. */
class TtlByPathTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final String[] CHANGING = {"/changes", "/stays/now"};
    private static final String[] ALL = {"/stays", "/changes", "/stays/now"};

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private MemoryMount one;
    private MemoryMount two;

    @BeforeEach
    void mountTwice() {
        cluster.ufs().makeDirectory("/stays/now");
        cluster.ufs().makeDirectory("/changes");
        one = mount();
        two = mount();
    }

    private MemoryMount mount() {
        return MemoryMount.of(cluster.connect())
                .with("consistency", "ttl")
                .with("metadata_ttl", "1h")
                .with("negative_ttl", "1h")
                .with("metadata_ttl_of", "/changes=0:/stays/now=0:/stays=1h")
                .with("short_circuit", "off")
                .open();
    }

    @AfterEach
    void unmount() {
        one.close();
        two.close();
    }

    @Test
    void look_belowPath_isBelievedForItsTime() {
        for (String path : ALL) {
            one.write(path + "/f", "old");
            assertThat(two.stat(path + "/f").lengthBytes()).isEqualTo(3);
            assertThat(two.exists(path + "/new")).isFalse();
            // The first loads the names, which changes the directory; the second is kept.
            for (int look = 1; look <= 2; look++) {
                assertThat(two.list(path)).contains("f").doesNotContain("new");
            }
        }
        for (String path : ALL) {
            one.write(path + "/f", "longer");
            one.write(path + "/new", "new");
        }
        for (String path : CHANGING) {
            FuseNode file = two.lookup(path + "/f");
            assertThat(file.nameValid()).isZero();
            assertThat(file.attributesValid()).isZero();
            assertThat(file.lengthBytes()).isEqualTo(6);
            assertThat(two.read(path + "/f")).isEqualTo("longer");
            assertThat(two.list(path)).contains("new");
            assertThat(two.exists(path + "/new")).isTrue();
        }
        cluster.clock().advance(HOUR.minusNanos(1));
        assertThat(two.lookup("/stays/f").lengthBytes()).isEqualTo(3);
        assertThat(two.list("/stays")).doesNotContain("new");
        assertThat(two.exists("/stays/new")).isFalse();
        cluster.clock().advance(Duration.ofNanos(1));
        assertThat(two.lookup("/stays/f").lengthBytes()).isEqualTo(6);
        assertThat(two.list("/stays")).contains("new");
        assertThat(two.exists("/stays/new")).isTrue();
    }

    /** The kernel, which believes for the time of the old path, is told; of what is below a directory, too. */
    @Test
    void rename_toPathOfOtherTime_isBelievedForThat() throws Exception {
        one.mkdir("/stays/folder");
        one.write("/stays/folder/below", "old");
        one.write("/stays/f", "old");
        FuseNode file = two.lookup("/stays/f");
        FuseNode below = two.lookup("/stays/folder/below");
        assertThat(file.attributesValid()).isEqualTo(HOUR);
        assertThat(below.attributesValid()).isEqualTo(HOUR);
        two.rename("/stays/folder", "/changes/folder");
        two.rename("/stays/f", "/changes/f");
        two.kernel().await(Notification.attributes(file.id()));
        two.kernel().await(Notification.attributes(below.id()));
        one.write("/changes/folder/below", "longer");
        one.write("/changes/f", "longer");
        for (FuseNode node : new FuseNode[] {file, below}) {
            FuseNode now = two.requests().getattr(node.id());
            assertThat(now.lengthBytes()).isEqualTo(6);
            assertThat(now.attributesValid()).isZero();
        }
    }

    /** Within paths of one time it is believed on. */
    @Test
    void rename_withinPathsOfOneTime_tellsKernelNothing() throws Exception {
        one.mkdir("/stays/folder");
        one.write("/stays/f", "old");
        one.write("/stays/marker", "old");
        long file = two.lookup("/stays/f").id();
        long marker = two.lookup("/stays/marker").id();
        two.rename("/stays/f", "/stays/folder/f");
        two.rename("/stays/marker", "/changes/marker");
        two.kernel().await(Notification.attributes(marker)); // one is told after the other
        assertThat(two.kernel().notifications()).doesNotContain(Notification.attributes(file));
        assertThat(two.requests().getattr(file).attributesValid()).isEqualTo(HOUR);
    }
}
