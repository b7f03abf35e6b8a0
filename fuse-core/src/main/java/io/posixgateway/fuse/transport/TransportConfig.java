package io.posixgateway.fuse.transport;

/**
 * How much a transport may take.
 *
 * @param maxWriteBytes largest read or write that the session negotiates
 * @param threads devfuse: receiving threads
 * @param queueDepth uring: entries per queue
 * @param spinMicros uring: look for work this long before sleeping
 * @param standBack uring: the threads let the programs that they serve go first
 */
public record TransportConfig(int maxWriteBytes, int threads, int queueDepth, int spinMicros, boolean standBack) {
    /** The same with another depth. */
    public TransportConfig withDepth(int depth) {
        return new TransportConfig(maxWriteBytes, threads, depth, spinMicros, standBack);
    }
}
