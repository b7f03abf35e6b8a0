package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.fs.Background;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.mounted.PlainRequest;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.Stat;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Directories of which many files are asked for are listed, in place of a question for each. */
class ListingPrefetcherTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Request INLINE = new PlainRequest(false);
    private static final int FILES = 40;
    /** More than half of what an open believes. */
    private static final Duration SOON_OLD = Duration.ofMillis(600);
    /** So long a directory must look the same before it counts as unchanged. */
    private static final Duration SETTLED = Duration.ofMillis(2_100);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private MemoryMount mount() {
        return MemoryMount.of(cluster.connect())
                .with("metadata_ttl", "1h")
                .with("open_trust", "1s")
                .with("short_circuit", "off")
                .open();
    }

    private void makeFiles(int files) {
        for (int i = 0; i < files; i++) {
            cluster.ufs().write("/f" + i, ("hello " + i).getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void lookup_ofManyNames_listsTheRestAhead() throws Exception {
        makeFiles(100);
        try (MemoryMount mount = mount()) {
            for (int i = 0; i < ListingPrefetcher.ASKS; i++) {
                mount.lookup("/f" + i);
            }
            Entry entry = new Entry();
            FileSystem files = mount.fileSystem();
            Waiting.until(
                    "the last name is known",
                    LIMIT,
                    () -> files.lookup(INLINE, FileSystem.ROOT, Name.of("f99"), entry) == 0);
            assertThat(entry.attributes.sizeBytes).isEqualTo(7 + 1);
            assertThat(mount.faults().count(StoreCall.LIST)).isEqualTo(1);
        }
    }

    /** What a writer does in the same directory concerns its own names alone. */
    @Test
    void lookup_ofManyNamesBesideWriter_listsTheRestAhead() throws Exception {
        makeFiles(100);
        try (MemoryMount mount = mount()) {
            mount.faults().on(StoreCall.LIST).always().after(() -> {
                mount.create("/made").close();
                mount.unlink("/made");
            });
            for (int i = 0; i < ListingPrefetcher.ASKS; i++) {
                mount.lookup("/f" + i);
            }
            Background.listed(mount.fileSystem());
            mount.faults().forgetCounts();
            for (int i = 0; i < 100; i++) {
                mount.lookup("/f" + i);
            }
            assertThat(mount.faults().counts()).isEmpty();
            assertThat(mount.exists("/made")).isFalse();
        }
    }

    /** What is said of a file is of before this mount changed it; of all others it counts. */
    @Test
    void listing_answeredBeforeChmodOfOneFile_countsForTheOthers() throws Exception {
        makeFiles(FILES);
        try (MemoryMount mount = mount()) {
            FuseNode changed = mount.lookup("/f0");
            FuseNode old = mount.lookup("/f1");
            cluster.clock().advance(Duration.ofSeconds(1));
            mount.faults().on(StoreCall.LIST).after(() -> mount.requests().chmod(changed.id(), 0600));
            for (int i = 2; i < 2 + ListingPrefetcher.ASKS; i++) {
                mount.lookup("/f" + i);
            }
            Background.listed(mount.fileSystem());
            mount.faults().forgetCounts();
            assertThat(mount.requests().getattr(changed.id()).mode() & 0777).isEqualTo(0600);
            open(mount, old);
            assertThat(mount.faults().count(StoreCall.STATUS))
                    .as("the listing validated it")
                    .isZero();
        }
    }

    @Test
    void missingName_ofDirectoryThatIsListedAhead_isFoundAfterASecond() throws Exception {
        makeFiles(100);
        try (MemoryMount mount = mount();
                MemoryMount other = mount()) {
            other.mkdir("/sub");
            assertThat(mount.exists("/sub/late")).isFalse();
            other.create("/sub/late").close();
            cluster.clock().advance(Duration.ofMillis(10));
            for (int i = 0; i < ListingPrefetcher.ASKS; i++) {
                mount.lookup("/f" + i);
            }
            Background.listed(mount.fileSystem());
            assertThat(mount.faults().count(StoreCall.LIST)).isEqualTo(1);
            cluster.clock().advance(Duration.ofSeconds(1));
            assertThat(mount.exists("/sub/late")).isTrue();
        }
    }

    private static void open(MemoryMount mount, FuseNode file) {
        mount.requests().release(mount.requests().open(file, Stat.O_RDONLY));
    }

    /** Opens files until it was called so often in all. */
    private static void openUntil(MemoryMount mount, List<FuseNode> files, StoreCall call, int calls) throws Exception {
        Waiting.until(calls + " times " + call, LIMIT, () -> {
            files.forEach(file -> open(mount, file));
            return mount.faults().count(call) >= calls;
        });
        Background.listed(mount.fileSystem());
    }

    /** Of files that are too old for an open, in a directory that settles. */
    private List<FuseNode> settle(MemoryMount mount) throws Exception {
        List<FuseNode> files = new ArrayList<>();
        for (int i = 0; i < FILES; i++) {
            files.add(mount.lookup("/f" + i));
        }
        Background.listed(mount.fileSystem());
        // As long as it is not known to stand, it is listed for each second; then a listing of it counts for longer.
        for (int i = 0; i < 3; i++) {
            cluster.clock().advance(SETTLED);
            openUntil(mount, files, StoreCall.LIST, mount.faults().count(StoreCall.LIST) + 1);
            if (isUnchangedForOneCall(mount, files)) {
                return files;
            }
        }
        throw new AssertionError("the directory is listed again and again");
    }

    private boolean isUnchangedForOneCall(MemoryMount mount, List<FuseNode> files) throws Exception {
        int lists = mount.faults().count(StoreCall.LIST);
        cluster.clock().advance(SOON_OLD);
        openUntil(mount, files, StoreCall.STATUS, mount.faults().count(StoreCall.STATUS) + 1);
        cluster.clock().advance(SOON_OLD);
        openUntil(mount, files, StoreCall.STATUS, mount.faults().count(StoreCall.STATUS) + 1);
        return mount.faults().count(StoreCall.LIST) == lists;
    }

    /** A call for all opens of a second together, and no listing. */
    @Test
    void open_whileDirectoryStands_costsOneCallForAllFiles() throws Exception {
        makeFiles(FILES);
        try (MemoryMount mount = mount()) {
            List<FuseNode> files = settle(mount);
            mount.faults().forgetCounts();
            for (int i = 1; i <= 10; i++) {
                cluster.clock().advance(SOON_OLD);
                openUntil(mount, files, StoreCall.STATUS, i);
                files.forEach(file -> open(mount, file));
                assertThat(mount.faults().count(StoreCall.STATUS)).isEqualTo(i);
            }
            assertThat(mount.faults().counts()).containsOnlyKeys(StoreCall.STATUS);
        }
    }

    /** What another mount closed is seen when the second is over, though the file itself is believed for an hour. */
    @Test
    void open_afterOtherMountReplacedFile_seesItWhenTrustIsOver() throws Exception {
        makeFiles(FILES);
        try (MemoryMount mount = mount();
                MemoryMount other = mount()) {
            List<FuseNode> files = settle(mount);
            for (int i = 0; i < 3; i++) {
                cluster.clock().advance(SOON_OLD);
                openUntil(mount, files, StoreCall.STATUS, mount.faults().count(StoreCall.STATUS) + 1);
                other.write("/f7", "new " + i);
                cluster.clock().advance(SOON_OLD);
                openUntil(mount, files, StoreCall.STATUS, mount.faults().count(StoreCall.STATUS) + 1);
                cluster.clock().advance(Duration.ofSeconds(1).minus(SOON_OLD));
                assertThat(mount.read("/f7")).isEqualTo("new " + i);
            }
        }
    }

    /** Whether it looked the same for long enough is counted from when an answer came: it may be of that moment. */
    @Test
    void listing_afterOneSlowAnswer_countsNoLonger() throws Exception {
        makeFiles(FILES);
        try (MemoryMount mount = mount();
                MemoryMount other = mount()) {
            List<FuseNode> files = new ArrayList<>();
            for (int i = 0; i < FILES; i++) {
                files.add(mount.lookup("/f" + i));
            }
            Background.listed(mount.fileSystem());
            other.mkdir("/made"); // so the first answer below is another one than before
            mount.faults().on(StoreCall.STATUS).at("/").before(() -> cluster.clock()
                    .advance(SETTLED));
            for (int lists = 2; lists <= 3; lists++) {
                cluster.clock().advance(SOON_OLD);
                files.forEach(file -> open(mount, file));
                Background.listed(mount.fileSystem());
                assertThat(mount.faults().count(StoreCall.LIST)).isEqualTo(lists);
            }
        }
    }
}
