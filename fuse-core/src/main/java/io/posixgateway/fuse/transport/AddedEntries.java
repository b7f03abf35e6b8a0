package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.jni.Uring;
import java.util.ArrayList;
import java.util.List;

/**
 * Memory of the ring entries that queues of a session add when most of theirs wait. An entry counts as its header and the first page of
 * its payload, which stay; and as a whole while more of it was used. Any thread.
 */
final class AddedEntries {
    static final int MIN_PAGE_BYTES = 4096;
    private static final int NARROW_BYTES = Uring.HEADER_BYTES + MIN_PAGE_BYTES;
    static final long MAX_BYTES = MessageSlots.MAX_PARKED_BYTES;

    private final int strideBytes;
    private final ParkedMemory shared;
    /** Guarded by this. */
    private final List<Piece> mapped = new ArrayList<>();

    private long countedBytes;

    private record Piece(long address, long bytes) {}

    /** @param shared with other sessions */
    AddedEntries(int strideBytes, ParkedMemory shared) {
        this.strideBytes = strideBytes;
        this.shared = shared;
    }

    /** Address of so many entries; negative: there are to be no more. */
    synchronized long map(int count) {
        long bytes = (long) count * NARROW_BYTES;
        if (countedBytes + bytes > MAX_BYTES || !shared.take(bytes, countedBytes, false)) {
            return -1;
        }
        Piece piece = new Piece(Native.map((long) count * strideBytes), (long) count * strideBytes);
        if (piece.address() < 0) {
            shared.giveBack(bytes);
        } else {
            countedBytes += bytes;
            mapped.add(piece);
        }
        return piece.address();
    }

    /** What is used of an entry goes beyond its first pages. */
    synchronized void widened() {
        int bytes = strideBytes - NARROW_BYTES;
        shared.take(bytes, countedBytes, true);
        countedBytes += bytes;
    }

    /** Gives back what is used beyond the first pages of an entry that is the caller's. */
    void narrow(long address) {
        long page = Native.pageBytes();
        long begin = (address + NARROW_BYTES + page - 1) / page * page;
        long end = (address + strideBytes) / page * page;
        if (end > begin) {
            Native.discard(begin, end - begin);
        }
        synchronized (this) {
            int bytes = strideBytes - NARROW_BYTES;
            shared.giveBack(bytes);
            countedBytes -= bytes;
        }
    }

    /** Frees the memory. No entry may be in use any more. */
    synchronized void unmap() {
        mapped.forEach(piece -> Native.unmap(piece.address(), piece.bytes()));
        mapped.clear();
        shared.giveBack(countedBytes);
        countedBytes = 0;
    }
}
