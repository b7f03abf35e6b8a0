package io.posixgateway.alluxio.client;

import alluxio.client.file.FileInStream;
import alluxio.client.file.FileSystem;
import alluxio.client.file.URIStatus;
import alluxio.exception.AlluxioException;
import alluxio.grpc.OpenFilePOptions;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A {@link FileSource} over Alluxio's input stream, which itself goes on with another worker, or the UFS, when one fails.
 *
 * <p>A stream that failed is given up; the next read asks the master again where the file's blocks are, and opens a new one.
 */
final class StreamSource implements FileSource {
    private final FileSystem files;
    private final String path;
    private final Asking asking;
    /** Null: to be asked for. */
    private @Nullable URIStatus status;

    private @Nullable FileInStream stream;

    /** Asks the master; waits. */
    interface Asking {
        URIStatus ask() throws StoreException;
    }

    StreamSource(FileSystem files, URIStatus status, Asking asking) {
        this.files = files;
        this.path = status.getPath();
        this.status = status;
        this.asking = asking;
    }

    @Override
    public int read(long offset, ByteBuffer into) throws StoreException {
        try {
            FileInStream in = stream();
            if (in.getPos() != offset) {
                in.seek(offset);
            }
            int start = into.position();
            while (into.hasRemaining()) {
                int count = in.read(into);
                if (count < 0) {
                    break;
                }
            }
            return into.position() - start;
        } catch (IOException | AlluxioException | RuntimeException e) {
            close();
            status = null;
            throw broken(e);
        }
    }

    @Override
    public int readOnce(long offset, byte[] into, int count) throws StoreException {
        try {
            int total = 0;
            while (total < count) {
                int got = stream().positionedRead(offset + total, into, total, count - total);
                if (got <= 0) {
                    break;
                }
                total += got;
            }
            return total;
        } catch (IOException | AlluxioException | RuntimeException e) {
            close();
            status = null;
            throw broken(e);
        }
    }

    /** EIO whatever the reason: that a block, or a worker, is not found does not mean that the file is not there. */
    private StoreException broken(Exception failure) {
        return new StoreException(Errno.EIO, "read " + path + ": " + failure, failure);
    }

    private FileInStream stream() throws IOException, AlluxioException, StoreException {
        FileInStream open = stream;
        if (open == null) {
            URIStatus known = status;
            if (known == null) {
                known = asking.ask();
                status = known;
            }
            open = files.openFile(known, OpenFilePOptions.getDefaultInstance());
            stream = open;
        }
        return open;
    }

    @Override
    public void close() {
        FileInStream open = stream;
        stream = null;
        if (open == null) {
            return;
        }
        try {
            open.close();
        } catch (IOException | RuntimeException e) {
            org.slf4j.LoggerFactory.getLogger(StreamSource.class).debug("Closing {} failed: {}", path, e.toString());
        }
    }
}
