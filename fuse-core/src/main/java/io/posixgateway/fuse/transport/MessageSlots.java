package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.time.Clock;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a session in one piece of memory, which takes room only where it has been used; the slot used last is given
 * out first. Requests that wait for long, or find no slot, are parked beside them, each in memory of its own. Memory of slots
 * that nobody needed for a while is given back to the machine. Any thread.
 */
final class MessageSlots {
    private static final int MIN_PAGE_BYTES = 4096;

    /** The kernel wants room for the largest write and its header; the reply lies behind the first page. */
    private static final int EXTRA_BYTES = 8192;

    /**
     * Most memory of parked requests, replies that are being made left out. It has to be bounded, as programs may have any number of
     * writes in flight; beyond it a thread is held up, and what comes next stays with the kernel.
     */
    static final long MAX_PARKED_BYTES = 64L << 20;

    /** Of that for requests of one page alone, thousands of them, which writes leave free. */
    static final long SMALL_BYTES = 16L << 20;

    private final Clock clock;
    private final long address;
    private final int stride;
    private final MessageSlot[] free;
    /** Guarded by this, as {@link #free} and {@link #outstanding}. */
    private int freeCount;

    private int outstanding;
    private long parkedBytes;
    /** So many at the bottom of free were there all the time since {@link #rest}. */
    private int idle;

    private boolean unmapped;
    private final ParkedMemory shared;

    MessageSlots(int count, int maxWriteBytes, Clock clock) {
        this(count, maxWriteBytes, clock, ParkedMemory.OF_PROCESS);
    }

    /** @param shared with other sessions */
    MessageSlots(int count, int maxWriteBytes, Clock clock, ParkedMemory shared) {
        this.clock = clock;
        this.shared = shared;
        stride = maxWriteBytes + EXTRA_BYTES;
        address = Native.map((long) count * stride);
        if (address < 0) {
            throw new OutOfMemoryError("no memory for " + count + " slots of " + stride + " bytes");
        }
        free = new MessageSlot[count];
        for (int i = count - 1; i >= 0; i--) {
            long at = address + (long) i * stride;
            free[freeCount++] =
                    new MessageSlot(this, i, at, Native.buffer(at, stride).order(ByteOrder.nativeOrder()));
        }
        idle = count;
        RestingSlots.add(this);
    }

    /**
     * Makes the pages be there that nearly every request needs, before the kernel copies into them: a thread that is being killed
     * gets no new ones, and the request that was on its way to it would fail with EIO. Before the first slot is in use.
     */
    synchronized void touch() {
        for (long slot = 0; slot < free.length; slot++) {
            ByteBuffer memory = Native.buffer(address + slot * stride, EXTRA_BYTES);
            for (int at = 0; at < EXTRA_BYTES; at += MIN_PAGE_BYTES) {
                memory.put(at, (byte) 0);
            }
        }
    }

    /** A free slot, or null. */
    synchronized @Nullable MessageSlot take() {
        if (freeCount == 0) {
            return null;
        }
        idle = Math.min(idle, --freeCount);
        return free[freeCount];
    }

    /** Frees a slot. */
    synchronized void give(MessageSlot slot) {
        slot.used = true;
        free[freeCount++] = slot;
    }

    /** Gives back the memory of the slots that were free since this was called before, but for the pages of {@link #touch}. */
    void rest() {
        int next = 0;
        while (next >= 0) {
            next = restOne(next);
        }
    }

    /** Looks at free slots from this one on; negative: at no more, and what is free counts as idle from now on. */
    private synchronized int restOne(int from) {
        for (int i = from; i < idle && !unmapped; i++) {
            MessageSlot slot = free[i];
            if (slot.used) {
                long page = Native.pageBytes();
                long begin = (slot.address() + EXTRA_BYTES + page - 1) / page * page;
                long end = (slot.address() + stride) / page * page;
                Native.discard(begin, end - begin);
                slot.used = false;
                return i + 1;
            }
        }
        idle = freeCount;
        return -1;
    }

    /** A copy of a slot's request that takes none of the slots; null: there is no room for it. */
    synchronized @Nullable MessageSlot park(MessageSlot slot, int messageBytes) {
        long bytes = pages(messageBytes);
        int needed = Math.max(messageBytes, MessageSlot.REPLY_AT + slot.mostReplyBytes());
        int mapped = Math.min(stride, pages(needed));
        long most = bytes == MIN_PAGE_BYTES ? MAX_PARKED_BYTES : MAX_PARKED_BYTES - SMALL_BYTES;
        boolean always = slot.hasToBeDone();
        boolean fits = parkedBytes + bytes <= most || always;
        if (!fits || !shared.take(bytes, parkedBytes, always)) {
            return null;
        }
        MessageSlot parked = null;
        try {
            long at = Native.map(mapped);
            parked = at < 0 ? null : parked(slot, at, mapped);
        } finally {
            if (parked == null) {
                shared.giveBack(bytes);
            }
        }
        if (parked != null) {
            parkedBytes += bytes;
            outstanding++;
        }
        return parked;
    }

    private static MessageSlot parked(MessageSlot slot, long at, int mapped) {
        boolean made = false;
        try {
            ByteBuffer memory = Native.buffer(at, mapped).order(ByteOrder.nativeOrder());
            MessageSlot parked = MessageSlot.parked(slot, at, memory);
            made = true;
            return parked;
        } finally {
            if (!made) {
                Native.unmap(at, mapped);
            }
        }
    }

    /** The pages that so many bytes touch, and at least one. */
    private static int pages(int bytes) {
        return (bytes / MIN_PAGE_BYTES + 1) * MIN_PAGE_BYTES;
    }

    /** A slot went over to another thread. */
    synchronized void handedOver() {
        outstanding++;
    }

    /** And is answered, as is a parked one: frees it. */
    synchronized void handedBack(MessageSlot slot) {
        outstanding--;
        if (slot.isParked()) {
            long bytes = pages(slot.messageBytes());
            parkedBytes -= bytes;
            shared.giveBack(bytes);
            Native.unmap(slot.address(), slot.capacity());
        } else {
            give(slot);
        }
        notifyAll();
    }

    /** Address, distance, place of the reply's header and bytes to read at most, as natives want them. */
    long[] geometry() {
        return new long[] {address, stride, MessageSlot.REPLY_AT - 16, stride};
    }

    /** For the session's line. */
    String describe() {
        return "slots " + free.length + " memory " + (((long) free.length * stride) >> 20) + " MiB";
    }

    /** Waits until no slot is handed over; false on time-out. */
    synchronized boolean awaitAnswered(long timeoutNanos) throws InterruptedException {
        long end = clock.nanos() + timeoutNanos;
        while (outstanding > 0) {
            long left = end - clock.nanos();
            if (left <= 0) {
                return false;
            }
            clock.waitOn(this, left);
        }
        return true;
    }

    /** Frees the memory. No slot may be in use any more. */
    synchronized void unmap() {
        unmapped = true;
        RestingSlots.remove(this);
        Native.unmap(address, (long) free.length * stride);
    }
}
