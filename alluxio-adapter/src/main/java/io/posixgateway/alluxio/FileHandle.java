package io.posixgateway.alluxio;

import io.posixgateway.alluxio.data.FileReader;
import io.posixgateway.alluxio.inode.Inode;
import org.jspecify.annotations.Nullable;

/** An open file. The reader is made at the first read, and again when the file got new content. */
final class FileHandle {
    final Inode inode;
    final boolean writes;
    private volatile @Nullable FileReader reader;

    FileHandle(Inode inode, boolean writes) {
        this.inode = inode;
        this.writes = writes;
    }

    /** The reader of the file's present content; null: none was made yet. */
    @Nullable
    FileReader reader() {
        FileReader open = reader;
        return open != null && open.fileId() == inode.fileId() ? open : null;
    }

    /** Keeps a reader; if another was faster, that one. */
    synchronized FileReader keep(FileReader made) {
        FileReader open = reader;
        if (open != null && open.fileId() == made.fileId()) {
            return open;
        }
        if (open != null) {
            open.close();
        }
        reader = made;
        return made;
    }

    /** May closing wait? */
    boolean streams() {
        FileReader open = reader;
        return open != null && open.streams();
    }

    synchronized void close() {
        FileReader open = reader;
        if (open != null) {
            open.close();
        }
    }
}
