package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.StoppableProxy;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.FileSystem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Names that seem to be taken on the real Alluxio, and are not, can be taken. All else is in {@code NameTakingTest}. */
class TakenNamesIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Map<String, String> TRUSTING = Map.of("metadata_ttl", "1h", "negative_ttl", "1h");

    private String folder = "";

    @BeforeEach
    void makeFolder() throws Exception {
        folder = SharedAlluxio.folder();
    }

    private static Store store() throws StoreException {
        return AlluxioMount.connect(SharedAlluxio.at("/"), SharedAlluxio.options(Map.of()));
    }

    private static MountedFileSystem mount(FileSystem files) throws IOException {
        return MountedFileSystem.mount(files, TransportChoice.DEVFUSE);
    }

    /** As when a directory's names are loaded while they change: Alluxio believes in a file that its store has no more. */
    @Test
    void aNameThatOnlyAlluxioBelievesInIsFree() throws Exception {
        try (MountedFileSystem mounted = mount(SharedAlluxio.open(folder, TRUSTING));
                Store store = store()) {
            Path root = mounted.root();
            Files.writeString(root.resolve("source"), "source");
            for (String name : new String[] {"made", "moved", "folder"}) {
                assertThat(root.resolve(name)).doesNotExist();
                bringBack(store, name);
            }
            Files.writeString(root.resolve("made"), "made", StandardOpenOption.CREATE_NEW);
            Files.move(root.resolve("source"), root.resolve("moved"));
            Files.createDirectory(root.resolve("folder"));
            assertThat(SharedAlluxio.ufs(folder).resolve("made")).hasContent("made");
            assertThat(SharedAlluxio.ufs(folder).resolve("moved")).hasContent("source");
            assertThat(SharedAlluxio.ufs(folder).resolve("folder")).isDirectory();
        }
    }

    /** Alluxio believes in a file that the under file system does not have. */
    private void bringBack(Store store, String name) throws Exception {
        store.create(folder + "/" + name, 0600, Map.of(), UUID.randomUUID()).complete();
        Files.delete(SharedAlluxio.ufs(folder).resolve(name));
        assertThat(store.status(folder + "/" + name).complete()).isTrue();
    }

    /** A mount whose way to the master can lose answers. */
    private MountedFileSystem mount(StoppableProxy proxy) throws Exception {
        AlluxioOptions place = AlluxioOptions.ofUri("alluxio://" + proxy.address() + folder);
        return mount(AlluxioMount.open(place, SharedAlluxio.options(TRUSTING)));
    }

    @Test
    void aCreationWhoseAnswerIsLostIsMadeOnce() throws Exception {
        try (StoppableProxy proxy = new StoppableProxy(SharedAlluxio.running().masters());
                MountedFileSystem mounted = mount(proxy);
                Store store = store()) {
            int tries = 0;
            while (!isMadeOnce(proxy, mounted, store, "once" + tries)) {
                assertThat(++tries).as("no creation reached Alluxio").isLessThan(10);
            }
        }
    }

    /** False: the answer that was lost first, and the connection with it, was that of another call; no creation came to Alluxio. */
    private boolean isMadeOnce(StoppableProxy proxy, MountedFileSystem mounted, Store store, String name)
            throws Exception {
        Path file = mounted.root().resolve(name);
        assertThat(file).doesNotExist();
        proxy.loseAnswers();
        CompletableFuture<Path> made = CompletableFuture.supplyAsync(() -> written(file));
        Waiting.until("it came, or failed", LIMIT, () -> made.isDone() || isThere(store, folder + "/" + name));
        boolean came = isThere(store, folder + "/" + name);
        proxy.go();
        if (came) {
            assertThat(made.get()).hasContent("written");
            assertThat(SharedAlluxio.ufs(folder).resolve(name)).hasContent("written");
        }
        return came;
    }

    private static Path written(Path file) {
        try {
            return Files.writeString(file, "written", StandardOpenOption.CREATE_NEW);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static boolean isThere(Store store, String path) {
        try {
            return !store.status(path).complete();
        } catch (StoreException e) {
            return false;
        }
    }
}
