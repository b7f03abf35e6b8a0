package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.AlluxioMount;
import io.posixgateway.alluxio.AlluxioOptions;
import io.posixgateway.alluxio.client.FileSink;
import io.posixgateway.alluxio.client.ShortTimeouts;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.harness.StoppableProxy;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.FileSystem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Names that seem to be taken, and are not, can be taken; those of others cannot. */
class TakenNamesIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Map<String, String> TRUSTING = Map.of("metadata_ttl", "1h");
    private static final Map<String, String> FORGETFUL = Map.of("metadata_ttl", "0s");

    /** Says the errno. */
    private static final String RENAME_NOREPLACE = """
            import ctypes, errno, os, sys
            libc = ctypes.CDLL(None, use_errno=True)
            old, new = (os.fsencode(path) for path in sys.argv[1:])
            answer = libc.renameat2(-100, old, -100, new, 1)
            print(errno.errorcode[ctypes.get_errno()] if answer else "done")
            """;

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

    @Test
    void aNameThatThisMountTookDoesNotComeBackInAlluxioAlone() throws Exception {
        try (MountedFileSystem mounted = mount(SharedAlluxio.open(folder, FORGETFUL));
                Store store = store()) {
            Path root = mounted.root();
            for (String name : new String[] {"deleted", "moved", "listed", "others"}) {
                Files.writeString(root.resolve(name), name);
            }
            for (String name : new String[] {"deleted", "listed", "others"}) {
                Files.delete(root.resolve(name));
            }
            Files.move(root.resolve("moved"), root.resolve("here"));
            for (String name : new String[] {"deleted", "moved", "listed"}) {
                bringBack(store, name);
            }
            store.create(folder + "/others", 0600, Map.of(), UUID.randomUUID()).complete();
            assertThat(root.resolve("deleted")).doesNotExist();
            Files.writeString(root.resolve("deleted"), "again", StandardOpenOption.CREATE_NEW);
            assertThat(root.resolve("moved")).doesNotExist();
            Files.move(root.resolve("here"), root.resolve("moved"));
            assertThat(root.resolve("moved")).hasContent("moved");
            assertThat(root.toFile().list()).containsExactlyInAnyOrder("deleted", "moved", "others");
            assertThat(root.resolve("others")).isEmptyFile();
        }
    }

    /** Alluxio believes in a file that the under file system does not have. */
    private void bringBack(Store store, String name) throws Exception {
        store.create(folder + "/" + name, 0600, Map.of(), UUID.randomUUID()).complete();
        Files.delete(SharedAlluxio.ufs(folder).resolve(name));
        assertThat(store.status(folder + "/" + name).complete()).isTrue();
    }

    @Test
    void aFileThatAnotherMadeMeanwhileStays() throws Exception {
        try (MountedFileSystem mounted = mount(SharedAlluxio.open(folder, TRUSTING));
                Store store = store()) {
            Path root = mounted.root();
            Files.writeString(root.resolve("source"), "source");
            assertThat(root.resolve("whole")).doesNotExist();
            assertThat(root.resolve("begun")).doesNotExist();
            FileSink whole = store.create(folder + "/whole", 0600, Map.of(), UUID.randomUUID());
            whole.write(new byte[] {'o'}, 0, 1);
            whole.complete();
            FileSink begun = store.create(folder + "/begun", 0600, Map.of(), UUID.randomUUID());
            for (String name : new String[] {"whole", "begun"}) {
                assertThatThrownBy(() -> Files.createFile(root.resolve(name)))
                        .isInstanceOf(FileAlreadyExistsException.class);
            }
            begun.write(new byte[] {'b'}, 0, 1);
            begun.complete();
            assertThat(SharedAlluxio.ufs(folder).resolve("whole")).hasContent("o");
            assertThat(SharedAlluxio.ufs(folder).resolve("begun")).hasContent("b");
        }
    }

    /** As rename(2) has it: the name's being believed missing here does not make it one that must be free. */
    @Test
    void aFileThatOthersMadeSinceItsNameWasMissedIsReplacedByARename() throws Exception {
        try (MountedFileSystem mounted = mount(SharedAlluxio.open(folder, TRUSTING));
                Store store = store()) {
            Path source = Files.writeString(mounted.root().resolve("source"), "source");
            Path target = mounted.root().resolve("target");
            assertThat(target).doesNotExist();
            makeByOthers(store, "target");
            Files.move(source, target, StandardCopyOption.ATOMIC_MOVE);
            assertThat(target).hasContent("source");
            assertThat(mounted.root().toFile().list()).containsExactly("target");
            assertThat(SharedAlluxio.ufs(folder).resolve("target")).hasContent("source");
            assertThat(SharedAlluxio.ufs(folder).resolve("source")).doesNotExist();
        }
    }

    @Test
    void aFileThatOthersMadeSinceItsNameWasMissedStaysWhereTheRenameMayNotReplace() throws Exception {
        try (MountedFileSystem mounted = mount(SharedAlluxio.open(folder, TRUSTING));
                Store store = store()) {
            Path source = Files.writeString(mounted.root().resolve("source"), "source");
            Path target = mounted.root().resolve("target");
            assertThat(target).doesNotExist();
            makeByOthers(store, "target");
            assertThat(Command.run(60, "python3", "-c", RENAME_NOREPLACE, source.toString(), target.toString()))
                    .isEqualTo("EEXIST\n");
            assertThat(source).hasContent("source");
            assertThat(SharedAlluxio.ufs(folder).resolve("target")).hasContent("others");
        }
    }

    /** A whole file. */
    private void makeByOthers(Store store, String name) throws StoreException {
        byte[] content = "others".getBytes(StandardCharsets.UTF_8);
        FileSink made = store.create(folder + "/" + name, 0600, Map.of(), UUID.randomUUID());
        made.write(content, 0, content.length);
        made.complete();
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
            Path file = mounted.root().resolve("once");
            assertThat(file).doesNotExist();
            proxy.loseAnswers();
            CompletableFuture<Path> made = CompletableFuture.supplyAsync(() -> written(file));
            Waiting.until("Alluxio has the name", LIMIT, () -> isThere(store, folder + "/once"));
            proxy.go();
            assertThat(made.get()).hasContent("written");
            assertThat(SharedAlluxio.ufs(folder).resolve("once")).hasContent("written");
        }
    }

    @Test
    void aNameWhoseCreationFailedCanBeTakenByTheNext() throws Exception {
        ShortTimeouts timeouts = new ShortTimeouts();
        try (timeouts;
                StoppableProxy proxy =
                        new StoppableProxy(SharedAlluxio.running().masters());
                MountedFileSystem mounted = mount(proxy);
                Store store = store()) {
            Path file = mounted.root().resolve("again");
            Path other = mounted.root().resolve("other");
            assertThat(file).doesNotExist();
            assertThat(other).doesNotExist();
            proxy.loseAnswers();
            assertThatThrownBy(() -> Files.createFile(file)).hasMessageContaining("Input/output error");
            assertThat(isThere(store, folder + "/again")).isTrue();
            proxy.go();
            Waiting.until("the master answers", LIMIT, () -> answers(mounted.root()));
            Files.writeString(file, "written", StandardOpenOption.CREATE_NEW);
            assertThat(SharedAlluxio.ufs(folder).resolve("again")).hasContent("written");
        }
    }

    private static boolean answers(Path root) {
        try {
            return Files.notExists(root.resolve("unknown-" + UUID.randomUUID()));
        } catch (RuntimeException e) {
            return false;
        }
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
