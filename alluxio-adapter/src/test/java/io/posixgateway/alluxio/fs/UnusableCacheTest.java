package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.TmpfsFolder;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A data cache that cannot be used ends no mount that was served before, and a mount that fails keeps no data cache. */
class UnusableCacheTest {
    @TempDir(factory = TmpfsFolder.class)
    private Path above = Path.of("");

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private MemoryMount.Builder mount(Path cache) {
        return MemoryMount.of(cluster.connect()).with("cache_dir", cache.toString());
    }

    @Test
    void takeover_withoutTheDiskOfTheCache_goesOn_whereAFirstMountIsRefused() throws IOException {
        Path disk = Files.createDirectory(above.resolve("disk"));
        try (MemoryMount first = mount(disk.resolve("cache")).openPersistent(above.resolve("1"), null)) {
            first.write("/f", "text");
            Path missing = Files.writeString(above.resolve("missing"), "").resolve("cache");
            try (MemoryMount next = mount(missing).openPersistent(above.resolve("2"), first)) {
                assertThat(next.read("/f")).isEqualTo("text");
            }
            assertThatThrownBy(() -> mount(missing).openPersistent(above.resolve("3"), null))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        }
    }

    @Test
    void mountThatFailsUnexpectedly_leavesTheCacheToOthers() throws IOException {
        Path cache = Files.createDirectory(above.resolve("cache"));
        Store store = cluster.connect();
        Store failing = (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("cluster")) {
                        throw new IllegalStateException("cluster");
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
        AdapterOptions options = AdapterOptions.of(AdapterOptions.TABLE.read(Map.of(
                "cache_dir", cache.toString(), "spool", above.resolve("spool").toString())));

        assertThatThrownBy(() -> AlluxioMount.open(failing, "/", options, Clock.system()))
                .isInstanceOf(IllegalStateException.class);

        int lock = Native.lockFolder(Native.pathBytes(cache.toString()), new long[2]);
        assertThat(lock).isNotNegative();
        Native.close(lock);
    }
}
