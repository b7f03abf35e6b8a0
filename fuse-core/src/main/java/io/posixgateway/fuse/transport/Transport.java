package io.posixgateway.fuse.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * Carries the messages of one session. Life: {@link #start}, then requests come until unmount, abort or {@link #close}.
 */
public interface Transport {
    /** "libfuse", "devfuse" or "uring". */
    String name();

    /** Starts the threads that receive; returns at once. The handler gets INIT first, unless the session was taken over. */
    void start(RequestHandler handler);

    /**
     * Waits until INIT is answered and every thread that serves has its place.
     *
     * @throws IOException saying why it will not come to that, or that the time is over
     */
    void awaitReady(long timeoutNanos) throws IOException, InterruptedException;

    /** Threads that can hold a request at the same time, and slots in all: for the session's line. */
    String geometry();

    /** Writes a notification (struct fuse_out_header with unique 0 and what follows); 0 or a negative errno. Any thread. */
    int notify(ByteBuffer message, int bytes);

    /**
     * Has it told, before {@link #start}, that it cannot serve the connection any more though that lives.
     *
     * @param told hears why, on a thread of the transport, which then ends
     */
    default void whenBroken(Consumer<String> told) {}

    /** Has the connection ended (unmounted, aborted)? */
    boolean ended();

    /** Waits for the end; false on time-out. */
    boolean await(long timeoutNanos) throws InterruptedException;

    /**
     * Stops receiving and waits, for a bounded time, for the threads that do. Requests handed over can still be answered.
     * Idempotent.
     */
    void stop();

    /**
     * Stops, waits for requests handed over, frees buffers; the wait is bounded, and what is still in use then is not freed.
     * Idempotent. The connection itself belongs to the session.
     *
     * @return false: some thread is still busy with a request, and will use the connection's descriptor and memory once more
     */
    boolean close();
}
