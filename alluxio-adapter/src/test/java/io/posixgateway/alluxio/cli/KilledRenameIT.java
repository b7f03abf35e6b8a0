package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.nio.file.ExtendedOpenOption;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.TestDirectory;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files on another host that are open and were read in part cost a gateway no memory beyond its budget: one that has less than
 * Alluxio's streams would keep for them goes on reading.
 */
class KilledRenameIT {
    private static final int FILES = 20;
    private static final int PIECE_BYTES = 1 << 20;
    private static final int FILE_PIECES = 16;
    private static final int READERS = 8;
    private static final int READS = 40;
    /** Less than is left unread in the files. */
    private static final String DIRECT_MEMORY = "192m";

    @TempDir
    private Path folder = Path.of("");

    private final List<FileChannel> open = new ArrayList<>();

    @AfterEach
    void discardMount() throws Exception {
        for (FileChannel each : open) {
            each.close();
        }
        Mounts.discard(folder.resolve("mnt"));
    }

    @Test
    void filesThatWereReadInPartTakeNoMemory() throws Exception {
        Built.gateway();
        Path mount = Files.createDirectory(folder.resolve("mnt"));
        TestDirectory own = Clusters.directory(Clusters.oneWorker());
        try (Program gateway = Program.start(folder, command(own, mount))) {
            gateway.awaitOutput("is mounted", Duration.ofMinutes(2));
            for (int i = 0; i < FILES; i++) {
                try (OutputStream to = Files.newOutputStream(mount.resolve("f" + i))) {
                    for (int piece = 0; piece < FILE_PIECES; piece++) {
                        to.write(piece(i, piece));
                    }
                }
            }
            for (int i = 0; i < FILES; i++) {
                open.add(FileChannel.open(mount.resolve("f" + i), StandardOpenOption.READ, ExtendedOpenOption.DIRECT));
                check(i, 3);
                check(i, 4);
                check(i, 5);
            }
            readEverywhere();
            assertThat(gateway.isAlive()).as(gateway.output()).isTrue();
        }
    }

    private static List<String> command(TestDirectory own, Path mount) {
        return List.of(
                "/usr/bin/env",
                "POSIX_GATEWAY_HEAP=128m",
                "POSIX_GATEWAY_DIRECT=" + DIRECT_MEMORY,
                Built.gateway().toString(),
                "mount",
                own.uri(),
                mount.toString(),
                "-o",
                "short_circuit=off",
                "--foreground");
    }

    private void readEverywhere() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(READERS);
        try {
            List<Future<?>> readers = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                Random random = new Random(i);
                readers.add(threads.submit(() -> {
                    for (int read = 0; read < READS; read++) {
                        check(random.nextInt(FILES), random.nextInt(FILE_PIECES));
                    }
                    return null;
                }));
            }
            for (Future<?> reader : readers) {
                reader.get(2, TimeUnit.MINUTES);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private void check(int file, int piece) throws Exception {
        ByteBuffer room =
                ByteBuffer.allocateDirect(PIECE_BYTES + 4096).alignedSlice(4096).limit(PIECE_BYTES);
        long at = (long) piece * PIECE_BYTES;
        assertThat(open.get(file).read(room, at)).isEqualTo(PIECE_BYTES);
        assertThat(room.flip().equals(ByteBuffer.wrap(piece(file, piece))))
                .as("bytes of file %d, piece %d", file, piece)
                .isTrue();
    }

    private static byte[] piece(int file, int piece) {
        byte[] bytes = new byte[PIECE_BYTES];
        new Random(file * FILE_PIECES + piece).nextBytes(bytes);
        return bytes;
    }
}
