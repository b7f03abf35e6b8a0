package io.posixgateway.alluxio.meta;

import io.posixgateway.fuse.spi.Name;
import java.util.HashMap;
import java.util.Map;

/** Names of a directory that this mount changed with unknown outcome, and until when that may be done yet. Guarded by its {@link Dentries}. */
final class NamesInFlight {
    private final Map<Name, Long> all = new HashMap<>(2);

    /** No response shortens how long a name counts as in flight. */
    void add(Name name, long untilNanos) {
        all.merge(name.copy(), untilNanos, (before, now) -> now - before > 0 ? now : before);
    }

    boolean has(Name name) {
        return all.containsKey(name);
    }

    /** Returns whether none is left. */
    boolean isEmpty(long nowNanos) {
        all.values().removeIf(until -> until - nowNanos <= 0);
        return all.isEmpty();
    }
}
