package io.posixgateway.bench;

import alluxio.jnifuse.AbstractFuseFileSystem;
import alluxio.jnifuse.ErrorCodes;
import alluxio.jnifuse.LibFuse;
import alluxio.jnifuse.struct.FileStat;
import alluxio.jnifuse.struct.FuseFileInfo;
import alluxio.jnifuse.utils.LibfuseVersion;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Set;

/** The null file system on Alluxio's jnifuse 2.9.3: a peer of the benchmarks. Arguments: MOUNTPOINT FILE_BYTES. */
public final class JniFuseNull extends AbstractFuseFileSystem {
    private static final int FILE = 0100644;
    private static final int DIRECTORY = 0040755;

    private volatile long fileBytes;
    private final byte[] data = Pattern.bytes(1 << 20);

    private JniFuseNull(Path mountPoint, long fileBytes) {
        super(mountPoint);
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
    public int read(String path, ByteBuffer into, long size, long offset, FuseFileInfo info) {
        int count = (int) Math.max(0, Math.min(size, fileBytes - offset));
        into.put(data, Pattern.phase(offset), count);
        return count;
    }

    @Override
    public int write(String path, ByteBuffer from, long size, long offset, FuseFileInfo info) {
        return (int) size;
    }

    /** The kernel then sends no more of them. */
    @Override
    public int flush(String path, FuseFileInfo info) {
        return -ErrorCodes.ENOSYS();
    }

    /** Every file has that length from here on. */
    @Override
    public int truncate(String path, long size) {
        fileBytes = size;
        return 0;
    }

    @Override
    public int release(String path, FuseFileInfo info) {
        return 0;
    }

    @Override
    public String getFileSystemName() {
        return "jnifuse-null";
    }

    /** Serves until unmounted. */
    public static void main(String[] arguments) {
        LibFuse.loadLibrary(LibfuseVersion.VERSION_2);
        Path mountPoint = Path.of(arguments[0]);
        JniFuseNull fileSystem = new JniFuseNull(mountPoint, Long.parseLong(arguments[1]));
        fileSystem.mount(
                true,
                false,
                Set.of("direct_io", "allow_other", "attr_timeout=3600", "entry_timeout=3600", "big_writes", "max_read=131072"));
    }
}
