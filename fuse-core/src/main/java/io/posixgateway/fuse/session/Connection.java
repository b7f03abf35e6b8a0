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

    /** Requests that were begun are left unanswered to the next process; what they end with from now on is not to reach it. */
    default void leaveRequests() {}

    /**
     * Closes the descriptor.
     *
     * @param unused nothing uses the rest any more; false: some request goes on, and memory stays where it is
     */
    void close(boolean unused);
}
