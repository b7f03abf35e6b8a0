package io.posixgateway.alluxio.fs;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/** Numbers of handles, which begin anywhere in 62 bits: those of one process never meet another's. Any thread. */
final class HandleIds {
    private final long origin = ThreadLocalRandom.current().nextLong(1L << 62);
    private final AtomicLong count = new AtomicLong();

    long next() {
        return origin + count.incrementAndGet();
    }

    /** Was this number given here? */
    boolean issuedHere(long number) {
        long index = number - origin;
        return index > 0 && index <= count.get();
    }
}
