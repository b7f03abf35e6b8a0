package io.posixgateway.fuse.path;

import java.io.IOException;

/** An operation of a {@link PathFileSystem} failed, with exactly this error number. */
public class ErrnoException extends IOException {
    private static final long serialVersionUID = 1;

    private final int errno;

    /** @param errno positive; of {@link io.posixgateway.fuse.spi.Errno} */
    public ErrnoException(int errno) {
        super("errno " + errno);
        this.errno = errno;
    }

    public int errno() {
        return errno;
    }
}
