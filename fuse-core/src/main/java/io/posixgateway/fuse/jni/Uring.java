package io.posixgateway.fuse.jni;

import java.nio.ByteBuffer;

/**
 * One queue of FUSE-over-io_uring. All but {@link #wake} belong to the thread that opened the queue; a ring is valid from
 * {@link #open} to {@link #close}.
 */
public final class Uring {
    /** A slot begins with its header, filled up to this; the payload follows. */
    public static final int HEADER_BYTES = 4096;

    /** The operation's arguments, in the header. */
    public static final int ARGUMENTS_AT = 128;

    /** struct fuse_uring_ent_in_out's payload_sz, in the header. */
    public static final int PAYLOAD_SIZE_AT = 256 + 16;

    /** struct fuse_uring_ent_in_out's commit_id, in the header: the request's number. */
    public static final int COMMIT_ID_AT = 256 + 8;

    /** With less, Linux 6.18 may come to a BUG. */
    public static final int MIN_PAYLOAD_BYTES = 68 * 1024;

    static {
        NativeLoader.ensureAvailable();
    }

    private Uring() {}

    /** Can this process make such a ring? 0, or why not. */
    public static native int probe();

    /** May a thread of this process stand back (SCHED_IDLE) and come forward again? */
    public static native boolean canStandBack();

    /** How many queues a connection needs: one per possible CPU. */
    public static native int queues();

    /**
     * Makes the ring, gives this thread a seat on the queue's CPU, registers every slot.
     *
     * @param geometry descriptor, queue, depth, address of the slots, bytes of a payload, 1 if the thread may stand back, 1 if
     *     the slots outlive this process and 2 if moreover they hold what an earlier process left, slots there may ever be
     * @param box direct, of twice as many ints: slots that are ready, then slots to commit
     */
    public static native long open(long[] geometry, ByteBuffer box);

    /**
     * Commits replies and waits for requests.
     *
     * @param commits slots in the box's second half
     * @param spinMicros look this long before sleeping
     * @return slots in the box's first half; 0: woken. ENOTCONN: the connection has ended
     */
    public static native int enter(long ring, int commits, int spinMicros);

    /**
     * Registers more slots. Not where slots outlive this process.
     *
     * @param address of the first of them; they stay there until {@link #close}
     */
    public static native void grow(long ring, long address, int count);

    /** Commits without waiting: the last of the thread's calls but for {@link #close}. */
    public static native void flush(long ring, int commits);

    /** Makes {@link #enter} return. */
    public static native void wake(long ring);

    /** Where the slots outlive this process: by another thread, after the queue's thread has ended in the kernel's eyes. */
    public static native void close(long ring);
}
