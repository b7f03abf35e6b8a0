package io.posixgateway.alluxio.mounted;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.alluxio.embedded.EmbeddedOptions.UnderStore;
import io.posixgateway.alluxio.embedded.ServerProcess;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.StoppableProxy;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Alluxio's master is lost while it replaces or renames a file in an under file system that replaces nothing by itself: in the middle of
 * it, as the server of that is stopped when it is to work on it. Takes a minute: for the long forms alone.
 */
@EnabledIfSystemProperty(
        named = "pgw.under.store",
        matches = "s3|hdfs",
        disabledReason = "of the long forms: make s3-test, make hdfs-test")
class MasterLossIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final long HELD_MILLIS = 2000;

    private EmbeddedAlluxio alluxio;
    private ServerProcess server;
    private Store other;

    @BeforeEach
    void start() throws Exception {
        UnderStore kind =
                UnderStore.valueOf(System.getProperty("pgw.under.store", "").toUpperCase(Locale.ROOT));
        Clusters.assumeThere(kind);
        alluxio = EmbeddedAlluxio.start(EmbeddedOptions.defaults().on(kind));
        server = Objects.requireNonNull(alluxio.underStoreProcess());
        other = connect(alluxio.masters());
        try (MountedFileSystem mounted = mount()) {
            Files.writeString(mounted.root().resolve("f"), "old");
            Files.writeString(mounted.root().resolve("new"), "new content");
        }
    }

    @AfterEach
    void end() {
        if (alluxio != null) {
            other.close();
            alluxio.close();
        }
    }

    private static Store connect(String masters) throws StoreException {
        return AlluxioMount.connect(
                AlluxioOptions.ofUri("alluxio://" + masters + "/"), SharedAlluxio.options(Map.of()));
    }

    private MountedFileSystem mount() throws Exception {
        return MountedFileSystem.mount(
                AlluxioMount.open(
                        AlluxioOptions.ofUri("alluxio://" + alluxio.masters() + "/"), SharedAlluxio.options(Map.of())),
                TransportChoice.AUTO);
    }

    private static <T> FutureTask<T> started(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(task, "caller");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    private boolean isHeld() throws Exception {
        return isHeld("/f");
    }

    /** Who asks for a path that is being given to a file waits. */
    private boolean isHeld(String path) throws Exception {
        try {
            started(() -> other.status(path)).get(HELD_MILLIS, TimeUnit.MILLISECONDS);
            return false;
        } catch (TimeoutException e) {
            return true;
        } catch (ExecutionException e) {
            return false;
        }
    }

    private String stored(String name) throws IOException {
        byte[] content = alluxio.underStore().get(name);
        return content == null ? "(none)" : new String(content, UTF_8);
    }

    @Test
    void a_replacement_whose_answer_is_lost_is_sent_once() throws Exception {
        long id = other.status("/new").id();
        try (StoppableProxy proxy = new StoppableProxy(alluxio.masters());
                Store client = connect(proxy.address())) {
            client.status("/f");
            server.pause();
            FutureTask<String> renaming = started(() -> {
                client.rename("/new", "/f", true);
                return "done";
            });
            Waiting.until("the master works on it", LIMIT, this::isHeld);
            proxy.loseAnswers();
            server.resume();
            assertThatThrownBy(() -> renaming.get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOfSatisfying(
                            StoreException.class,
                            e -> assertThat(e.isUnanswered()).as(e.getMessage()).isTrue());
            proxy.go();
            assertThat(other.pathOf(id)).isEqualTo("/f");
            assertThat(stored("f")).isEqualTo("new content");
            assertThat(stored("new")).isEqualTo("(none)");
        } finally {
            server.resume();
        }
    }

    @Test
    void a_replacement_whose_master_is_killed_leaves_the_old_content_or_the_new() throws Exception {
        assumeTrue(alluxio.hdfs() == null, "HDFS, stopped, keeps the mount from its request: it first looks there");
        try (MountedFileSystem mounted = mount()) {
            Path file = mounted.root().resolve("f");
            Path saved = mounted.root().resolve("new");
            server.pause();
            FutureTask<Path> renaming = started(() -> Files.move(saved, file, StandardCopyOption.ATOMIC_MOVE));
            Waiting.until("the master works on it", LIMIT, this::isHeld);
            alluxio.master().kill();
            server.resume();
            alluxio.master().start();
            alluxio.awaitReady();
            boolean done = isDone(renaming);
            Waiting.until("the file has a content", LIMIT, () -> !stored("f").equals("(none)"));
            String content = stored("f");
            assertThat(content).isIn(done ? new String[] {"new content"} : new String[] {"new content", "old"});
            Waiting.until(
                    "this mount shows it", LIMIT, () -> Files.readString(file).equals(content));
            assertThat(other.compared("/f").lengthBytes()).isEqualTo(content.length());
            if (content.equals("old")) {
                assertThat(saved).hasContent("new content");
            } else {
                assertThat(stored("new")).isEqualTo("(none)");
            }
        } finally {
            server.resume();
        }
    }

    @Test
    void a_rename_to_a_free_name_whose_master_is_killed_leaves_one_name() throws Exception {
        try (MountedFileSystem mounted = mount()) {
            Path saved = mounted.root().resolve("new");
            Path free = mounted.root().resolve("free");
            Files.setPosixFilePermissions(saved, PosixFilePermissions.fromString("rw-r-----"));
            server.pause();
            FutureTask<Path> renaming = started(() -> Files.move(saved, free, StandardCopyOption.ATOMIC_MOVE));
            Waiting.until("the master works on it", LIMIT, () -> isHeld("/free"));
            alluxio.master().kill();
            server.resume();
            alluxio.master().start();
            alluxio.awaitReady();
            boolean done = isDone(renaming);
            Waiting.until(
                    "the file has one name, everywhere",
                    LIMIT,
                    () -> names(mounted.root()).equals(storedNames())
                            && storedNames().size() == 2);
            Path now = Files.exists(free) ? free : saved;
            assertThat(now).isEqualTo(done ? free : now).hasContent("new content");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(now)))
                    .isEqualTo("rw-r-----");
            assertThat(other.list("/", "", 10).entries())
                    .extracting(FileStatus::name)
                    .containsExactlyElementsOf(storedNames());
        } finally {
            server.resume();
        }
    }

    private List<String> storedNames() throws IOException {
        return alluxio.underStore().names("");
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static boolean isDone(FutureTask<Path> renaming) throws Exception {
        try {
            renaming.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            return true;
        } catch (ExecutionException e) {
            System.out.println("the rename failed: " + e.getCause());
            return false;
        }
    }
}
