package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.mounted.LogLines;
import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.conformance.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A mount ends while servers of Alluxio hang, or take long. */
class ShutdownTest {
    private static final int FILES = 20;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
    private final CountDownLatch never = new CountDownLatch(1);
    private final Path folder;

    ShutdownTest(@TempDir Path folder) {
        this.folder = folder.resolve("spool");
    }

    private static String content(int number) {
        return "content of file " + number;
    }

    /** Files that are open and changed, and one that was deleted while it is open. */
    private MemoryMount written() {
        MemoryMount mount = MemoryMount.of(cluster.connect()).in(folder).open();
        mount.write("/deleted", "deleted");
        List<OpenFile> open = new ArrayList<>(List.of(mount.open("/deleted")));
        mount.unlink("/deleted");
        for (int i = 0; i < FILES; i++) {
            open.add(mount.create("/file" + i).write(content(i)));
        }
        assertThat(open).hasSize(FILES + 1);
        return mount;
    }

    private void hang() {
        try {
            never.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void end(MemoryMount mount) throws Exception {
        AsyncCall closing = AsyncCall.start(mount::close);
        Eventually.holds("it ends", () -> {
            cluster.clock().advance(Duration.ofSeconds(5));
            return closing.isDone();
        });
        closing.await();
    }

    private List<String> kept() throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).map(ShutdownTest::text).toList();
        }
    }

    private static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), java.nio.charset.StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As one that is stopped does: connections stay, and no answer comes. */
    @Test
    @Timeout(60)
    void close_besideServersThatHang_ends_andKeepsWhatWasWritten() throws Exception {
        MemoryMount mount = written();
        for (StoreCall call : StoreCall.values()) {
            mount.faults().on(call).always().before(this::hang);
        }
        try (LogLines log = new LogLines()) {
            end(mount);
            assertThat(log.anyWith("The mount ends: 0 of " + FILES + " changed files are uploaded after 1"))
                    .isTrue();
            assertThat(log.with("could not be uploaded at the end"))
                    .hasSize(FILES)
                    .allSatisfy(line -> assertThat(line)
                            .contains("Its content stays in " + folder, "copy that file to its path, and delete it")
                            .containsPattern("\\(1[78] bytes\\)"));
        }
        for (int i = 0; i < FILES; i++) {
            assertThat(kept()).contains(content(i));
        }
        assertThat(cluster.ufs().list("/")).doesNotContain("file0");
    }

    /** The next mount of the volume would find its folder in use, and clients would stay connected. */
    @Test
    @Timeout(60)
    void close_afterPartOfItFailedUnexpectedly_doesTheRest() throws Exception {
        MemoryMount mount = MemoryMount.of(cluster.connect()).openPersistent(folder, null);
        mount.write("/deleted", "deleted");
        mount.open("/deleted");
        mount.unlink("/deleted");
        mount.faults().on(StoreCall.DELETE).always().before(() -> {
            throw new IllegalStateException("nobody expects this");
        });
        mount.close();
        assertThat(cluster.ufs().list("/")).hasSize(1);
        try (MemoryMount next = MemoryMount.of(cluster.connect()).openPersistent(folder, null)) {
            Eventually.holds("it is removed", () -> cluster.ufs().list("/").isEmpty());
            assertThat(next.list("/")).isEmpty();
        }
    }

    /** All of it together takes longer than a silence may. */
    @ParameterizedTest
    @EnumSource(
            value = StoreCall.class,
            names = {"WRITE", "COMPLETE"})
    @Timeout(60)
    void close_besideServersThatTakeLong_commitsAll(StoreCall slow) throws Exception {
        MemoryMount mount = written();
        Duration delay = slow == StoreCall.COMPLETE ? Duration.ofMinutes(4) : Duration.ofSeconds(50);
        mount.faults().on(slow).always().delay(delay);
        mount.close();
        for (int i = 0; i < FILES; i++) {
            assertThat(cluster.ufs().read("/file" + i)).asString().isEqualTo(content(i));
        }
        assertThat(cluster.ufs().list("/")).hasSize(FILES);
    }

    /** Where its folder were not let go of, the volume could not be mounted again before this process has ended. */
    @Test
    @Timeout(60)
    void close_ofWhichAPartFailsUnexpectedly_endsTheOthers() throws Exception {
        MemoryMount mount = MemoryMount.of(cluster.connect()).openPersistent(folder, null);
        mount.write("/deleted", "deleted");
        List<OpenFile> open =
                List.of(mount.open("/deleted"), mount.create("/file").write("content"));
        mount.unlink("/deleted");
        mount.faults().on(StoreCall.DELETE).always().before(() -> {
            throw new IllegalStateException("nobody expects this");
        });
        end(mount);
        assertThat(open).hasSize(2);
        assertThat(cluster.ufs().read("/file")).asString().isEqualTo("content");
        MemoryMount.of(cluster.connect()).openPersistent(folder, null).close();
    }
}
