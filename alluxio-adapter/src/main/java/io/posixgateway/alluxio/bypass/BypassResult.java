package io.posixgateway.alluxio.bypass;

import java.util.Locale;

/** What a program is told; the numbers are those of {@code fuse-core/src/main/c/bypass/protocol.h}. */
public enum BypassResult {
    GIVEN(0),
    SAME(1),
    DEVICES_ARE(2),
    FOREIGN(3),
    NOT_READING(4),
    NOT_COMPLETE(5),
    SMALL(6),
    BLOCKS_MANY(7),
    NOT_LOCAL(8),
    UNSAFE(9),
    LIMITED(10),
    WRITABLE(11);

    private final int number;

    BypassResult(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    static BypassResult of(int number) {
        for (BypassResult bypassResult : values()) {
            if (bypassResult.number == number) {
                return bypassResult;
            }
        }
        throw new IllegalArgumentException("no verdict has the number " + number);
    }

    /** Is it a refusal? */
    boolean refuses() {
        return number > DEVICES_ARE.number;
    }

    /** As a label of metrics. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
