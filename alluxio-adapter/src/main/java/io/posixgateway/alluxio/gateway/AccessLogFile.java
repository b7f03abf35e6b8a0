package io.posixgateway.alluxio.gateway;

import io.posixgateway.fuse.dispatch.RequestRecord;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file that a queue of records is written to, a line each; a new one is begun at 64 MiB, and one old one is kept. One thread.
 *
 * <p>While it cannot be written, as on a full disk, lines wait for the next {@link #drain}, and those for which the queue has no room are
 * dropped and counted there. A line that was written in part goes on where it was cut off.
 */
final class AccessLogFile {
    private static final Logger LOG = LoggerFactory.getLogger(AccessLogFile.class);
    private static final long MAX_BYTES = 64L << 20;
    private static final int BATCH_BYTES = 64 << 10;

    private final Path file;
    private final AccessQueue queue;
    /** Null: to be opened again. */
    private @Nullable FileChannel channel;

    private long bytes;
    private ByteBuffer unwritten = ByteBuffer.allocate(0);
    private boolean failing;

    /** Opens the file; its folder is there. */
    AccessLogFile(Path file, AccessQueue queue) throws IOException {
        this.file = file;
        this.queue = queue;
        open();
    }

    private FileChannel open() throws IOException {
        FileChannel opened = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        channel = opened;
        bytes = opened.size();
        return opened;
    }

    /** Writes all that there is, or as much as can be written now. */
    void drain() {
        try {
            while (unwritten.hasRemaining() || takeLines()) {
                write();
            }
            if (failing) {
                LOG.info("The access log {} is written again; {} lines were dropped", file, queue.dropped());
            }
            failing = false;
        } catch (IOException e) {
            closeFile();
            if (!failing) {
                LOG.warn(
                        "The access log {} cannot be written: {}; make room, or its folder writable, and it continues",
                        file,
                        e.toString());
            }
            failing = true;
        }
    }

    /** False: there are none. */
    private boolean takeLines() {
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        RequestRecord record = queue.poll();
        while (record != null) {
            lines.writeBytes(AccessLine.of(record).getBytes(StandardCharsets.UTF_8));
            lines.write('\n');
            record = lines.size() < BATCH_BYTES ? queue.poll() : null;
        }
        unwritten = ByteBuffer.wrap(lines.toByteArray());
        return unwritten.hasRemaining();
    }

    private void write() throws IOException {
        FileChannel to = channel == null ? open() : channel;
        if (bytes > MAX_BYTES) {
            closeFile();
            Files.move(file, file.resolveSibling(file.getFileName() + ".1"), StandardCopyOption.REPLACE_EXISTING);
            to = open();
        }
        while (unwritten.hasRemaining()) {
            bytes += to.write(unwritten);
        }
    }

    /** Closes it; returns how many lines of the queue were not written. */
    long close() {
        closeFile();
        long lost = 0;
        while (unwritten.hasRemaining() || takeLines()) {
            lost += unwritten.get() == '\n' ? 1 : 0;
        }
        return lost;
    }

    private void closeFile() {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            LOG.debug("Closing {}: {}", file, e.toString());
        }
        channel = null;
    }
}
