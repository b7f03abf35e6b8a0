package io.posixgateway.fuse.path;

import io.posixgateway.fuse.spi.Errno;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.NotLinkException;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.List;
import java.util.Map;

/** Which exception of java.nio.file means which error number; every other one: EIO. */
final class Errors {
    private static final List<Map.Entry<Class<? extends Exception>, Integer>> TABLE = List.of(
            Map.entry(NoSuchFileException.class, Errno.ENOENT),
            Map.entry(FileNotFoundException.class, Errno.ENOENT),
            Map.entry(FileAlreadyExistsException.class, Errno.EEXIST),
            Map.entry(DirectoryNotEmptyException.class, Errno.ENOTEMPTY),
            Map.entry(NotDirectoryException.class, Errno.ENOTDIR),
            Map.entry(NotLinkException.class, Errno.EINVAL),
            Map.entry(AccessDeniedException.class, Errno.EACCES),
            Map.entry(FileSystemLoopException.class, Errno.ELOOP),
            Map.entry(ReadOnlyFileSystemException.class, Errno.EROFS),
            Map.entry(UnsupportedOperationException.class, Errno.EOPNOTSUPP));

    private Errors() {}

    /** The negative errno of an exception that an operation threw. Unknown ones are the dispatcher's to log. */
    static int of(Exception failure) throws IOException {
        if (failure instanceof ErrnoException known) {
            return -known.errno();
        }
        for (Map.Entry<Class<? extends Exception>, Integer> row : TABLE) {
            if (row.getKey().isInstance(failure)) {
                return -row.getValue();
            }
        }
        throw new IOException("no errno is known for this failure", failure);
    }
}
