package io.posixgateway.fuse.dispatch;

/**
 * The threads that all pools of a process have beyond what their sessions allow, in the place of those that are stuck: a server
 * that hangs does not cost a thread for each request of each session. A pool that has some gets none of the last quarter: it is for
 * those that have none yet. Any thread.
 */
final class ExtraThreads {
    /** About as much memory as a hundred thousand cached names take. */
    private static final int MAX = 1024;
    /** So many a pool may have from the last quarter. */
    static final int FIRST = 8;

    static final ExtraThreads OF_PROCESS = new ExtraThreads(MAX);

    private final int most;
    /** Guarded by this. */
    private int given;

    ExtraThreads(int most) {
        this.most = most;
    }

    /**
     * A pool would have another number of them.
     *
     * @param has so many, which this returned last; 0 at first
     * @param wants 0: it gives all back
     * @return how many it has from now on
     */
    synchronized int change(int has, int wants) {
        int free = most - given + has;
        int more = Math.max(free - most / 4, Math.min(free, FIRST));
        int granted = Math.min(wants, Math.max(has, more)); // what it has cannot be taken away: it is stuck
        given += granted - has;
        return granted;
    }
}
