package io.posixgateway.alluxio.client;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The streams that are open, and the renames they must hear of. Any thread.
 *
 * <p>What a worker lacks of a file it reads from the under file system by the path that the file had when it was opened. When
 * the file has moved and its path was given to another, the worker would answer with the other's bytes, and keep them as a
 * block of this one. So whoever was asked for a file before a rename of this mount ended is asked again.
 */
final class OpenReaders {
    private static final int KEPT = 64;

    private final Set<BlockFileReader> open = ConcurrentHashMap.newKeySet();
    private final String[] paths = new String[KEPT];
    private long renames;

    /** How many renames began or ended so far. */
    synchronized long renames() {
        return renames;
    }

    /** Was what has this path now, or a directory above it, renamed since? In doubt: yes. */
    synchronized boolean movedSince(long before, String path) {
        if (renames - before > KEPT) {
            return true;
        }
        for (long at = before; at < renames; at++) {
            if (isAtOrBelow(path, paths[(int) (at % KEPT)])) {
                return true;
            }
        }
        return false;
    }

    void opened(BlockFileReader stream) {
        open.add(stream);
    }

    void closed(BlockFileReader stream) {
        open.remove(stream);
    }

    /** Before the rename, and after it, whatever came of it. */
    void moved(String from) {
        count(from);
        for (BlockFileReader stream : open) {
            if (isAtOrBelow(stream.path(), from)) {
                stream.moved();
            }
        }
    }

    private synchronized void count(String from) {
        paths[(int) (renames % KEPT)] = from;
        renames++;
    }

    private static boolean isAtOrBelow(String path, String above) {
        return path.startsWith(above) && (path.length() == above.length() || path.charAt(above.length()) == '/');
    }
}
