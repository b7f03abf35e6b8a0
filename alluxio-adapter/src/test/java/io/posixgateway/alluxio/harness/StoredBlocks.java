package io.posixgateway.alluxio.harness;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.meta.InodeTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/** The block files that a worker of a test keeps below a folder, as they were when it was looked at. */
public final class StoredBlocks {
    /** A block's number begins with the upper bits of its file's. */
    private static final int SEQUENCE_BITS = 24;

    private final Set<String> names = new HashSet<>();

    private StoredBlocks() {}

    /** Of a folder; blocks may come and go meanwhile. */
    public static StoredBlocks below(Path folder) {
        StoredBlocks blocks = new StoredBlocks();
        Walk.files(folder).forEach(path -> blocks.names.add(path.getFileName().toString()));
        return blocks;
    }

    /** Of a worker, whose folders they all lie in. */
    public static StoredBlocks of(EmbeddedAlluxio alluxio, int worker) {
        return below(alluxio.ufs().resolveSibling("blocks").resolve("worker" + worker));
    }

    /** Whether the first block of a file of a mount is among them; a file that was replaced keeps the number it had. */
    public boolean hold(Path file) throws IOException {
        long fileId = InodeTable.fileIdOf((long) Files.getAttribute(file, "unix:ino"));
        return names.contains(Long.toString(fileId >>> SEQUENCE_BITS << SEQUENCE_BITS));
    }
}
