package io.posixgateway.fuse.transport;

/** What a transport gives its requests to. */
@FunctionalInterface
public interface RequestHandler {
    /** Handles one request to its end, or hands it over; never throws. Any transport thread, many at once. */
    void handle(Exchange exchange);
}
