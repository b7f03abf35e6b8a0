package io.posixgateway.bench;

import alluxio.AlluxioURI;
import alluxio.client.file.FileInStream;
import alluxio.client.file.FileSystem;
import alluxio.client.file.URIStatus;
import alluxio.exception.AlluxioException;
import alluxio.exception.FileDoesNotExistException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import jnr.ffi.Pointer;
import jnr.ffi.types.off_t;
import jnr.ffi.types.size_t;
import ru.serce.jnrfuse.ErrorCodes;
import ru.serce.jnrfuse.FuseFillDir;
import ru.serce.jnrfuse.FuseStubFS;
import ru.serce.jnrfuse.struct.FileStat;
import ru.serce.jnrfuse.struct.FuseFileInfo;

/**
 * Alluxio on JNR-FUSE, read-only: what the JNI-FUSE paper compares with. A file is a stream of Alluxio's client behind a
 * number; a read is made under the stream's lock, into an array of its own, and copied from there.
 *
 * <p>Arguments: MOUNTPOINT FUSE_OPTIONS. The client's settings are system properties.
 */
public final class JnrAlluxio extends FuseStubFS {
    private static final int FILE = 0100000;
    private static final int DIRECTORY = 0040000;
    private static final int PERMISSIONS = 0777;

    private final FileSystem alluxio = FileSystem.Factory.create();
    private final Map<Long, FileInStream> open = new ConcurrentHashMap<>();
    private final AtomicLong lastHandle = new AtomicLong();

    private JnrAlluxio() {}

    @Override
    public int getattr(String path, FileStat stat) {
        try {
            URIStatus status = alluxio.getStatus(new AlluxioURI(path));
            stat.st_mode.set((status.isFolder() ? DIRECTORY : FILE) | (status.getMode() & PERMISSIONS));
            stat.st_nlink.set(1);
            stat.st_size.set(status.getLength());
            stat.st_mtim.tv_sec.set(status.getLastModificationTimeMs() / 1000);
            return 0;
        } catch (IOException | AlluxioException e) {
            return errno(e);
        }
    }

    @Override
    public int readdir(String path, Pointer buffer, FuseFillDir filler, @off_t long offset, FuseFileInfo info) {
        try {
            filler.apply(buffer, ".", null, 0);
            filler.apply(buffer, "..", null, 0);
            for (URIStatus each : alluxio.listStatus(new AlluxioURI(path))) {
                filler.apply(buffer, each.getName(), null, 0);
            }
            return 0;
        } catch (IOException | AlluxioException e) {
            return errno(e);
        }
    }

    @Override
    public int open(String path, FuseFileInfo info) {
        try {
            long handle = lastHandle.incrementAndGet();
            open.put(handle, alluxio.openFile(new AlluxioURI(path)));
            info.fh.set(handle);
            return 0;
        } catch (IOException | AlluxioException e) {
            return errno(e);
        }
    }

    @Override
    public int read(String path, Pointer into, @size_t long size, @off_t long offset, FuseFileInfo info) {
        FileInStream stream = open.get(info.fh.get());
        if (stream == null) {
            return -ErrorCodes.EBADF();
        }
        byte[] bytes = new byte[(int) size];
        try {
            int count = readFully(stream, bytes, offset);
            into.put(0, bytes, 0, count);
            return count;
        } catch (IOException e) {
            return errno(e);
        }
    }

    private static int readFully(FileInStream stream, byte[] bytes, long offset) throws IOException {
        synchronized (stream) {
            if (offset >= stream.remaining() + stream.getPos()) {
                return 0;
            }
            stream.seek(offset);
            int count = 0;
            for (int got = 0; count < bytes.length && got >= 0; count += Math.max(got, 0)) {
                got = stream.read(bytes, count, bytes.length - count);
            }
            return count;
        }
    }

    @Override
    public int release(String path, FuseFileInfo info) {
        try (FileInStream stream = open.remove(info.fh.get())) {
            return stream == null ? -ErrorCodes.EBADF() : 0;
        } catch (IOException e) {
            return errno(e);
        }
    }

    private static int errno(Exception e) {
        return e instanceof FileDoesNotExistException ? -ErrorCodes.ENOENT() : -ErrorCodes.EIO();
    }

    /** Serves until unmounted. */
    public static void main(String[] arguments) {
        new JnrAlluxio().mount(Path.of(arguments[0]), true, false, new String[] {"-o", arguments[1]});
    }
}
