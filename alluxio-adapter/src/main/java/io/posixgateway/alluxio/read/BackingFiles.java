package io.posixgateway.alluxio.read;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Kernel;
import java.io.FileDescriptor;

/** The files that one kernel connection was given, each noted for the process that may serve the connection next. Any thread. */
final class BackingFiles {
    private final Kernel kernel;
    private final Passthrough.Notes notes;

    BackingFiles(Kernel kernel, Passthrough.Notes notes) {
        this.kernel = kernel;
        this.notes = notes;
    }

    /** The backing id, or a negative errno: ENOSPC where it cannot be noted, and nobody could give it back after this process. */
    int open(FileDescriptor file) {
        int id = kernel.openBacking(file);
        if (id > 0 && !notes.add(-id)) {
            kernel.closeBacking(id);
            return -Errno.ENOSPC;
        }
        return id;
    }

    /** Files open with it go on. */
    void close(int id) {
        if (kernel.closeBacking(id) >= 0) {
            notes.remove(-id);
        }
    }
}
