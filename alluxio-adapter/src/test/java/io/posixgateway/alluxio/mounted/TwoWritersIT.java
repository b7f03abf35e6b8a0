package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A file is new on one mount, and not closed there yet, when another mount puts its own in its place. */
class TwoWritersIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int MIB = 1 << 20;
    private static final byte[] FIRST = "of the first mount".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] OTHER = "the other's".getBytes(StandardCharsets.US_ASCII);

    private String folder = "";
    private MountedFileSystem one;
    private MountedFileSystem two;

    @BeforeEach
    void mount() throws Exception {
        folder = SharedAlluxio.folder();
        one = MountedFileSystem.mount(
                SharedAlluxio.open(folder, Map.of("stream_from", "1M", "metadata_ttl", "0", "open_trust", "0")),
                TransportChoice.AUTO);
        two = MountedFileSystem.mount(
                SharedAlluxio.open(folder, Map.of("metadata_ttl", "0", "open_trust", "0")), TransportChoice.AUTO);
        Files.write(one.root().resolve("first"), FIRST);
        Files.write(two.root().resolve("other"), OTHER);
    }

    @AfterEach
    void unmount() throws Exception {
        two.close();
        one.close();
    }

    private Path committed() {
        return SharedAlluxio.ufs(folder).resolve("f");
    }

    /** A new file that is written and not closed. */
    private FileChannel begun(int bytes) throws Exception {
        for (int tries = 1; ; tries++) {
            Path file = one.root().resolve("f");
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            channel.write(ByteBuffer.wrap(FIRST));
            for (long at = FIRST.length; at < bytes; at += MIB) {
                channel.write(ByteBuffer.allocate(MIB));
            }
            Waiting.until("no child has a copy of the descriptor", LIMIT, () -> !isOpenInChildren(file));
            Waiting.until(
                    "the other mount sees it",
                    LIMIT,
                    () -> Files.exists(two.root().resolve("f")));
            if (isBusy(two.root().resolve("f"))) {
                return channel;
            }
            // A process that was started meanwhile closed its copy of the descriptor.
            channel.close();
            Files.delete(file);
            assertThat(tries).isLessThan(5);
        }
    }

    /** A process that is being started has copies of all descriptors of this one, until it closes them. */
    private static boolean isOpenInChildren(Path file) {
        return ProcessHandle.current().descendants().anyMatch(child -> hasOpen(child.pid(), file));
    }

    private static boolean hasOpen(long pid, Path file) {
        try (Stream<Path> links = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            return links.anyMatch(link -> leadsTo(link, file));
        } catch (IOException | UncheckedIOException ended) {
            return false;
        }
    }

    private static boolean leadsTo(Path link, Path file) {
        try {
            return Files.readSymbolicLink(link).equals(file);
        } catch (IOException closed) {
            return false;
        }
    }

    /** Is it there, and not closed? */
    private static boolean isBusy(Path file) throws IOException {
        try (FileChannel read = FileChannel.open(file)) {
            return read.size() < 0;
        } catch (FileSystemException e) {
            assertThat(e.getReason()).isEqualTo("Device or resource busy");
            return true;
        }
    }

    /**
     * Writes the file and closes it when its own input ends. A process of its own, since whatever this one starts, as Alluxio's
     * client does to ask for groups, closes copies of this one's descriptors, and each close commits.
     */
    private static Process writer(Path file, String flags) throws IOException {
        String program = "import os, sys; path, text = sys.argv[1:]; "
                + "file = os.open(path, " + flags + "); os.write(file, text.encode()); "
                + "print('written', flush=True); sys.stdin.read(); os.close(file)";
        String text = new String(FIRST, StandardCharsets.US_ASCII);
        return new ProcessBuilder("python3", "-c", program, file.toString(), text)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private void assertHolds(byte[] content) {
        assertThat(committed()).hasBinaryContent(content);
        assertThat(one.root().resolve("f")).hasBinaryContent(content);
        assertThat(two.root().resolve("f")).hasBinaryContent(content);
    }

    @Test
    void whatIsClosedLastStandsThoughAnotherFileIsThereByThen() throws Exception {
        Process writer = writer(one.root().resolve("f"), "os.O_WRONLY | os.O_CREAT | os.O_EXCL");
        try {
            assertThat(writer.inputReader().readLine()).isEqualTo("written");
            Waiting.until(
                    "the other mount sees it",
                    LIMIT,
                    () -> Files.exists(two.root().resolve("f")));
            assertThat(isBusy(two.root().resolve("f"))).isTrue();
            Path beside = Files.write(two.root().resolve("beside"), OTHER);
            Files.move(beside, two.root().resolve("f"), StandardCopyOption.ATOMIC_MOVE);
            finish(writer);
        } finally {
            writer.destroy();
        }
        assertHolds(FIRST);
    }

    private static void finish(Process writer) throws Exception {
        writer.getOutputStream().close();
        assertThat(writer.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(writer.exitValue()).isZero();
    }

    @Test
    void whatIsInAFolderThatAnotherMountRenamesIsCommittedWhereItIs() throws Exception {
        Path folder = Files.createDirectory(one.root().resolve("folder"));
        Files.write(folder.resolve("f"), OTHER);
        Process writer = writer(folder.resolve("f"), "os.O_WRONLY | os.O_TRUNC");
        try {
            assertThat(writer.inputReader().readLine()).isEqualTo("written");
            Files.move(two.root().resolve("folder"), two.root().resolve("renamed"));
            finish(writer);
        } finally {
            writer.destroy();
        }
        for (Path root : List.of(one.root(), two.root(), SharedAlluxio.ufs(this.folder))) {
            assertThat(root.resolve("renamed/f")).hasBinaryContent(FIRST);
            assertThat(root.resolve("folder/f")).doesNotExist();
        }
    }

    /** A worker whose stream is cancelled removes what the under file system has there. */
    @Test
    void aStreamThatAnotherFileTookThePlaceOfFailsAndLeavesThatFileWhole() throws Exception {
        FileChannel channel = begun(3 * MIB);
        Files.write(two.root().resolve("f"), OTHER);
        assertThatThrownBy(channel::close).isInstanceOf(IOException.class);
        assertHolds(OTHER);
    }
}
