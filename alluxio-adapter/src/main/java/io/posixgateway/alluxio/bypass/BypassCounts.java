package io.posixgateway.alluxio.bypass;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Answers of one volume, by verdict. Any thread. */
public final class BypassCounts {
    private final Map<BypassResult, LongAdder> counts = new EnumMap<>(BypassResult.class);

    public BypassCounts() {
        for (BypassResult bypassResult : BypassResult.values()) {
            counts.put(bypassResult, new LongAdder());
        }
    }

    void count(BypassResult bypassResult) {
        adder(bypassResult).increment();
    }

    private LongAdder adder(BypassResult bypassResult) {
        LongAdder adder = counts.get(bypassResult);
        if (adder == null) {
            throw new IllegalStateException("no counter for " + bypassResult);
        }
        return adder;
    }

    /** Opens that were given their blocks. */
    public long opens() {
        return adder(BypassResult.GIVEN).sum() + adder(BypassResult.SAME).sum();
    }

    /** Opens that were refused so. */
    public long refused(BypassResult bypassResult) {
        return bypassResult.refuses() ? adder(bypassResult).sum() : 0;
    }
}
