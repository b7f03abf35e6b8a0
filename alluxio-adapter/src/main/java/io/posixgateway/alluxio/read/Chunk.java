package io.posixgateway.alluxio.read;

import java.nio.ByteBuffer;

/** A part of a file that is fetched, or was. Guarded by the window that it is in. */
final class Chunk {
    /** What became of it. */
    private enum State {
        FETCHING,
        HERE,
        FAILED
    }

    private final long offset;
    private final int lengthBytes;
    private final ByteBuffer memory;
    private final boolean ahead;

    private State state = State.FETCHING;
    private boolean abandoned;
    private int hereBytes;
    private int copiedBytes;
    private int pins;

    /** @param ahead did nobody ask for it yet? */
    Chunk(long offset, int lengthBytes, ByteBuffer memory, boolean ahead) {
        this.offset = offset;
        this.lengthBytes = lengthBytes;
        this.memory = memory;
        this.ahead = ahead;
    }

    /** Is it being fetched before anybody asked? */
    boolean comesAhead() {
        return ahead && isFetching();
    }

    /** It is in no window any more, though it is being fetched, or pinned. */
    void abandon() {
        abandoned = true;
    }

    boolean isAbandoned() {
        return abandoned;
    }

    long offset() {
        return offset;
    }

    int lengthBytes() {
        return lengthBytes;
    }

    ByteBuffer memory() {
        return memory;
    }

    /** To be filled by who fetches it, who then says what came of it. */
    ByteBuffer room() {
        return memory.duplicate().position(0).limit(lengthBytes);
    }

    boolean covers(long at) {
        return at >= offset && at < offset + lengthBytes;
    }

    boolean isFetching() {
        return state == State.FETCHING;
    }

    /** @param count bytes that are here; 0: it failed, whoever wants a part of it asks for that */
    void fetched(int count) {
        hereBytes = count;
        state = count > 0 ? State.HERE : State.FAILED;
    }

    /** Has it what is there? Then it can be copied once it is pinned. */
    boolean has(long at) {
        return state == State.HERE && covers(at) && at - offset < hereBytes;
    }

    /** Its memory is being read. */
    void pin() {
        pins++;
    }

    boolean isPinned() {
        return pins > 0;
    }

    /** @param count bytes were copied since it was pinned */
    void unpin(int count) {
        pins--;
        copiedBytes += count;
    }

    /** Copies what it has of this part, as far as there is room. Without that guard, while it is pinned. */
    int copy(long at, ByteBuffer into) {
        int from = (int) (at - offset);
        int count = Math.min(hereBytes - from, into.remaining());
        into.put(into.position(), memory, from, count);
        into.position(into.position() + count);
        return count;
    }

    /** Fetched, and never copied. */
    int wastedBytes() {
        return Math.max(0, hereBytes - copiedBytes);
    }
}
