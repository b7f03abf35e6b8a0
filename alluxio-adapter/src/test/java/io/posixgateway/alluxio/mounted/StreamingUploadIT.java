package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Large new files go straight to Alluxio while they are written in sequence; whatever else is done to them, no byte is lost. */
class StreamingUploadIT {
    private static final int PIECE = 700_001;
    private final long seed = Long.getLong("pgw.seed", System.nanoTime());
    private final byte[] content = new byte[5 * PIECE];
    private MountedFileSystem mounted;
    private AlluxioFileSystem alluxio;
    private Path root;
    private Path ufs;

    @BeforeEach
    void mount() throws Exception {
        mount("64M");
    }

    /** @param spool how much of it there is */
    private void mount(String spool) throws Exception {
        new Random(seed).nextBytes(content);
        String folder = SharedAlluxio.folder();
        ufs = SharedAlluxio.ufs(folder);
        alluxio = SharedAlluxio.open(folder, Map.of("stream_from", "1M", "spool_size", spool));
        mounted = MountedFileSystem.mount(alluxio, TransportChoice.AUTO);
        root = mounted.root();
    }

    @AfterEach
    void unmount() throws Exception {
        mounted.close();
    }

    private static FileChannel create(Path file) throws IOException {
        return FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** Writes these pieces at the channel's position. */
    private void write(FileChannel channel, int from, int to) throws IOException {
        for (int i = from; i < to; i++) {
            ByteBuffer piece = ByteBuffer.wrap(content, i * PIECE, PIECE);
            while (piece.hasRemaining()) {
                channel.write(piece);
            }
        }
    }

    @Test
    void aFileLargerThanTheSpoolIsWrittenInSequence() throws Exception {
        unmount();
        mount("2M");
        try (FileChannel channel = streaming(root.resolve("large"))) {
            write(channel, 3, 5);
            for (int round = 1; round < 10; round++) {
                write(channel, 0, 5);
            }
            assertThat(Files.size(root.resolve("large"))).isEqualTo(50L * PIECE);
            assertThat(alluxio.counts().spoolBytes()).isZero();
        }
        try (FileChannel channel = FileChannel.open(ufs.resolve("large"))) {
            assertThat(channel.size()).isEqualTo(50L * PIECE);
            for (int round = 0; round < 10; round++) {
                ByteBuffer part = ByteBuffer.allocate(5 * PIECE);
                while (part.hasRemaining() && channel.read(part) >= 0) {
                    Thread.onSpinWait();
                }
                assertThat(Arrays.equals(part.array(), content))
                        .as("round " + round)
                        .isTrue();
            }
        }
        assertThat(Files.mismatch(root.resolve("large"), ufs.resolve("large"))).isEqualTo(-1);
    }

    /**
     * A file of three pieces that is being streamed. A process that is started meanwhile, as Alluxio's client does, closes its
     * copy of the descriptor, and what is closed is committed: then there is nothing to stream, and it begins again.
     */
    private FileChannel streaming(Path file) throws Exception {
        for (int tries = 1; ; tries++) {
            FileChannel channel = create(file);
            write(channel, 0, 3);
            long spooled = alluxio.counts().spoolBytes();
            if (spooled == 0) {
                return channel;
            }
            channel.close();
            Files.delete(file);
            assertThat(tries).as("tries; bytes in the spool: " + spooled).isLessThan(5);
        }
    }

    @Test
    void aStreamedFileCanBeReadAndChangedAnywhere() throws Exception {
        Path file = root.resolve("file");
        try (FileChannel channel = streaming(file)) {
            ByteBuffer read = ByteBuffer.allocate(1000);
            channel.read(read, PIECE);
            assertThat(read.array()).isEqualTo(Arrays.copyOfRange(content, PIECE, PIECE + 1000));
            write(channel, 3, 5);
            channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), 5);
            content[5] = 1;
            content[6] = 2;
            content[7] = 3;
        }
        assertThat(ufs.resolve("file")).hasBinaryContent(content);
        assertThat(file).hasBinaryContent(content);
    }
}
