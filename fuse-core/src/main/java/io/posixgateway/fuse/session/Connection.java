package io.posixgateway.fuse.session;

import org.jspecify.annotations.Nullable;

/** A connection to the kernel, by how the session came to it. */
interface Connection {
    /** The descriptor of /dev/fuse; valid until {@link #close}. */
    int fd();

    /** "major:minor" of the mount, as far as this process knows. */
    @Nullable
    String device();

    /** Takes the mount away if it is the session's own. True: no user is left, and the kernel ends the connection by itself. */
    boolean unmount();

    /** Closes the descriptor, after everything that uses it. */
    void close();
}
