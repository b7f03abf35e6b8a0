package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

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
     * Lets go of the connection.
     *
     * @param unused nothing uses it any more; false: some request goes on, so the number of its descriptor is retired and memory stays where
     *     it is
     */
    void close(boolean unused);

    /** Closes its descriptor, whose number is another file's at once only where nobody uses it any more. */
    static void close(int fd, boolean unused) {
        int result = unused ? Native.close(fd) : Native.retire(fd);
        if (result < 0) {
            LoggerFactory.getLogger(Connection.class)
                    .error(
                            "The connection's descriptor stays open ({}): its callers may hang",
                            Native.errorText(result));
        }
    }
}
