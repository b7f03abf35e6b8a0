package io.posixgateway.alluxio.bypass;

import io.posixgateway.alluxio.read.BlockFolder;
import io.posixgateway.fuse.jni.Bypass;
import io.posixgateway.fuse.jni.Native;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Block folders, opened so that nothing can be written through what is opened in them. Alluxio's block files may be written by
 * everybody; whoever is given a descriptor could open it again for writing through /proc. One thread.
 */
final class ReadOnlyFolders implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReadOnlyFolders.class);

    private final Map<BlockFolder, Integer> opened = new HashMap<>();
    private boolean warned;

    /** Those that can be had. */
    int[] of(List<BlockFolder> folders) {
        List<Integer> fds = new ArrayList<>();
        for (BlockFolder folder : folders) {
            int fd = opened.computeIfAbsent(folder, ReadOnlyFolders::open);
            if (fd >= 0) {
                fds.add(fd);
            } else {
                opened.remove(folder);
                warn(folder, fd);
            }
        }
        return fds.stream().mapToInt(Integer::intValue).toArray();
    }

    private static int open(BlockFolder folder) {
        return Bypass.folder(folder.rootBytes(), folder.beneathBytes());
    }

    private void warn(BlockFolder folder, int error) {
        if (!warned) {
            warned = true;
            LOG.warn(
                    "Programs get no block files of {} ({}): mount it read-only for this process, or give the process"
                            + " CAP_SYS_ADMIN on Linux 5.12 or later",
                    folder.path(),
                    Native.errorText(error));
        }
    }

    /** They may be others by now. */
    void forget() {
        opened.values().forEach(Native::close);
        opened.clear();
    }

    @Override
    public void close() {
        forget();
    }
}
