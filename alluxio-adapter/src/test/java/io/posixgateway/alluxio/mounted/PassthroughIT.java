package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.read.BlockFiles;
import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.time.OffsetClock;
import io.posixgateway.fuse.wire.Opcode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Files that the kernel reads by itself from the worker's block, on a mount that is read-only. Another mount changes them: who has
 * such a file open reads its old bytes whatever happens to the file, and who opens it later gets the new ones.
 */
class PassthroughIT {
    private static final int BYTES = 2 << 20;
    private static final int MAX_LOOKS = 3;
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    /** After so long the worker hears of what was read. */
    private static final Duration BETWEEN_REPORTS = Duration.ofSeconds(5);

    private final OffsetClock clock = new OffsetClock();

    private String folder;
    private AlluxioFileSystem fs;
    private MountedFileSystem mounted;
    private MountedFileSystem writable;
    private Path file;
    /** On the mount that changes it. */
    private Path changed;

    @BeforeEach
    void mountWithOneFile() throws Exception {
        folder = SharedAlluxio.folder();
        fs = SharedAlluxio.open(folder, Map.of("open_trust", "0"), clock);
        mounted = MountedFileSystem.mount(fs, MountedFileSystem.options(TransportChoice.AUTO, true));
        writable = MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO);
        assumeTrue(
                mounted.session().kernel().features().passthrough(),
                "no passthrough: " + mounted.session().line());
        file = mounted.root().resolve("file");
        changed = Files.write(writable.root().resolve("file"), filled('a', BYTES));
    }

    @AfterEach
    void unmount() throws Exception {
        mounted.close();
        writable.close();
    }

    private static byte[] filled(char with, int bytes) {
        byte[] content = new byte[bytes];
        Arrays.fill(content, (byte) with);
        return content;
    }

    /** Opens the file, and makes sure that the kernel reads it by itself. */
    private FileChannel passedThrough() throws Exception {
        long before = fs.counts().passthroughOpens();
        FileChannel[] found = new FileChannel[1];
        // The writer's descriptor counts until its RELEASE has come, which nobody waits for.
        Waiting.until("the file is passed through; " + mounted.session().line(), PATIENCE, () -> {
            FileChannel open = FileChannel.open(file);
            if (fs.counts().passthroughOpens() > before) {
                found[0] = open;
                return true;
            }
            open.close();
            return false;
        });
        return found[0];
    }

    private static void holds(FileChannel open, char with) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(BYTES);
        while (content.hasRemaining() && open.read(content, content.position()) > 0) {
            // Until it is full, or the file ends.
        }
        assertThat(content.hasRemaining()).isFalse();
        assertThat(content.array()).isEqualTo(filled(with, BYTES));
    }

    private void holdsNow(char with) throws IOException {
        assertThat(readLookingAgain()).isEqualTo(filled(with, BYTES));
    }

    @Test
    void noReadOfABlockThatIsHereReachesUs() throws Exception {
        long before = mounted.session().metrics().requests(Opcode.READ);
        assertThat(fs.inspect("/" + file.getFileName()).way().name()).isEqualTo("passthrough");
        try (FileChannel one = passedThrough();
                FileChannel other = passedThrough()) {
            holds(one, 'a');
            holds(other, 'a');
            ByteBuffer mapped = one.map(FileChannel.MapMode.READ_ONLY, 0, BYTES);
            assertThat(mapped.get(BYTES - 1)).isEqualTo((byte) 'a');
        }
        assertThat(mounted.session().metrics().requests(Opcode.READ)).isEqualTo(before);
        assertThat(fs.counts().localReadBytes() + fs.counts().remoteReadBytes()).isZero();
    }

    /** Else the block would look unused for as long as somebody has the file open. */
    @Test
    void theWorkerHearsOfEveryOpen() throws Exception {
        try (FileChannel one = passedThrough()) {
            holds(one, 'a');
            long first = reported("the first open", 0);
            try (FileChannel other = passedThrough()) {
                holds(other, 'a');
                reported("the second open", first);
            }
        }
    }

    /** So many reads the worker has heard of as soon as it has heard of more than before. */
    private long reported(String what, long before) throws Exception {
        BlockFiles blocks = fs.details().blocks();
        Waiting.until("the worker hears of " + what, PATIENCE, () -> {
            clock.advance(BETWEEN_REPORTS);
            return blocks.told() > before;
        });
        return blocks.told();
    }

    @Test
    void whatIsCutOverwrittenReplacedAndRemovedElsewhereIsReadToItsEnd() throws Exception {
        try (FileChannel first = passedThrough()) {
            Files.write(changed, filled('b', BYTES));
            try (FileChannel second = passedThrough()) {
                Files.move(
                        Files.write(writable.root().resolve("new"), filled('c', BYTES)),
                        changed,
                        StandardCopyOption.ATOMIC_MOVE);
                try (FileChannel third = passedThrough()) {
                    Command.run(60, "truncate", "-s", "100", changed.toString());
                    assertThat(file).hasBinaryContent(filled('c', 100));
                    Files.delete(changed);
                    holds(first, 'a');
                    holds(second, 'b');
                    holds(third, 'c');
                }
            }
        }
    }

    /** By a mount through which files may change, no file is passed through. */
    @Test
    void whoHasAFileOpenSeesWhatIsWrittenOnTheSameMount() throws Exception {
        try (FileChannel reader = FileChannel.open(changed)) {
            holds(reader, 'a');
            try (FileChannel writer = FileChannel.open(changed, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                writer.write(ByteBuffer.wrap(filled('b', BYTES)), 0);
                holds(reader, 'b');
                writer.write(ByteBuffer.wrap(filled('c', BYTES)), 0);
            }
            holds(reader, 'c');
            Files.write(changed, filled('d', 100), StandardOpenOption.APPEND);
            assertThat(reader.size()).isEqualTo(BYTES + 100);
            Command.run(60, "truncate", "-s", "100", changed.toString());
            assertThat(reader.size()).isEqualTo(100);
            Files.write(changed, filled('e', BYTES));
            holds(reader, 'e');
            Files.delete(changed);
            holds(reader, 'e');
        }
        assertThat(writable.root()).isEmptyDirectory();
    }

    @Test
    void anEvictedBlockIsReadToItsEnd() throws Exception {
        try (FileChannel open = passedThrough()) {
            for (Path folder : blockFolders()) {
                try (DirectoryStream<Path> blocks = Files.newDirectoryStream(folder, PassthroughIT::isOurBlock)) {
                    for (Path block : blocks) {
                        Files.delete(block);
                    }
                }
            }
            holds(open, 'a');
        }
    }

    private static List<Path> blockFolders() throws IOException {
        List<Path> found = new ArrayList<>();
        Path blocks = SharedAlluxio.running().ufs().resolveSibling("blocks");
        try (DirectoryStream<Path> workers = Files.newDirectoryStream(blocks)) {
            workers.forEach(worker -> found.add(worker.resolve("alluxioworker")));
        }
        return found;
    }

    private static boolean isOurBlock(Path file) {
        try {
            return Files.size(file) == BYTES && Arrays.equals(Files.readAllBytes(file), filled('a', BYTES));
        } catch (IOException e) {
            return false;
        }
    }

    /** Readers that come and go while the file is replaced and opened for writing: no open fails, nothing is mixed. */
    @Test
    void manyReadersWhileTheFileChanges() throws Exception {
        SteadyReader[] readers = new SteadyReader[4];
        for (int i = 0; i < readers.length; i++) {
            readers[i] = new SteadyReader("reader-" + i, () -> {
                byte[] content = readLookingAgain();
                assertThat(content).isEqualTo(filled((char) content[0], BYTES));
            });
        }
        for (int round = 0; round < 15; round++) {
            char with = (char) ('b' + round);
            Files.move(
                    Files.write(writable.root().resolve("new"), filled(with, BYTES)),
                    changed,
                    StandardCopyOption.ATOMIC_MOVE);
            holdsNow(with);
            try (FileChannel writer = FileChannel.open(changed, StandardOpenOption.WRITE)) {
                writer.write(ByteBuffer.wrap(new byte[] {(byte) with}), 5);
            }
            holdsNow(with);
        }
        for (SteadyReader reader : readers) {
            reader.endHonestly(PATIENCE);
            assertThat(reader.failed()).isZero();
            assertThat(reader.good()).isPositive();
        }
        assertThat(fs.counts().passthroughOpens()).isPositive();
    }

    private byte[] readLookingAgain() throws IOException {
        return lookingAgain(() -> Files.readAllBytes(file));
    }

    private interface Look<T> {
        T look() throws IOException;
    }

    /** Where the name went to another file at both looks of the kernel, as docs/semantics.md has it: another look. */
    private static <T> T lookingAgain(Look<T> work) throws IOException {
        for (int look = 1; ; look++) {
            try {
                return work.look();
            } catch (FileSystemException e) {
                if (look == MAX_LOOKS || !"Stale file handle".equals(e.getReason())) {
                    throw e;
                }
            }
        }
    }
}
