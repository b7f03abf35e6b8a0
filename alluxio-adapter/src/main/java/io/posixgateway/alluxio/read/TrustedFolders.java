package io.posixgateway.alluxio.read;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where block files may be read. A worker is a program of others: what it says of its folder is believed only so far as
 * somebody with rights on this host has said so, too. Any thread.
 */
public final class TrustedFolders {
    /** In the place of folders: there are none. */
    public static final String NONE = "none";

    private static final Logger LOG = LoggerFactory.getLogger(TrustedFolders.class);
    /** A worker that names ever new ones must not fill the memory, nor the log. */
    private static final int MAX_REPORTED = 4;

    /** Null: wherever a worker says. */
    private final @Nullable List<Path> roots;

    private final Set<Path> reported = ConcurrentHashMap.newKeySet();
    private final AtomicInteger refusals = new AtomicInteger();

    private TrustedFolders(@Nullable List<Path> roots) {
        this.roots = roots;
    }

    /** Wherever workers say, for a mount whose owner chose the masters. */
    public static TrustedFolders anywhere() {
        return new TrustedFolders(null);
    }

    /**
     * As an option says it.
     *
     * @param text folders with a colon between them; {@link #NONE}; empty: {@link #anywhere}
     * @throws IllegalArgumentException one is not an absolute path
     */
    public static TrustedFolders of(String text) {
        if (text.isEmpty()) {
            return anywhere();
        }
        List<Path> roots = text.equals(NONE)
                ? List.of()
                : Arrays.stream(text.split(":", -1)).map(TrustedFolders::root).toList();
        return new TrustedFolders(roots);
    }

    private static Path root(String text) {
        Path root = Path.of(text);
        if (!root.isAbsolute()) {
            throw new IllegalArgumentException("'" + text + "' is not an absolute path");
        }
        return root.normalize();
    }

    /** The folder that a worker named; null, and told in the log, where it is not trusted. */
    @Nullable
    BlockFolder find(Path folder) {
        Path path = folder.normalize();
        if (!folder.isAbsolute()) {
            return null;
        }
        if (roots == null) {
            return new BlockFolder(path, path);
        }
        for (Path root : roots) {
            if (path.startsWith(root)) {
                return new BlockFolder(root, path);
            }
        }
        report(path, roots);
        return null;
    }

    /** A block file beneath a trusted folder cannot be opened for this reason; told in the log, a few times. */
    void refused(IOException why) {
        if (refusals.get() < MAX_REPORTED && refusals.getAndIncrement() < MAX_REPORTED) {
            LOG.warn(
                    "A block file is read through the worker, because it is not trusted: {}. It must be a regular"
                            + " file of its folder's owner, on the trusted folder's file system, with no link below"
                            + " that folder: name the folder that is mounted",
                    why.getMessage());
        }
    }

    private void report(Path folder, List<Path> trusted) {
        if (reported.size() < MAX_REPORTED && reported.add(folder)) {
            LOG.warn(
                    "A worker on this host stores blocks in {}, which is not below a trusted folder ({}), so they are"
                            + " read through the worker. To trust it, add the folder to block_folders of the mount,"
                            + " --block-folders of posix-gateway serve, or alluxio.workerBlockDirs of the chart",
                    folder,
                    trusted.isEmpty() ? "none is set" : trusted);
        }
    }
}
