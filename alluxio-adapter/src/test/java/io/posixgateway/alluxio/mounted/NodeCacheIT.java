package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.harness.TmpfsFolder;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.nodecache.CacheFigures;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.wire.Opcode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of workers that are read as if they were on other hosts, by way of the data cache. */
class NodeCacheIT {
    /** Two pieces, and blocks of other lengths. */
    private static final int BYTES = (4 << 20) + 700_001;

    private static final int PIECES = 2;
    private static final int SMALL_BYTES = 3_000_001;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir(factory = TmpfsFolder.class)
    private Path above = Path.of("");

    private final byte[] content = new byte[BYTES];
    private final AlluxioMount.Shared process = AlluxioMount.Shared.ofOne(Clock.system());
    private final byte[] changed = new byte[BYTES];
    private String folder;
    private MountedFileSystem writable;

    @BeforeEach
    void writeOneFile() throws Exception {
        new Random(1).nextBytes(content);
        new Random(2).nextBytes(changed);
        folder = SharedAlluxio.folder();
        writable = MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO);
        Files.write(writable.root().resolve("f"), content);
    }

    @AfterEach
    void unmount() throws Exception {
        writable.close();
    }

    private AlluxioFileSystem open(Map<String, String> more) throws StoreException {
        Map<String, String> options = new HashMap<>(more);
        options.put("short_circuit", "off");
        options.put("open_trust", "0");
        options.put("cache_dir", above.resolve("cache").toString());
        return AlluxioMount.open(SharedAlluxio.at(folder), SharedAlluxio.options(options), process);
    }

    private static CacheFigures figures(AlluxioFileSystem fs) {
        return Objects.requireNonNull(fs.details().cache());
    }

    /** Reads the file on a new mount, so that the kernel has no pages of it; returns what came from the worker. */
    private long remoteBytesOf(byte[] expected) throws Exception {
        AlluxioFileSystem fs = open(Map.of());
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            assertThat(mounted.root().resolve("f")).hasBinaryContent(expected);
            return fs.counts().remoteReadBytes();
        }
    }

    private void awaitPieces(AlluxioFileSystem fs, int pieces) throws Exception {
        Waiting.until("the pieces are kept", PATIENCE, () -> figures(fs).pieces() == pieces);
    }

    @Test
    void fileReadOnce_isReadFromTheCache_byLaterMounts_andAChangedOneFromAlluxio() throws Exception {
        AlluxioFileSystem fs = open(Map.of());
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            Path file = mounted.root().resolve("f");
            assertThat(file).hasBinaryContent(content);
            awaitPieces(fs, PIECES);
            assertThat(fs.inspect("/f").way().name()).isEqualTo("cache");
            assertThat(remoteBytesOf(content)).isZero();

            Files.write(writable.root().resolve("f"), changed);
            assertThat(file).hasBinaryContent(changed);
            awaitPieces(fs, 2 * PIECES);
        }
        assertThat(remoteBytesOf(changed)).isZero();
    }

    @Test
    void damagedPiece_isReadFromAlluxio() throws Exception {
        AlluxioFileSystem fs = open(Map.of());
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            assertThat(mounted.root().resolve("f")).hasBinaryContent(content);
            awaitPieces(fs, PIECES);
        }
        try (Stream<Path> files = Files.walk(above.resolve("cache/pieces"))) {
            for (Path piece : files.filter(Files::isRegularFile).toList()) {
                damage(piece);
            }
        }

        assertThat(remoteBytesOf(content)).isEqualTo(BYTES);
    }

    private static void damage(Path piece) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(piece.toFile(), "rw")) {
            file.seek(1000);
            file.write(new byte[1000]);
        }
    }

    @Test
    void changedFile_isNotReadFromTheCache_beforeItIsUploaded() throws Exception {
        AlluxioFileSystem fs = open(Map.of());
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            Path path = mounted.root().resolve("f");
            assertThat(path).hasBinaryContent(content);
            awaitPieces(fs, PIECES);
            byte[] expected = content.clone();
            expected[100] ^= 1;
            try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                file.seek(100);
                file.write(expected[100]);
                byte[] read = new byte[BYTES];
                file.seek(0);
                file.readFully(read);
                assertThat(read).isEqualTo(expected);
            }
            assertThat(path).hasBinaryContent(expected);
        }
    }

    @Test
    void fileOfOnePiece_isReadByTheKernel_onAMountThatIsReadOnly() throws Exception {
        Files.write(writable.root().resolve("g"), Arrays.copyOf(content, SMALL_BYTES));
        AlluxioFileSystem fs = open(Map.of());
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(fs, MountedFileSystem.options(TransportChoice.AUTO, true))) {
            assumeTrue(
                    mounted.session().kernel().features().passthrough(),
                    "no passthrough: " + mounted.session().line());
            Path file = mounted.root().resolve("g");
            assertThat(file).hasBinaryContent(Arrays.copyOf(content, SMALL_BYTES));
            Waiting.until("a later open is passed through", PATIENCE, () -> {
                FileChannel.open(file).close();
                return fs.counts().passthroughOpens() > 0;
            });
            long before = mounted.session().metrics().requests(Opcode.READ);
            try (FileChannel open = FileChannel.open(file)) {
                ByteBuffer mapped = open.map(FileChannel.MapMode.READ_ONLY, 0, SMALL_BYTES);
                assertThat(mapped).isEqualTo(ByteBuffer.wrap(content, 0, SMALL_BYTES));
            }
            assertThat(file).hasBinaryContent(Arrays.copyOf(content, SMALL_BYTES));
            assertThat(mounted.session().metrics().requests(Opcode.READ)).isEqualTo(before);
        }
    }

    @Test
    void folderThatIsRemoved_costsNoRead() throws Exception {
        AlluxioFileSystem fs = open(Map.of("prefetch", "off"));
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            assertThat(mounted.root().resolve("f")).hasBinaryContent(content);
            awaitPieces(fs, PIECES);
            removeCache();
            Files.write(writable.root().resolve("g"), changed);
            assertThat(mounted.root().resolve("g")).hasBinaryContent(changed);
            Waiting.until("the failure is counted", PATIENCE, () -> figures(fs).faults() > 0);
            assertThat(figures(fs).pieces()).isLessThanOrEqualTo(PIECES);
        }
    }

    private void removeCache() throws IOException {
        try (Stream<Path> files = Files.walk(above.resolve("cache"))) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void folderThatIsNotOurs_isRefused_andTheMountSaysWhy() throws Exception {
        Path shown = Files.createDirectory(above.resolve("cache"));
        Files.setPosixFilePermissions(shown, PosixFilePermissions.fromString("rwxrwxrwx"));

        assertThatThrownBy(() -> open(Map.of()))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("data cache")
                .hasMessageContaining("writable by others");
    }
}
