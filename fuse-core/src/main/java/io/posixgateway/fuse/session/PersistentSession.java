package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import java.io.IOException;
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
 * @param claim keeps every other process from it while this one serves; null: none was made
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
        @Nullable NotificationProxy notifications,
        @Nullable LifeLock claim) {
    /**
     * The same, which no other process claims while this one has it and can do anything. One that was killed has it no more, whatever
     * its threads wait for. Null: another one has it, or a session of this process.
     *
     * @throws IOException it cannot be claimed here
     */
    public @Nullable PersistentSession claimed() throws IOException {
        LifeLock taken = LifeLock.tryTake(memoryFd);
        return taken == null
                ? null
                : new PersistentSession(
                        fuseFd, cloneFd, lockFd, memoryFd, target, readOnly, takes, device, notifications, taken);
    }

    /** Closes the descriptors, and gives up the claim; for whoever will not serve. */
    public void close() {
        closeClaim();
        for (int fd : new int[] {fuseFd, cloneFd, memoryFd, lockFd}) {
            if (fd >= 0) {
                Native.close(fd);
            }
        }
    }

    void closeClaim() {
        if (claim != null) {
            claim.close();
        }
    }
}
