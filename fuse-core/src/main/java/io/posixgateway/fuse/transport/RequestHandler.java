package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.time.Supervised;

/** What a transport gives its requests to. */
@FunctionalInterface
public interface RequestHandler {
    /** Handles one request to its end, or hands it over; never throws. Any transport thread, many at once. */
    void handle(Exchange exchange);

    /** As {@link #handle}, on a thread that goes on all the same if it throws: a mount that lost its threads would hang. */
    @SuppressWarnings("CatchingUnchecked")
    default void handleAndGoOn(Exchange exchange) {
        try {
            handle(exchange);
        } catch (Throwable failure) {
            Supervised.failed("Handling a request", failure);
        }
    }
}
