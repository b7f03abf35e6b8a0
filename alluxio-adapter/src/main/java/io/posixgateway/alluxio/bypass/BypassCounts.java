package io.posixgateway.alluxio.bypass;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Answers of one volume, by verdict. Any thread. */
public final class BypassCounts {
    private final Map<Verdict, LongAdder> counts = new EnumMap<>(Verdict.class);

    public BypassCounts() {
        for (Verdict verdict : Verdict.values()) {
            counts.put(verdict, new LongAdder());
        }
    }

    void count(Verdict verdict) {
        adder(verdict).increment();
    }

    private LongAdder adder(Verdict verdict) {
        LongAdder adder = counts.get(verdict);
        if (adder == null) {
            throw new IllegalStateException("no counter for " + verdict);
        }
        return adder;
    }

    /** Opens that were given their blocks. */
    public long opens() {
        return adder(Verdict.GIVEN).sum() + adder(Verdict.SAME).sum();
    }

    /** Opens that were refused so. */
    public long refused(Verdict verdict) {
        return verdict.refuses() ? adder(verdict).sum() : 0;
    }
}
