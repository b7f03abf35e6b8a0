package io.posixgateway.fuse.session;

import org.jspecify.annotations.Nullable;

/**
 * A session that somebody else (the keeper) mounted and holds: who has these two descriptors can serve it.
 *
 * @param fuseFd of the connection
 * @param memoryFd of the session memory, a memfd that outlives the process which serves
 * @param target where it is mounted, as its keeper sees it; for messages
 * @param readOnly mounted read-only
 * @param takes how often it was taken before
 * @param device "major:minor" of the mount; null: the keeper does not tell
 * @param notices writes those that may wait in the kernel; null: the process that serves does it itself
 */
public record KeptSession(
        int fuseFd,
        int memoryFd,
        String target,
        boolean readOnly,
        int takes,
        @Nullable String device,
        @Nullable NoticeCarrier notices) {}
