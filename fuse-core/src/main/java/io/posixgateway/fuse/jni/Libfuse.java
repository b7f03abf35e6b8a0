package io.posixgateway.fuse.jni;

/** libfuse 2.9's session loop. A handle is valid from {@link #open} to {@link #close}. */
public final class Libfuse {
    static {
        NativeLoader.ensureAvailable();
    }

    private Libfuse() {}

    /** What libfuse's threads call. Each is a daemon thread of Java from its first call to its last. */
    public interface Target {
        /** A thread begins. Its lane's number in the upper half, the slot it reads into in the lower; negative: not now. */
        long enter();

        /** A message lies in the lane's slot. Twice the slot to read into next, plus 1 when a reply lies in the present one. */
        int handle(int lane, int bytes);

        /** The lane's thread ends. */
        void leave(int lane);
    }

    /** 0, or ENOSYS: this machine has no libfuse.so.2. */
    public static native int probe();

    /** @param geometry of the slots: address of the first, distance, place of the reply's header, bytes to read at most */
    public static native long open(int fd, Target target, long[] geometry);

    /** Serves until the connection ends or {@link #stop} is called. */
    public static native int run(long handle);

    /** Asks {@link #run} to return. May come too early: repeat until it has. */
    public static native void stop(long handle);

    /** After {@link #run} has returned. */
    public static native void close(long handle);
}
