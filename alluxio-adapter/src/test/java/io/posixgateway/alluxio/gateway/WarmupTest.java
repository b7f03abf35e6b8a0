package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.gateway.Warmup.Data;
import io.posixgateway.alluxio.harness.TmpfsFolder;
import io.posixgateway.alluxio.nodecache.CacheFigures;
import io.posixgateway.alluxio.store.LoadState;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.MemoryWorker;
import io.posixgateway.alluxio.store.NameCodec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Paths as people write them; what Alluxio does with a load is in WarmupIT. */
class WarmupTest {
    private static final String PATH = "/what?/a\\b";

    /** Two pieces. */
    private static final int LARGE = (4 << 20) + 77;

    private static final int SMALL = 300_000;

    @TempDir(factory = TmpfsFolder.class)
    private Path above = Path.of("");

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final List<Long> here = new ArrayList<>();
    private final List<String> whys = new ArrayList<>();
    private int entries;
    private int failed;
    private long warmBytes;
    private long lackingBytes;
    private int patience = Integer.MAX_VALUE;

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
            here.add(state.loadedBytes());
            failed += state.done() ? (int) state.failedFiles() : 0;
            return here.size() < patience;
        }

        @Override
        public void lacksRoom(long bytes) {
            lackingBytes += bytes;
        }

        @Override
        public void failure(String why) {
            whys.add(why);
        }
    };

    private Warmup over(MemoryMount mount) {
        FileTree tree = new FileTree(mount.fileSystem(), NameCodec.ESCAPED);
        return new Warmup(tree, mount.store(), "/", progress, cluster.clock(), mount.fileSystem()::nodeWarmup);
    }

    @Test
    void check_ofNamesThatAlluxioCannotStore_findsThem() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster.connect()).open()) {
            mount.mkdir("/what?");
            mount.write(PATH, "precious");
            over(mount).check(PATH, Data.WORKERS);
            over(mount).check("/what?", Data.WORKERS);
        }
        assertThat(failed).isZero();
        assertThat(entries).isEqualTo(3);
        assertThat(warmBytes).isEqualTo(2L * "precious".length());
    }

    private MemoryMount cached(String sizeOption) {
        return MemoryMount.of(cluster.connect())
                .with("cache_dir", above.resolve("cache").toString())
                .with("cache_dir_size", sizeOption)
                .open();
    }

    private static CacheFigures figures(MemoryMount mount) {
        return Objects.requireNonNull(mount.fileSystem().details().cache());
    }

    private void written(String path, int bytes) {
        try (MemoryMount other = MemoryMount.of(cluster);
                OpenFile file = other.create(path)) {
            file.write(0, new byte[bytes]);
        }
    }

    private long last() {
        return here.get(here.size() - 1);
    }

    @Test
    void run_toNode_bringsAllPieces_soThatNoReadAsksAWorker() throws Exception {
        written("/large", LARGE);
        written("/small", SMALL);
        try (MemoryMount mount = cached("64M")) {
            over(mount).check("/", Data.NODE);
            assertThat(warmBytes).isZero();
            over(mount).run("/", Data.NODE);
            assertThat(last()).isEqualTo(LARGE + SMALL);
            assertThat(lackingBytes).isZero();
            assertThat(figures(mount).pieces()).isEqualTo(3);
            assertThat(figures(mount).pinned()).isZero();
            over(mount).check("/", Data.NODE);
            assertThat(warmBytes).isEqualTo(LARGE + SMALL);

            long before = mount.fileSystem().counts().remoteReadBytes();
            over(mount).run("/", Data.NODE);
            assertThat(last()).isEqualTo(LARGE + SMALL);
            try (OpenFile large = mount.open("/large")) {
                assertThat(large.readAll()).hasSize(LARGE);
            }
            assertThat(mount.fileSystem().counts().remoteReadBytes()).isEqualTo(before);
        }
        assertThat(failed).isZero();
    }

    /** Pieces that were there before make room, those that it brought itself do not. */
    @Test
    void run_toNodeWithTooLittleRoom_keepsWhatItBroughtFirst() throws Exception {
        written("/before", SMALL);
        try (MemoryMount mount = cached("1M")) {
            over(mount).run("/before", Data.NODE);
            mount.unlink("/before");
            for (int i = 0; i < 5; i++) {
                written("/file" + i, SMALL);
            }
            over(mount).run("/", Data.NODE);
            assertThat(last()).isEqualTo(3L * SMALL);
            assertThat(lackingBytes).isEqualTo(2L * SMALL);
            assertThat(figures(mount).evicted()).isEqualTo(1);
            over(mount).check("/", Data.NODE);
            assertThat(warmBytes).isEqualTo(3L * SMALL);
            for (int i = 0; i < 5; i++) {
                mount.read("/file" + i);
            }
            warmBytes = 0;
            over(mount).check("/", Data.NODE);
            assertThat(warmBytes).as("after others were read").isGreaterThanOrEqualTo(2L * SMALL);
        }
        assertThat(failed).isZero();
    }

    @Test
    void run_toNode_endsWithWhoWaitsForIt() throws Exception {
        written("/large", LARGE);
        written("/small", SMALL);
        patience = 2; // the start, and a piece
        try (MemoryMount mount = cached("64M")) {
            over(mount).run("/", Data.NODE);
            assertThat(figures(mount).pieces()).isEqualTo(1);
            assertThat(figures(mount).pinned()).isZero();
        }
    }

    @Test
    void run_toNode_withoutACache_isRefused() {
        try (MemoryMount mount = MemoryMount.of(cluster.connect()).open()) {
            assertThatThrownBy(() -> over(mount).run("/", Data.NODE))
                    .isInstanceOfSatisfying(ServiceException.class, e -> assertThat(e.kind())
                            .isEqualTo(ServiceException.Kind.PRECONDITION))
                    .hasMessageContaining("cache_dir=");
        }
    }

    @Test
    void run_toNode_countsFilesThatAlluxioDoesNotSend() throws Exception {
        written("/large", LARGE);
        written("/small", SMALL);
        try (MemoryMount mount = cached("64M")) {
            over(mount).run("/", Data.NOWHERE);
            cluster.workers().forEach(MemoryWorker::stop);
            over(mount).run("/", Data.NODE);
        }
        assertThat(failed).isEqualTo(2);
        assertThat(whys).hasSize(2).allMatch(why -> why.matches("/(large|small): .+"));
    }

    /** Alluxio does not have it, and it stays the file of its name. */
    @Test
    void run_toNode_ofFileThatIsHereOnly_hasIt() throws Exception {
        try (MemoryMount mount = cached("64M");
                OpenFile file = mount.create("/mine")) {
            file.write(0, new byte[SMALL]);
            over(mount).run("/", Data.NODE);
            assertThat(last()).isEqualTo(SMALL);
            over(mount).check("/", Data.NODE);
            assertThat(warmBytes).isEqualTo(SMALL);
            file.write(SMALL, new byte[1]);
            assertThat(mount.lookup("/mine").id())
                    .isEqualTo(file.opened().node().id());
        }
        assertThat(failed).isZero();
    }
}
