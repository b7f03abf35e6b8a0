package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What a persistent session needs to remember beyond the life of the process that serves it: what was negotiated, and the
 * journal. Lies in a memfd that the keeper zeroed.
 *
 * <p>Page 0: magic, version, minor, flags, max_write, state, depth and address of the ring entries, what {@link SessionNotes} has,
 * files seen last. Then the journal's records. Behind the first MiB the ring entries, where the session travels over io_uring: the
 * kernel knows their addresses, so every process maps them where the first one did. A process that is killed leaves every store that it
 * made; the state is stored last.
 */
final class SessionMemory {
    private static final long MAGIC = 0x3153_5345_5357_4750L;
    private static final int VERSION = 1;
    /** With ring entries, which an older gateway would not find. */
    private static final int RING_VERSION = 2;

    private static final int MAGIC_AT = 0;
    private static final int VERSION_AT = 8;
    private static final int MINOR_AT = 12;
    private static final int FLAGS_AT = 16;
    private static final int MAX_WRITE_AT = 24;
    private static final int STATE_AT = 28;
    private static final int RING_DEPTH_AT = 32;
    private static final int RING_ADDRESS_AT = 40;
    private static final int FOLDER_AT = 48;
    private static final int ONLY_REFUSED_AT = 56;
    private static final int CLAIMED_AT = 60;
    private static final int FILES_AT = 1024;
    private static final int FILES = 256;
    private static final int NEGOTIATED = 1;

    private static final int JOURNAL_AT = 4096;
    private static final long MAX_BYTES = 1 << 20;
    private static final long MIN_BYTES = 2L * JOURNAL_AT;

    /** Neither heap nor libraries come near on any machine: behind the one, before the others. */
    private static final long RINGS_FROM = 0x2000_0000_0000L;

    private static final int RING_PLACES = 1024;

    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private final int fd;
    private final long address;
    private final ByteBuffer memory;
    private long ringAddress;
    private long ringBytes;
    /** Null: not asked for yet. */
    private @Nullable RequestJournal journal;
    /** Racy: a note may be lost. */
    private int noted;

    private long lastNoted;

    private SessionMemory(int fd, long address, int bytes) {
        this.fd = fd;
        this.address = address;
        this.memory = Native.buffer(address, bytes).order(ByteOrder.nativeOrder());
    }

    /** @param fd the memfd, the memory's from here on if this returns */
    static SessionMemory open(int fd) throws MountException {
        long bytes = Math.min(Native.fileBytes(fd), MAX_BYTES);
        if (bytes < MIN_BYTES) {
            throw new MountException(
                    "the session memory is " + bytes + " bytes",
                    "start the keeper with a session memory of at least " + MIN_BYTES);
        }
        long address = Native.mapShared(fd, bytes);
        if (address < 0) {
            throw new MountException(
                    "the session memory cannot be mapped (" + Native.errorText(address) + ")",
                    "free memory, and serve the session again");
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
        boolean known = version == VERSION || version == RING_VERSION;
        if ((magic != 0 && magic != MAGIC) || (magic == MAGIC && !known)) {
            throw new MountException(
                    "the session memory has version " + version + ", and this process supports " + RING_VERSION,
                    "serve the session with that version, or unmount it and mount it again");
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
        memory.putInt(VERSION_AT, outcome.has(InitFeature.OVER_IO_URING) ? RING_VERSION : VERSION);
        memory.putInt(MINOR_AT, outcome.minor());
        memory.putLong(FLAGS_AT, outcome.flags());
        memory.putInt(MAX_WRITE_AT, outcome.maxWriteBytes());
        INT.setRelease(memory, STATE_AT, NEGOTIATED);
    }

    /** Entries of each queue, as they were agreed upon; of a session that travels over io_uring. */
    int ringDepth() {
        return memory.getInt(RING_DEPTH_AT);
    }

    /** Maps ring entries at a free place and remembers it: before INIT is answered. */
    long newRings(int depth, long bytes) throws MountException {
        int enlarged = Native.enlarge(fd, MAX_BYTES + bytes);
        if (enlarged < 0) {
            throw notMapped(enlarged);
        }
        memory.putInt(RING_DEPTH_AT, depth);
        long spacing = Math.max(Long.highestOneBit(bytes - 1) << 1, 1L << 30);
        int first = ThreadLocalRandom.current().nextInt(RING_PLACES);
        int result = 0;
        for (int i = 0; i < RING_PLACES; i++) {
            long place = RINGS_FROM + (first + i) % RING_PLACES * spacing;
            result = mapRings(place, bytes);
            if (result == 0) {
                memory.putLong(RING_ADDRESS_AT, place);
                return place;
            }
        }
        throw notMapped(result);
    }

    /** Maps the ring entries of an earlier process where it had them. */
    long earlierRings(long bytes) throws MountException {
        long place = memory.getLong(RING_ADDRESS_AT);
        int result = Native.fileBytes(fd) < MAX_BYTES + bytes ? -Errno.EINVAL : mapRings(place, bytes);
        if (result < 0) {
            throw notMapped(result);
        }
        return place;
    }

    private int mapRings(long place, long bytes) {
        int result = Native.mapAt(fd, MAX_BYTES, bytes, place);
        if (result == 0) {
            ringAddress = place;
            ringBytes = bytes;
        }
        return result;
    }

    private static MountException notMapped(long result) {
        return new MountException(
                "the session's ring entries cannot be mapped (" + Native.errorText(result) + ")",
                "restart this gateway, or unmount the session and mount it again with transport devfuse");
    }

    /** See {@link SessionNotes#folder}. */
    long folder() {
        return memory.getLong(FOLDER_AT);
    }

    /** One store: whoever is killed over it leaves the one or the other. */
    void folderIs(long id) {
        memory.putLong(FOLDER_AT, id);
    }

    /** See {@link SessionNotes#servedBefore}. */
    boolean onlyRefused() {
        return memory.getInt(ONLY_REFUSED_AT) != 0;
    }

    void onlyRefusedIs(boolean is) {
        memory.putInt(ONLY_REFUSED_AT, is ? 1 : 0);
    }

    /** See {@link SessionNotes#claimed()}. */
    boolean claimed() {
        return memory.getInt(CLAIMED_AT) != 0;
    }

    void claimedIs(boolean is) {
        memory.putInt(CLAIMED_AT, is ? 1 : 0);
    }

    /** The kernel was told of this regular file. Any thread. */
    void note(long file) {
        if (file != lastNoted) {
            lastNoted = file;
            memory.putLong(FILES_AT + (noted++ & (FILES - 1)) * Long.BYTES, file);
        }
    }

    /** Regular files that the kernel was told of, in this process and the one before it. */
    long[] files() {
        return LongStream.range(0, FILES)
                .map(i -> memory.getLong(FILES_AT + (int) i * Long.BYTES))
                .filter(file -> file != 0)
                .toArray();
    }

    /** The journal, once per process. */
    RequestJournal journal() {
        journal = new RequestJournal(
                memory.slice(JOURNAL_AT, memory.capacity() - JOURNAL_AT).order(ByteOrder.nativeOrder()));
        return journal;
    }

    /** Unmaps; nobody may use it any more. The descriptor is the caller's again. */
    void unmap() {
        if (ringBytes > 0) {
            Native.unmap(ringAddress, ringBytes);
        }
        Native.unmap(address, memory.capacity());
    }

    /** See {@link RequestJournal#leave}. */
    void leaveRequests() {
        if (journal != null) {
            journal.leave();
        }
    }

    /**
     * Closes the descriptor.
     *
     * @param unused nobody uses the memory any more, so that it is unmapped; false: a request goes on, which then writes nothing into the
     *     journal
     */
    void close(boolean unused) {
        if (journal != null) {
            journal.close();
        }
        if (unused) {
            unmap();
        }
        Native.close(fd);
    }
}
