package io.posixgateway.fuse.transport;

/**
 * The memory of parked requests that all sessions of a process have together, so that those of one tenant do not end the process
 * for all. The last quarter is for sessions that have little of it. Any thread.
 */
final class ParkedMemory {
    private static final long MAX_BYTES = 256L << 20;
    /** So much a session may have from the last quarter. */
    static final long FIRST_BYTES = 4L << 20;

    static final ParkedMemory OF_PROCESS = new ParkedMemory(MAX_BYTES);

    private final long most;
    /** Guarded by this. */
    private long taken;

    ParkedMemory(long mostBytes) {
        this.most = mostBytes;
    }

    /**
     * @param has what the session has already
     * @param always it has to be
     * @return false: there is not so much, and nothing was taken
     */
    synchronized boolean take(long bytes, long has, boolean always) {
        long limit = has + bytes <= FIRST_BYTES ? most : most - most / 4;
        if (!always && taken + bytes > limit) {
            return false;
        }
        taken += bytes;
        return true;
    }

    synchronized void giveBack(long bytes) {
        taken -= bytes;
    }
}
