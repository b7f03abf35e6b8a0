package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.LoadState;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.NameCodec;
import org.junit.jupiter.api.Test;

/** Paths as people write them; what Alluxio does with a load is in WarmupIT. */
class WarmupTest {
    private static final String PATH = "/what?/a\\b";

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private int entries;
    private int failed;
    private long warmBytes;

    private final Warmup.Progress progress = new Warmup.Progress() {
        @Override
        public boolean entry(long bytes, long warm, boolean failure) {
            entries++;
            warmBytes += warm;
            failed += failure ? 1 : 0;
            return true;
        }

        @Override
        public boolean loading(LoadState state) {
            return true;
        }
    };

    private Warmup over(MemoryMount mount) {
        FileTree tree = new FileTree(mount.fileSystem(), NameCodec.ESCAPED);
        return new Warmup(tree, mount.store(), "/", progress, cluster.clock());
    }

    @Test
    void check_ofNamesThatAlluxioCannotStore_findsThem() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster.connect()).open()) {
            mount.mkdir("/what?");
            mount.write(PATH, "precious");
            over(mount).check(PATH);
            over(mount).check("/what?");
        }
        assertThat(failed).isZero();
        assertThat(entries).isEqualTo(3);
        assertThat(warmBytes).isEqualTo(2L * "precious".length());
    }
}
