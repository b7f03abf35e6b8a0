package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.nio.file.ExtendedOpenOption;
import io.posixgateway.alluxio.AdapterOptions;
import io.posixgateway.alluxio.AlluxioFileSystem;
import io.posixgateway.alluxio.AlluxioMount;
import io.posixgateway.alluxio.AlluxioOptions;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A worker that keeps its blocks in two folders, as on two disks: files of both are read as block files. */
class StorageFoldersIT {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int FILES = 20;
    private static final int BYTES = 64 << 10;
    private static final int PAGE_BYTES = 4096;
    private static final String QUOTA = "256MB";

    @TempDir
    private static Path folder = Path.of("");

    private static EmbeddedAlluxio alluxio;

    @BeforeAll
    static void start() throws IOException {
        for (Path store : stores()) {
            Files.createDirectories(store);
        }
        String paths = stores().stream().map(Path::toString).collect(Collectors.joining(","));
        alluxio = EmbeddedAlluxio.start(EmbeddedOptions.defaults()
                .withProperties(Map.of(
                        "alluxio.worker.tieredstore.level0.dirs.path",
                        paths,
                        "alluxio.worker.tieredstore.level0.dirs.quota",
                        QUOTA + "," + QUOTA)));
    }

    @AfterAll
    static void stop() {
        if (alluxio != null) {
            alluxio.close();
        }
    }

    private static List<Path> stores() {
        return List.of(folder.resolve("one"), folder.resolve("other"));
    }

    private static AlluxioFileSystem open() throws Exception {
        Map<String, String> options =
                Map.of("passthrough", "off", "spool", folder.resolve("spool").toString());
        return AlluxioMount.open(
                AlluxioOptions.ofUri("alluxio://" + alluxio.masters() + "/"),
                AdapterOptions.of(AdapterOptions.TABLE.read(options)));
    }

    @Test
    void filesOfEachFolderOfAWorkerAreReadAsBlockFiles() throws Exception {
        try (MountedFileSystem mounted = MountedFileSystem.mount(open(), TransportChoice.AUTO)) {
            for (int i = 0; i < FILES; i++) {
                Files.write(mounted.root().resolve("f" + i), content(i));
            }
        }
        for (Path store : stores()) {
            assertThat(blocks(store)).as("blocks in " + store).isBetween(1L, FILES - 1L);
        }
        AlluxioFileSystem fs = open();
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            Waiting.until("nothing is streamed any more", PATIENCE, () -> {
                long streamed = fs.counts().remoteReadBytes();
                long local = fs.counts().localReadBytes();
                readAll(mounted.root());
                assertThat(fs.counts().remoteReadBytes()
                                - streamed
                                + fs.counts().localReadBytes()
                                - local)
                        .as("each byte is read from a worker")
                        .isEqualTo((long) FILES * BYTES);
                return fs.counts().remoteReadBytes() == streamed;
            });
            assertThat(IntStream.range(0, FILES).mapToObj(i -> way(fs, i))).containsOnly("local");
        }
    }

    /** How the next open would read it, as posix-gateway info tells. */
    private static String way(AlluxioFileSystem fs, int number) {
        try {
            return fs.inspect("/f" + number).way().name();
        } catch (StoreException e) {
            throw new IllegalStateException(e);
        }
    }

    private static long blocks(Path store) throws IOException {
        try (Stream<Path> files = Files.walk(store)) {
            return files.filter(Files::isRegularFile).count();
        }
    }

    /** Each is opened anew, and read past the kernel's page cache. */
    private static void readAll(Path root) throws IOException {
        for (int i = 0; i < FILES; i++) {
            ByteBuffer whole = ByteBuffer.allocateDirect(BYTES + PAGE_BYTES)
                    .alignedSlice(PAGE_BYTES)
                    .limit(BYTES);
            try (FileChannel file =
                    FileChannel.open(root.resolve("f" + i), StandardOpenOption.READ, ExtendedOpenOption.DIRECT)) {
                assertThat(file.read(whole)).isEqualTo(BYTES);
            }
            assertThat(whole.flip().equals(ByteBuffer.wrap(content(i))))
                    .as("f%d has its bytes", i)
                    .isTrue();
        }
    }

    private static byte[] content(int number) {
        byte[] content = new byte[BYTES];
        new Random(number).nextBytes(content);
        return content;
    }
}
