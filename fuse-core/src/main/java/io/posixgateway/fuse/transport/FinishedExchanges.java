package io.posixgateway.fuse.transport;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Exchanges with their replies: a lock-free stack that any thread pushes to and one thread takes as a whole. */
final class FinishedExchanges {
    private final AtomicReference<@Nullable UringExchange> first = new AtomicReference<>();

    /** True: there was none, so the taking thread is to be woken. */
    boolean push(UringExchange exchange) {
        UringExchange before;
        do {
            before = first.get();
            exchange.next = before;
        } while (!first.compareAndSet(before, exchange));
        return before == null;
    }

    /** All of them, linked by {@link UringExchange#next}; null: there are none. */
    @Nullable
    UringExchange takeAll() {
        return first.getAndSet(null);
    }
}
