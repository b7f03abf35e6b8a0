package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import org.jspecify.annotations.Nullable;

/**
 * A session that somebody else (the keeper) mounted and holds: who has its connection and its memory can serve it.
 *
 * @param fuseFd of the connection
 * @param cloneFd of the connection, too, made by FUSE_DEV_IOC_CLONE for this process, and nobody else has it; -1: the keeper
 *     makes none, and the process makes its own where it needs one
 * @param lockFd a file to hold as long as this process has the session, by whose lock others see that it lives; -1: the keeper
 *     gave none
 * @param memoryFd of the session memory, a memfd that outlives the process which serves
 * @param target where it is mounted, as its keeper sees it; for messages
 * @param readOnly mounted read-only
 * @param takes how often it was taken before
 * @param device "major:minor" of the mount; null: the keeper does not tell
 * @param notifications writes those that may wait in the kernel; null: the process that serves does it itself
 */
public record PersistentSession(
        int fuseFd,
        int cloneFd,
        int lockFd,
        int memoryFd,
        String target,
        boolean readOnly,
        int takes,
        @Nullable String device,
        @Nullable NotificationProxy notifications) {
    /** Closes the descriptors; for whoever will not serve. */
    public void close() {
        for (int fd : new int[] {fuseFd, cloneFd, memoryFd, lockFd}) {
            if (fd >= 0) {
                Native.close(fd);
            }
        }
    }
}
