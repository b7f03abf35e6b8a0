package io.posixgateway.bench;

/** What the benchmarks' files hold: 'a' + offset % 4096 % 23. */
final class Pattern {
    private static final int PERIOD = 4096;

    private Pattern() {}

    /** Enough bytes to copy {@code most} from any {@link #phase}. */
    static byte[] bytes(int most) {
        byte[] bytes = new byte[most + PERIOD];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) ('a' + i % PERIOD % 23);
        }
        return bytes;
    }

    /** Where a read at this offset begins. */
    static int phase(long offset) {
        return (int) (offset % PERIOD);
    }
}
