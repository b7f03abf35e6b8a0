package io.posixgateway.fuse.jni;

/**
 * The gateway's end of the bypass socket. One thread calls {@link #next} and answers; {@link #stop} is for any thread.
 * Results below 0 are negative errnos.
 */
public final class Bypass {
    /** Most blocks of one answer. */
    public static final int MAX_BLOCKS = 128;

    /** Fields of a question, as {@link #next} fills them in. */
    public static final int CONNECTION = 0;

    /** The file that the peer shows, to be closed with {@link #closeProof}; -1: it asks for devices. */
    public static final int PROOF = 1;

    /** How the proof was opened: flags of open(2). */
    public static final int FLAGS = 2;

    public static final int UID = 3;
    /** 0: the peer is in another pid namespace. */
    public static final int PID = 4;

    /** The proof's device and, if it is a regular file, inode; by what the kernel knows without asking. */
    public static final int MAJOR = 5;

    public static final int MINOR = 6;
    public static final int INODE = 7;
    /** What the peer has already; 0: nothing. */
    public static final int CONTENT = 8;

    public static final int PEER_MAX_BLOCKS = 9;
    /** 1: it showed one, which was not taken, as too many of the peer are not closed. */
    public static final int LIMITED = 10;

    /** Of the peer, for {@link #closeProof}. */
    public static final int PLACE = 11;

    public static final int FIELDS = 12;

    static {
        NativeLoader.ensureAvailable();
    }

    private Bypass() {}

    /** Listens for everybody, in the place of whoever did before; a server, which ends with {@link #close}. */
    public static native long listen(byte[] path);

    /** Waits for a question. ECANCELED: stopped. The caller closes connection and proof. */
    public static native int next(long server, long[] question);

    /** Closes a proof, which may take for ever. Any thread; a peer has as many proofs as are not closed, up to a limit. */
    public static native void closeProof(int proof, int place);

    /** Lets {@link #next} return. */
    public static native void stop(long server);

    /** After the last call of the others. */
    public static native void close(long server);

    /**
     * A folder whose files cannot be written through what is opened in it; EROFS: that cannot be had here.
     *
     * @param path relative to the root; empty: the root itself
     */
    public static native int folder(byte[] root, byte[] path);

    /**
     * Gives block files away.
     *
     * @param file content, length, length of a block, blocks, id of the first block
     * @return the verdict that went out, by its number
     */
    public static native int give(int connection, long[] file, int[] folders);

    /** Sends a verdict by its number. */
    public static native void tell(int connection, int bypassResult);

    /** @param pairs minor device number and least length of each volume */
    public static native void tellDevices(int connection, long[] pairs);
}
