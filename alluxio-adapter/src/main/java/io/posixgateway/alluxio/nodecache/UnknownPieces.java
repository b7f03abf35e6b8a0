package io.posixgateway.alluxio.nodecache;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes files of pieces that no index names: their records did not reach the disk before the node ended. One subfolder at a time, each
 * behind what else is to be done.
 */
final class UnknownPieces {
    private static final Logger LOG = LoggerFactory.getLogger(UnknownPieces.class);
    private static final String PIECES = "pieces";

    private final FolderDisk disk;
    private final Executor background;
    private final long[] known;
    private final long loadedMillis;
    private final Queue<String> folders = new ArrayDeque<>();

    /**
     * @param known all that are there at some time after the load
     * @param loadedMillis by the disk's clock: what is younger was kept since then
     */
    UnknownPieces(FolderDisk disk, Collection<Piece> known, long loadedMillis, Executor background) {
        this.disk = disk;
        this.background = background;
        this.known = known.stream()
                .mapToLong(each -> each.file.hash(each.index))
                .sorted()
                .toArray();
        this.loadedMillis = loadedMillis;
    }

    void remove() {
        for (String tenant : disk.list(PIECES)) {
            disk.list(PIECES + "/" + tenant).forEach(each -> folders.add(PIECES + "/" + tenant + "/" + each));
        }
        next();
    }

    private void next() {
        String folder = folders.poll();
        if (folder != null) {
            removeIn(folder);
            background.execute(this::next);
        }
    }

    private void removeIn(String folder) {
        try {
            for (String name : disk.list(folder)) {
                if (!isKnown(name) && disk.modifiedMillis(folder + "/" + name) < loadedMillis) {
                    disk.delete(folder + "/" + name);
                }
            }
        } catch (IOException e) {
            LOG.debug("Files without a record stay in {}: {}", folder, e.toString());
        }
    }

    /** By the end of its name, see {@link Piece#name}. */
    private boolean isKnown(String name) {
        try {
            long hash = Long.parseUnsignedLong(name.substring(name.lastIndexOf('-') + 1), 16);
            return Arrays.binarySearch(known, hash) >= 0;
        } catch (NumberFormatException other) {
            return false;
        }
    }
}
