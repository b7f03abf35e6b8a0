package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.mounted.PlainRequest;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.FuseRequests;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.RecordingKernel.Notification;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.Stat;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is known is answered at once until it is invalidated, here and in the kernel. */
class InvalidationTest {
    private static final Request INLINE = new PlainRequest(false);
    private static final Request WAITING = new PlainRequest(true);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private MemoryMount mount() {
        return MemoryMount.of(cluster.connect())
                .with("consistency", "ttl")
                .with("metadata_ttl", "1h")
                .with("short_circuit", "off")
                .open();
    }

    private void makeFiles(int files) {
        for (int i = 0; i < files; i++) {
            cluster.ufs().write("/f" + i, "hello".getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void knownFile_isAnsweredWithoutWaitingUntilInvalidated() {
        makeFiles(1);
        try (MemoryMount mount = mount()) {
            AlluxioFileSystem files = mount.fileSystem();
            Entry entry = new Entry();
            Name name = Name.of("f0");
            assertThat(files.lookup(INLINE, FileSystem.ROOT, name, entry)).isEqualTo(FileSystem.WOULD_WAIT);
            assertThat(files.lookup(WAITING, FileSystem.ROOT, name, entry)).isZero();
            long node = entry.node;
            assertThat(files.lookup(INLINE, FileSystem.ROOT, name, entry)).isZero();
            assertThat(entry.node).isEqualTo(node);
            assertThat(files.getattr(INLINE, node, 0, new Attributes())).isZero();
            OpenReply open = new OpenReply();
            assertThat(files.open(WAITING, node, 0, open)).isZero();
            ByteBuffer content = ByteBuffer.allocateDirect(100);
            assertThat(files.read(WAITING, node, open.handle, 0, content)).isEqualTo(5);
            assertThat(files.release(WAITING, node, open.handle)).isZero();
            assertThat(files.invalidate("/f0")).isEqualTo(1);
            assertThat(files.lookup(INLINE, FileSystem.ROOT, name, entry)).isEqualTo(FileSystem.WOULD_WAIT);
            assertThat(files.getattr(INLINE, node, 0, new Attributes())).isEqualTo(FileSystem.WOULD_WAIT);
        }
    }

    /** However many: when the invalidation is done, the kernel was told of each. */
    @Test
    void invalidate_ofManyFiles_tellsKernelOfAll() {
        int files = 6000;
        makeFiles(files);
        try (MemoryMount mount = mount()) {
            assertThat(mount.list("/")).hasSize(files);
            Set<Notification> expected = new HashSet<>();
            for (int i = 0; i < files; i++) {
                FuseNode node = mount.lookup("/f" + i);
                expected.add(Notification.entry(FuseRequests.ROOT, "f" + i));
                expected.add(Notification.content(node.id()));
            }
            expected.add(Notification.content(FuseRequests.ROOT));
            mount.faults().forgetCounts();
            mount.lookup("/f" + (files - 1));
            assertThat(mount.faults().counts()).as("before").isEmpty();

            assertThat(mount.fileSystem().invalidate("/")).isEqualTo(files + 1);

            mount.kernel().notifications().forEach(expected::remove);
            assertThat(expected).as("what the kernel was not told").isEmpty();
            mount.lookup("/f0");
            mount.lookup("/f" + (files - 1));
            assertThat(mount.faults().count(StoreCall.STATUS)).isEqualTo(2);
        }
    }

    /** Those that were asked for, and those that are missing where all names are known. */
    @Test
    void invalidate_ofMissingNames_makesThemAskedForAgain() {
        cluster.ufs().makeDirectory("/d");
        String[] names = {"asked", "known", "single"};
        try (MemoryMount one = mount();
                MemoryMount two = mount()) {
            assertThat(two.exists("/d/asked")).isFalse();
            assertThat(two.list("/d")).isEmpty();
            assertThat(two.list("/d")).isEmpty();
            two.faults().forgetCounts();
            assertThat(two.exists("/d/known")).isFalse();
            assertThat(two.exists("/d/single")).isFalse();
            assertThat(two.faults().counts()).as("all names are known").isEmpty();
            for (String name : names) {
                one.write("/d/" + name, name);
                assertThat(two.exists("/d/" + name)).as(name).isFalse();
            }
            long directory = two.lookup("/d").id();
            assertThat(two.fileSystem().invalidate("/d/single")).isEqualTo(1);
            assertThat(two.kernel().notifications()).contains(Notification.entry(directory, "single"));
            assertThat(two.read("/d/single")).isEqualTo("single");

            assertThat(two.fileSystem().invalidate("/d")).isGreaterThan(2);
            assertThat(two.kernel().notifications())
                    .contains(Notification.entry(directory, "asked"), Notification.entry(directory, "known"));
            assertThat(two.read("/d/asked")).isEqualTo("asked");
            assertThat(two.read("/d/known")).isEqualTo("known");
            assertThat(two.list("/d")).containsExactlyInAnyOrder(names);
        }
    }

    /** The kernel would read the new content to the old length, until a notification that comes later. */
    @Test
    void open_ofFileThatOthersChanged_isAnsweredWhenTheKernelHasNoLengthOfIt() {
        try (MemoryMount mount = MemoryMount.of(cluster);
                MemoryMount other = MemoryMount.of(cluster)) {
            mount.write("/f", "1");
            FuseNode node = mount.lookup("/f");
            other.write("/f", "longer");
            cluster.clock().advance(Duration.ofSeconds(2));
            mount.kernel().take();
            try (MemoryMount.OpenFile file = mount.bind("/f").open(Stat.O_RDONLY)) {
                assertThat(mount.kernel().notifications()).contains(Notification.attributes(node.id()));
                assertThat(file.readText()).isEqualTo("longer");
            }
        }
    }
}
