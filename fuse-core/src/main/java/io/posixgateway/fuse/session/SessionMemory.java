package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * What a kept session needs to remember beyond the life of the process that serves it: what was negotiated, and the
 * journal. Lies in a memfd that the keeper zeroed.
 *
 * <p>Page 0: magic, version, minor, flags, max_write, state. Then the journal's records. A process that is killed leaves
 * every store that it made; the state is stored last.
 */
final class SessionMemory {
    private static final long MAGIC = 0x3153_5345_5357_4750L;
    private static final int VERSION = 1;
    private static final int MAGIC_AT = 0;
    private static final int VERSION_AT = 8;
    private static final int MINOR_AT = 12;
    private static final int FLAGS_AT = 16;
    private static final int MAX_WRITE_AT = 24;
    private static final int STATE_AT = 28;
    private static final int NEGOTIATED = 1;

    private static final int JOURNAL_AT = 4096;
    private static final long MAX_BYTES = 1 << 20;
    private static final long LEAST_BYTES = 2L * JOURNAL_AT;

    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private final int fd;
    private final long address;
    private final ByteBuffer memory;

    private SessionMemory(int fd, long address, int bytes) {
        this.fd = fd;
        this.address = address;
        this.memory = Native.buffer(address, bytes).order(ByteOrder.nativeOrder());
    }

    /** @param fd the memfd, the memory's from here on if this returns */
    static SessionMemory open(int fd) throws MountException {
        long bytes = Math.min(Native.fileBytes(fd), MAX_BYTES);
        if (bytes < LEAST_BYTES) {
            throw new MountException(
                    "the session memory is " + bytes + " bytes", "have the keeper make at least " + LEAST_BYTES);
        }
        long address = Native.mapShared(fd, bytes);
        if (address < 0) {
            throw new MountException(
                    "the session memory cannot be mapped (" + Native.errorText(address) + ")",
                    "take the session again");
        }
        SessionMemory memory = new SessionMemory(fd, address, (int) bytes);
        try {
            memory.check();
        } catch (MountException e) {
            Native.unmap(address, bytes);
            throw e;
        }
        return memory;
    }

    private void check() throws MountException {
        long magic = memory.getLong(MAGIC_AT);
        int version = memory.getInt(VERSION_AT);
        if ((magic != 0 && magic != MAGIC) || (magic == MAGIC && version != VERSION)) {
            throw new MountException(
                    "the session memory was written by another version (" + version + ", this one writes " + VERSION
                            + ")",
                    "serve the session with that version, or unmount it and mount it anew");
        }
    }

    /** What was negotiated by whoever served first, or null. */
    @Nullable
    Negotiated negotiated() {
        if ((int) INT.getAcquire(memory, STATE_AT) != NEGOTIATED) {
            return null;
        }
        return new Negotiated(memory.getInt(MINOR_AT), memory.getLong(FLAGS_AT), memory.getInt(MAX_WRITE_AT));
    }

    /** Before the kernel hears of it. */
    void store(Negotiated outcome) {
        memory.putLong(MAGIC_AT, MAGIC);
        memory.putInt(VERSION_AT, VERSION);
        memory.putInt(MINOR_AT, outcome.minor());
        memory.putLong(FLAGS_AT, outcome.flags());
        memory.putInt(MAX_WRITE_AT, outcome.maxWriteBytes());
        INT.setRelease(memory, STATE_AT, NEGOTIATED);
    }

    /** The journal, once per process. */
    Journal journal() {
        return new Journal(
                memory.slice(JOURNAL_AT, memory.capacity() - JOURNAL_AT).order(ByteOrder.nativeOrder()));
    }

    /** Unmaps and closes; nobody may use it any more. */
    void close() {
        Native.unmap(address, memory.capacity());
        Native.close(fd);
    }
}
