package io.posixgateway.alluxio.recovery;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Room on the disk that nothing uses until it is full, so that what must be noted still can be: a file that is given up then, and
 * made again when there is room. Guarded by its own monitor.
 */
final class Reserve {
    private static final int BYTES = 1 << 18;

    private final Path file;

    Reserve(Path file) {
        this.file = file;
    }

    /** Sees to it that it is there, if there is room. */
    synchronized void fill() {
        try {
            if (Files.notExists(file) || Files.size(file) != BYTES) {
                Files.write(file, new byte[BYTES]);
            }
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(Reserve.class)
                    .warn("No disk space is reserved, because {}", e.toString());
        }
    }

    /** Writes all of it where the channel is; a disk that is full is tried once more without the reserve. */
    synchronized void write(FileChannel channel, ByteBuffer bytes) throws IOException {
        try {
            writeAll(channel, bytes);
        } catch (IOException e) {
            if (!DiskErrno.isFull(e) || !Files.deleteIfExists(file)) {
                throw e;
            }
            writeAll(channel, bytes);
        }
    }

    private static void writeAll(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }
}
