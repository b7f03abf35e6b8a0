package io.posixgateway.alluxio.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Which content of a file the kernel's pages are of, so that the next process need not have them dropped.
 *
 * <p>A mapped file, which outlives a killed process without a system call at each open: a table of fingerprints of node and
 * content, with one place for a node. What meets in a place displaces what was there, and that one's pages are dropped when
 * the next process sees it; nothing else comes of it. Any thread; who notes and who forgets a node must exclude each other.
 */
public final class PageCacheVersions {
    /** A mebibyte, written out before it is mapped: a disk that is full must not be found out by a store. */
    private static final int PLACES = 1 << 17;

    private final Path file;
    private volatile @Nullable LongBuffer places;

    PageCacheVersions(Path file) {
        this.file = file;
    }

    /**
     * From now on it is used. What cannot be had is done without.
     *
     * @param goesOn does the kernel still have pages from before?
     */
    public void begin(boolean goesOn) {
        try {
            if (!goesOn) {
                Files.deleteIfExists(file);
            }
            try (FileChannel channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                long bytes = (long) PLACES * Long.BYTES;
                if (channel.size() != bytes) {
                    channel.truncate(0);
                    fill(channel, ByteBuffer.allocate((int) bytes));
                }
                places = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes).asLongBuffer();
            }
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(PageCacheVersions.class)
                    .warn(
                            "The next process will drop the kernel's cached pages, because {} failed: {}",
                            file,
                            e.toString());
        }
    }

    private static void fill(FileChannel channel, ByteBuffer zeros) throws IOException {
        while (zeros.hasRemaining()) {
            channel.write(zeros);
        }
    }

    /**
     * The kernel's pages of the node are of this content.
     *
     * @param content a number that no other content of the node has
     */
    public void note(long node, long content) {
        LongBuffer table = places;
        if (table != null) {
            table.put(place(node), fingerprint(node, content));
        }
    }

    /** The kernel's pages of the node may be of any content. */
    public void forget(long node) {
        LongBuffer table = places;
        if (table != null) {
            table.put(place(node), 0);
        }
    }

    /** Are they, if there are any, of this content? */
    public boolean has(long node, long content) {
        LongBuffer table = places;
        return table != null && table.get(place(node)) == fingerprint(node, content);
    }

    private static int place(long node) {
        return (int) (mixed(node) >>> 32) & (PLACES - 1);
    }

    private static long fingerprint(long node, long content) {
        long value = mixed(mixed(node) + content);
        return value == 0 ? 1 : value;
    }

    /** The finalizer of SplitMix64. */
    private static long mixed(long value) {
        long first = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        long second = (first ^ (first >>> 27)) * 0x94D049BB133111EBL;
        return second ^ (second >>> 31);
    }
}
