package io.posixgateway.alluxio.mounted;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.alluxio.embedded.EmbeddedOptions.UnderStore;
import io.posixgateway.alluxio.embedded.ServerProcess;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.StoppableProxy;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A gateway with {@code replace=in-place} is killed while it writes over an object of a real S3 server, and the next one of the node goes on.
 * Of the long form: minutes.
 */
@EnabledIfSystemProperty(named = "pgw.under.store", matches = "s3", disabledReason = "of the long form: make s3-test")
class S3KilledOverwriteIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    /** Within this others have the file, whole. */
    private static final Duration FINISHED = Duration.ofSeconds(60);

    private static final byte[] OLD = "old".getBytes(UTF_8);
    private static final byte[] NEW = "new content".getBytes(UTF_8);
    /** A worker gets it in many pieces, and uploads it in several parts. */
    private static final byte[] LARGE = new byte[48 << 20];

    private static final int MODE = 0640;
    /** As {@link OnUnderStore#note} stores it. */
    private static final String NOTE = "user.user.note";

    private static final int MAX_PIECES = 60;

    private static Path uploads;
    private static EmbeddedAlluxio alluxio;

    @TempDir
    private Path folder = Path.of("");

    private StoppableProxy proxy;
    private Node node;
    private Path mount;
    private Store other;

    @BeforeAll
    static void start(@TempDir Path disk) throws Exception {
        Clusters.assumeS3();
        Built.keeper();
        assumeTrue(Built.isRoot(), "only root can run a keeper that mounts");
        Arrays.fill(LARGE, (byte) 'n');
        uploads = Files.createDirectory(disk.resolve("uploads"));
        alluxio = EmbeddedAlluxio.start(EmbeddedOptions.defaults()
                .on(UnderStore.S3)
                .withProperties(Map.of("alluxio.tmp.dirs", uploads.toString())));
    }

    @AfterAll
    static void end() {
        if (alluxio != null) {
            alluxio.close();
        }
    }

    @BeforeEach
    void serve() throws Exception {
        proxy = new StoppableProxy(alluxio.masters());
        other = AlluxioMount.connect(
                AlluxioOptions.ofUri("alluxio://" + alluxio.masters() + "/"), SharedAlluxio.options(Map.of()));
        node = new Node(folder);
        node.awaitReady();
        mount = node.mount("one");
        node.control()
                .attach(Node.request("one", proxy.address(), "/").toBuilder()
                        .putOptions("replace", "in-place")
                        .build());
    }

    @AfterEach
    void unmount() throws Exception {
        if (node != null) {
            node.close();
            other.close();
            proxy.close();
        }
    }

    private ServerProcess server() {
        return Objects.requireNonNull(alluxio.underStoreProcess());
    }

    private Path old(String name) throws IOException {
        Path file = Files.write(mount.resolve(name), OLD);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        OnUnderStore.note(file, "stays");
        return file;
    }

    /** Replaces the content; this runs before it is closed, and so uploaded. */
    private static FutureTask<Boolean> replacing(Path file, byte[] content, Runnable beforeClose) {
        FutureTask<Boolean> task = new FutureTask<>(() -> {
            try (OutputStream to = Files.newOutputStream(file)) {
                to.write(content);
                beforeClose.run();
                return true;
            }
        });
        Thread thread = new Thread(task, "writer");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    private static boolean isAcknowledged(FutureTask<Boolean> writing) throws Exception {
        try {
            return writing.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(IOException.class);
            return false;
        }
    }

    /** Others have one of these contents, with its attributes, and nothing else. */
    private boolean isWhole(String name, byte[]... contents) throws Exception {
        byte[] object = alluxio.underStore().get(name);
        if (object == null || Stream.of(contents).noneMatch(content -> Arrays.equals(content, object))) {
            return false;
        }
        try {
            FileStatus synced = other.compared("/" + name);
            return synced.complete()
                    && synced.lengthBytes() == object.length
                    && synced.mode() == MODE
                    && synced.xattrs().containsKey(NOTE);
        } catch (StoreException e) {
            return false;
        }
    }

    private void awaitWhole(String name, boolean acknowledged, byte[] content) throws Exception {
        Waiting.until(
                name + " is whole",
                FINISHED,
                () -> acknowledged ? isWhole(name, content) : isWhole(name, OLD, content));
        Path file = mount.resolve(name);
        assertThat(Files.readAllBytes(file)).isEqualTo(alluxio.underStore().get(name));
        assertThat(OnUnderStore.noteOf(file)).isEqualTo("stays");
        List<String> hidden = alluxio.underStore().names("").stream()
                .filter(each -> each.startsWith(".pgw~"))
                .toList();
        assertThat(hidden).as("left over").isEmpty();
    }

    @Test
    void a_file_is_whole_wherever_between_two_messages_its_gateway_is_killed() throws Exception {
        int pieces = 0;
        while (isKilledAfter(pieces)) {
            pieces++;
            assertThat(pieces).isLessThan(MAX_PIECES);
        }
        System.out.println("messages between gateway and master in a replacement: " + pieces);
        assertThat(pieces).isGreaterThan(6);
    }

    /** False: it was done before. */
    private boolean isKilledAfter(int pieces) throws Exception {
        String name = "f" + pieces;
        Path file = old(name);
        FutureTask<Boolean> writing = replacing(file, NEW, () -> proxy.stopAfter(pieces));
        Waiting.until("it is done, or cut off", LIMIT, () -> proxy.isStopped() || writing.isDone());
        if (writing.isDone()) {
            proxy.go();
            return false;
        }
        killAndServeAgain(() -> proxy.go());
        awaitWhole(name, isAcknowledged(writing), NEW);
        node.prepareNextGateway();
        return true;
    }

    private void killAndServeAgain(Runnable meanwhile) throws Exception {
        node.gateway().kill();
        meanwhile.run();
        node.startNextGateway();
        node.awaitReady();
    }

    private static boolean isUploading(long bytes) throws IOException {
        try (Stream<Path> files = Files.walk(uploads)) {
            return files.anyMatch(
                    file -> file.toFile().isFile() && file.toFile().length() >= bytes);
        }
    }

    /** A worker has some of it, uploads that, and deletes the object then. */
    @Test
    void a_file_is_whole_when_its_gateway_is_killed_while_it_sends_it() throws Exception {
        Path file = old("sent");
        FutureTask<Boolean> writing = replacing(file, LARGE, () -> {});
        Waiting.until("a worker has a part of it", LIMIT, () -> isUploading(1) || writing.isDone());
        killAndServeAgain(() -> {});
        awaitWhole("sent", isAcknowledged(writing), LARGE);
    }

    /** The store is slow: what the worker does with what it had comes late. */
    @Test
    void a_file_is_whole_when_its_gateway_is_killed_while_the_store_stops() throws Exception {
        Path file = old("stopped");
        Process pause = server().pauseFor(Duration.ofSeconds(15));
        FutureTask<Boolean> writing = replacing(file, LARGE, () -> {});
        Waiting.until("a worker has a part of it", LIMIT, () -> isUploading(1) || writing.isDone());
        killAndServeAgain(() -> {});
        assertThat(pause.waitFor()).isZero();
        awaitWhole("stopped", isAcknowledged(writing), LARGE);
        Waiting.until("no worker uploads", LIMIT, () -> !isUploading(1));
        awaitWhole("stopped", true, LARGE);
    }
}
