package io.posixgateway.fuse.memory;

import io.posixgateway.fuse.time.Clock;
import java.time.Instant;

/** A time of the day as files keep it. */
record Moment(long seconds, int nanos) {
    static Moment of(Clock clock) {
        Instant instant = clock.instant();
        return new Moment(instant.getEpochSecond(), instant.getNano());
    }
}
