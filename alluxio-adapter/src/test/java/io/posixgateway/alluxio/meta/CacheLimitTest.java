package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.mounted.PlainRequest;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.FuseRequests;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.RecordingKernel.Notification;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** More files than are to be kept. */
class CacheLimitTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int KEPT = 1000;
    private static final Request INLINE = new PlainRequest(false);
    private static final Duration BETWEEN_PRUNINGS = Duration.ofMillis(50);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private MemoryMount mount(int files) {
        for (int i = 0; i < files; i++) {
            cluster.ufs().write("/f" + i, "hello".getBytes(StandardCharsets.UTF_8));
        }
        return MemoryMount.of(cluster.connect())
                .with("consistency", "ttl")
                .with("metadata_ttl", "1h")
                .with("short_circuit", "off")
                .with("cache_entries", Integer.toString(KEPT))
                .open();
    }

    /** What the kernel knows stays; what comes beside it must not be gone before it is used. */
    @Test
    void read_ofMoreFilesThanAreKept_looksForNoneAgain() throws Exception {
        int files = KEPT + 200;
        try (MemoryMount mount = mount(files)) {
            List<FuseNode> known = new ArrayList<>();
            for (int i = 0; i < files; i++) {
                known.add(mount.lookup("/f" + i));
            }
            mount.faults().forgetCounts();
            for (int i = files - 1; i >= 0; i--) {
                FuseRequests.Opened file = mount.requests().open(known.get(i), 0);
                assertThat(mount.requests().read(file, 0, 10)).hasSize(5);
                mount.requests().release(file);
            }
            assertThat(mount.faults().count(StoreCall.PATH_OF))
                    .as("once after each read from the under file system, to see whose bytes they are")
                    .isEqualTo(files);
        }
    }

    /** Somebody is about to use them. */
    @Test
    void list_whenKernelKnowsMoreThanAreKept_keepsWhatWasListedLast() {
        int listed = 400;
        for (int i = 0; i < listed; i++) {
            cluster.ufs().write("/d/f" + i, "hello".getBytes(StandardCharsets.UTF_8));
        }
        try (MemoryMount mount = mount(KEPT + 200)) {
            for (int i = 0; i < KEPT + 200; i++) {
                mount.lookup("/f" + i);
            }
            long directory = mount.lookup("/d").id();
            assertThat(mount.list("/d")).hasSize(listed);
            for (int i = 0; i < listed; i++) {
                assertThat(mount.fileSystem().lookup(INLINE, directory, Name.of("f" + i), new Entry()))
                        .isZero();
            }
        }
    }

    /** Else memory would be bounded by nothing but the kernel's. */
    @Test
    void lookup_ofFarMoreFilesThanAreKept_makesKernelForgetSomeAndNoneThatIsOpen() throws Exception {
        int files = 5 * KEPT;
        try (MemoryMount mount = mount(files)) {
            Forgetful kernel = new Forgetful(mount);
            FuseRequests.Opened open = mount.requests().open(kernel.look("f0"), 0);
            for (int round = 1; round <= 2; round++) {
                for (int i = 1; i < files; i++) {
                    kernel.look("f" + i);
                }
                Waiting.until("few are kept", LIMIT, () -> {
                    kernel.obey();
                    kernel.look("f1"); // it is asked to let go when somebody comes or goes
                    kernel.letGo("f1");
                    return mount.fileSystem().counts().inodes() < 3 * KEPT;
                });
                assertThat(mount.list("/")).hasSize(files);
            }
            assertThat(kernel.toldOf).doesNotContain("f0");
            assertThat(mount.requests().read(open, 0, 10)).asString().isEqualTo("hello");
            for (int i = 0; i < files; i += 100) {
                assertThat(mount.read("/f" + i)).isEqualTo("hello");
            }
            mount.requests().release(open);
        }
    }

    /** A kernel that forgets a file when it is to let go of its name. */
    private final class Forgetful {
        private final MemoryMount mount;
        private final Map<String, Map<Long, Long>> lookups = new HashMap<>();
        private final Set<String> toldOf = new HashSet<>();

        Forgetful(MemoryMount mount) {
            this.mount = mount;
        }

        FuseNode look(String name) {
            FuseNode node = mount.requests().lookup(FuseRequests.ROOT, name);
            lookups.computeIfAbsent(name, key -> new HashMap<>()).merge(node.id(), 1L, Long::sum);
            return node;
        }

        void obey() {
            cluster.clock().advance(BETWEEN_PRUNINGS);
            for (Notification notification : mount.kernel().take()) {
                toldOf.add(notification.name());
                letGo(notification.name());
            }
        }

        void letGo(String name) {
            Map<Long, Long> known = lookups.remove(name);
            if (known != null) {
                known.forEach(mount.requests()::forget);
            }
        }
    }
}
