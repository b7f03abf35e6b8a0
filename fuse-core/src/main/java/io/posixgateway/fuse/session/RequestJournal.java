package io.posixgateway.fuse.session;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Which requests with side effects were begun and done, so that the next process does not do them twice.
 *
 * <p>A ring of records {unique, state, result}, written in order of beginning. One that is begun in this process is passed
 * over until it is done; all else is overwritten when its turn comes again, which is thousands of changes later, while a
 * request is asked again at once. Writing starts behind the newest record that an earlier process left. Any thread: a record
 * belongs to the thread that claimed it in {@link #busy}; its state is stored last.
 */
final class RequestJournal {
    static final int NONE = -1;

    private static final int RECORD_BYTES = 16;
    private static final int STATE_AT = 8;
    private static final int RESULT_AT = 12;
    private static final int BEGUN = 1;
    private static final int DONE = 2;
    private static final int TRIES = 64;

    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private final ByteBuffer records;
    private final int count;
    private final AtomicIntegerArray busy;
    private final AtomicInteger next;
    private volatile boolean left;
    private volatile boolean closed;

    /** @param records direct, native order, zeroed or left by an earlier process */
    RequestJournal(ByteBuffer records) {
        this.records = records;
        this.count = records.capacity() / RECORD_BYTES;
        this.busy = new AtomicIntegerArray(count);
        this.next = new AtomicInteger(newest() + 1);
    }

    private int newest() {
        int found = -1;
        long unique = 0;
        for (int i = 0; i < count; i++) {
            long candidate = records.getLong(i * RECORD_BYTES);
            if (Long.compareUnsigned(candidate, unique) > 0) {
                found = i;
                unique = candidate;
            }
        }
        return found;
    }

    /** The record of this request; {@link #NONE}: it was never begun. Reads all: only for requests that come again. */
    int find(long unique) {
        for (int i = 0; i < count; i++) {
            if (records.getLong(i * RECORD_BYTES) == unique && state(i) != 0) {
                return i;
            }
        }
        return NONE;
    }

    private int state(int record) {
        return (int) INT.getAcquire(records, record * RECORD_BYTES + STATE_AT);
    }

    boolean done(int record) {
        return state(record) == DONE;
    }

    /** 0 or a negative errno, of one that is done. */
    int result(int record) {
        return records.getInt(record * RECORD_BYTES + RESULT_AT);
    }

    /**
     * Before a change is made. {@link #NONE} when so many are under way that no record is to be had.
     *
     * @param before the record of an earlier process for the same request, to be used again; or NONE
     */
    int begin(long unique, int before) {
        if (closed) {
            return NONE;
        }
        if (before != NONE && busy.compareAndSet(before, 0, 1)) {
            return before;
        }
        for (int i = 0; i < TRIES; i++) {
            int record = Math.floorMod(next.getAndIncrement(), count);
            if (busy.compareAndSet(record, 0, 1)) {
                int at = record * RECORD_BYTES;
                INT.setRelease(records, at + STATE_AT, 0);
                records.putLong(at, unique);
                INT.setRelease(records, at + STATE_AT, BEGUN);
                return record;
            }
        }
        return NONE;
    }

    /** After it is made, before it is answered. */
    void done(int record, int result) {
        if (closed) {
            return;
        }
        if (left && result < 0) {
            end(record, BEGUN);
            return;
        }
        records.putInt(record * RECORD_BYTES + RESULT_AT, result);
        end(record, DONE);
    }

    /** What is in flight is left to the next process: from now on what fails, as of an interrupt, counts as begun and no more. */
    void leave() {
        left = true;
    }

    /** From now on nothing is written: the records are the next process's. */
    void close() {
        closed = true;
    }

    /** It had no effect now, and will be begun anew; whether it had one in an earlier process stays as it was. */
    void cancel(int record, int before) {
        if (closed) {
            return;
        }
        end(record, record == before ? BEGUN : 0);
    }

    private void end(int record, int state) {
        INT.setRelease(records, record * RECORD_BYTES + STATE_AT, state);
        busy.set(record, 0);
    }
}
