package io.posixgateway.bench;

import java.nio.file.Path;
import jnr.ffi.Pointer;
import jnr.ffi.types.off_t;
import jnr.ffi.types.size_t;
import ru.serce.jnrfuse.ErrorCodes;
import ru.serce.jnrfuse.FuseStubFS;
import ru.serce.jnrfuse.struct.FileStat;
import ru.serce.jnrfuse.struct.FuseFileInfo;

/** The null file system on JNR-FUSE: a peer of the benchmarks. Arguments: MOUNTPOINT FILE_BYTES. */
public final class JnrNull extends FuseStubFS {
    private static final int FILE = 0100644;
    private static final int DIRECTORY = 0040755;

    private volatile long fileBytes;
    private final byte[] data = Pattern.bytes(1 << 20);

    private JnrNull(long fileBytes) {
        this.fileBytes = fileBytes;
    }

    @Override
    public int getattr(String path, FileStat stat) {
        if ("/".equals(path)) {
            stat.st_mode.set(DIRECTORY);
            stat.st_nlink.set(2);
            return 0;
        }
        if (!path.startsWith("/f")) {
            return -ErrorCodes.ENOENT();
        }
        stat.st_mode.set(FILE);
        stat.st_nlink.set(1);
        stat.st_size.set(fileBytes);
        return 0;
    }

    @Override
    public int open(String path, FuseFileInfo info) {
        return 0;
    }

    @Override
    public int read(String path, Pointer into, @size_t long size, @off_t long offset, FuseFileInfo info) {
        int count = (int) Math.max(0, Math.min(size, fileBytes - offset));
        into.put(0, data, Pattern.phase(offset), count);
        return count;
    }

    @Override
    public int write(String path, Pointer from, @size_t long size, @off_t long offset, FuseFileInfo info) {
        return (int) size;
    }

    /** Every file has that length from here on. */
    @Override
    public int truncate(String path, @off_t long size) {
        fileBytes = size;
        return 0;
    }

    /** Serves until unmounted. */
    public static void main(String[] arguments) {
        JnrNull fileSystem = new JnrNull(Long.parseLong(arguments[1]));
        fileSystem.mount(Path.of(arguments[0]), true, false, new String[] {
            "-o", "direct_io,allow_other,attr_timeout=3600,entry_timeout=3600,big_writes,max_read=131072"
        });
    }
}
