package io.posixgateway.fuse.spi;

/** Who asks, and under what conditions. Lent for the time of the call. */
public interface Request {
    /** The kernel's number of this request, unique while it is under way. The resend bit (63) is taken off. */
    long unique();

    /** The kernel sends this request again after the process that took it first went away: it may have been executed. */
    boolean resent();

    /** -1 where the kernel does not tell: of a session that allows id-mapped mounts, in requests that create nothing. */
    int uid();

    /** The same for the group. */
    int gid();

    /** Is it root who asks? False where that cannot be seen. May read a file of /proc. */
    default boolean isRoot() {
        return uid() == 0;
    }

    /** Does who asks belong to this group? False where that cannot be seen. May read a file of /proc. */
    boolean inGroup(int group);

    /**
     * Of write, fallocate, copy_file_range, and of open and create that cut: does the change come from somebody who may not leave
     * set-user-id and set-group-id on the file? See {@link Stat#withoutPrivileges}.
     */
    boolean killsPrivileges();

    /** Process that asks, as seen by the kernel of the mount; 0: none of this pid namespace. */
    int pid();

    /** Of mknod, mkdir and create; 0 otherwise. */
    int umask();

    /**
     * May this call wait (for a network, a disk, a lock)? If not, and the answer cannot be given at once, the file system
     * returns {@link FileSystem#WOULD_WAIT} without any effect; it is then called again on a thread where it may.
     */
    boolean mayWait();

    /** Has the caller been interrupted (a signal)? An operation that waits long looks here, and returns EINTR. */
    boolean interrupted();
}
