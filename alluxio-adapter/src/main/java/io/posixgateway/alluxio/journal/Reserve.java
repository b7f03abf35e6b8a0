package io.posixgateway.alluxio.journal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Room on the disk that nothing uses until it is full, so that what must be noted still can be: a file that is given up then, and
 * made again when there is room. Guarded by its own monitor.
 */
final class Reserve {
    private static final int BYTES = 1 << 18;
    private static final long MIN_ROOM_BYTES = 4L * BYTES;
    /** After so many writes without it, whether there is room again is asked: not at each, as a disk stays full for long. */
    private static final int WRITES = 64;

    private final Path folder;
    private final Path file;
    /** Writes until it may be made again; 0: it is there. */
    private int missing;

    Reserve(Path folder, String name) {
        this.folder = folder;
        this.file = folder.resolve(name);
    }

    /** Sees to it that it is there, if there is room. */
    synchronized void fill() {
        try {
            if (Files.notExists(file) || Files.size(file) != BYTES) {
                Files.write(file, new byte[BYTES]);
            }
        } catch (IOException e) {
            missing = WRITES;
            org.slf4j.LoggerFactory.getLogger(Reserve.class)
                    .warn("No disk space is reserved, because {}", e.toString());
        }
    }

    /** What is to be written, which can be begun again. */
    interface Write {
        void run() throws IOException;
    }

    /** Writes it; a disk that is full is tried once more without the reserve. */
    synchronized void write(Write write) throws IOException {
        try {
            write.run();
        } catch (IOException e) {
            if (!DiskErrno.isFull(e) || !Files.deleteIfExists(file)) {
                throw e;
            }
            missing = WRITES;
            write.run();
        }
        if (missing > 0 && --missing == 0) {
            refill();
        }
    }

    /** Only where it does not take the room that there is for others. */
    private void refill() {
        missing = WRITES;
        try {
            if (Files.getFileStore(folder).getUsableSpace() > MIN_ROOM_BYTES) {
                missing = 0;
                fill();
            }
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(Reserve.class)
                    .debug("The free space of the disk is unknown: {}", e.toString());
        }
    }
}
