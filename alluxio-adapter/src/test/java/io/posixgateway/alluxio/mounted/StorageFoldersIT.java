package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.nio.file.ExtendedOpenOption;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.StoredBlocks;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A worker that keeps its blocks in two folders, as on two disks: files of both are read as block files. */
class StorageFoldersIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int FILES = 20;
    private static final int BYTES = 64 << 10;
    private static final int PAGE_BYTES = 4096;

    @TempDir
    private static Path folder = Path.of("");

    private static TestDirectory own;

    @BeforeAll
    static void start() throws Exception {
        own = Clusters.directory(Clusters.twoWorkers());
    }

    /** Of the worker on this host. */
    private static List<Path> stores() {
        Path worker = own.alluxio().ufs().resolveSibling("blocks").resolve("worker1");
        return List.of(worker.resolve("disk0"), worker.resolve("disk1"));
    }

    private static AlluxioFileSystem open() throws Exception {
        Map<String, String> options =
                Map.of("passthrough", "off", "spool", folder.resolve("spool").toString());
        return AlluxioMount.open(
                AlluxioOptions.ofUri(own.uri()), AdapterOptions.of(AdapterOptions.TABLE.read(options)));
    }

    @Test
    void filesOfEachFolderOfAWorkerAreReadAsBlockFiles() throws Exception {
        List<Integer> files;
        try (MountedFileSystem mounted = MountedFileSystem.mount(open(), TransportChoice.AUTO)) {
            files = writeHere(mounted.root());
            for (Path store : stores()) {
                assertThat(heldBy(mounted.root(), store, files))
                        .as("files in " + store)
                        .isBetween(1, FILES - 1);
            }
        }
        AlluxioFileSystem fs = open();
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            Waiting.until("nothing is streamed any more", PATIENCE, () -> {
                long streamed = fs.counts().remoteReadBytes();
                long local = fs.counts().localReadBytes();
                readAll(mounted.root(), files);
                assertThat(fs.counts().remoteReadBytes()
                                - streamed
                                + fs.counts().localReadBytes()
                                - local)
                        .as("each byte is read from a worker")
                        .isEqualTo((long) FILES * BYTES);
                return fs.counts().remoteReadBytes() == streamed;
            });
            assertThat(files.stream().map(i -> way(fs, i))).containsOnly("local");
        }
    }

    /** Files of which the worker on this host gets a block; the other one may get some, too. */
    private static List<Integer> writeHere(Path root) throws Exception {
        List<Integer> here = new ArrayList<>();
        int[] next = {0};
        Waiting.until("the worker here has enough of them", PATIENCE, () -> {
            int number = next[0]++;
            Path file = Files.write(root.resolve("f" + number), content(number));
            if (StoredBlocks.of(own.alluxio(), 1).hold(file)) {
                here.add(number);
            }
            return here.size() == FILES;
        });
        return here;
    }

    /** How the next open would read it, as posix-gateway info tells. */
    private static String way(AlluxioFileSystem fs, int number) {
        try {
            return fs.inspect("/f" + number).way().name();
        } catch (StoreException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int heldBy(Path root, Path store, List<Integer> files) throws IOException {
        StoredBlocks blocks = StoredBlocks.below(store);
        int held = 0;
        for (int i : files) {
            held += blocks.hold(root.resolve("f" + i)) ? 1 : 0;
        }
        return held;
    }

    /** Each is opened anew, and read past the kernel's page cache. */
    private static void readAll(Path root, List<Integer> files) throws IOException {
        for (int i : files) {
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
