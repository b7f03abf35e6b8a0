package io.posixgateway.alluxio.harness;

import java.util.Arrays;
import java.util.Random;

/** Changes bytes for a fuzz test: some of them, numbers, their order, and how many there are. Repeated by its seed. */
public final class ByteMutator {
    private static final byte[][] NUMBERS = {
        {0, 0, 0, 0}, {-1, -1, -1, -1}, {127, -1, -1, -1}, {-128, 0, 0, 0}, {0, 0, -1, -1}, {0, 0, 1, 0}
    };
    private static final int MAX_BYTES = 1 << 16;

    private final Random random;

    public ByteMutator(long seed) {
        this.random = new Random(seed);
    }

    /** The same with one to four changes. */
    public byte[] changed(byte[] seed) {
        byte[] bytes = seed.clone();
        for (int changes = 1 + random.nextInt(4); changes > 0 && bytes.length > 0; changes--) {
            int at = random.nextInt(bytes.length);
            switch (random.nextInt(5)) {
                case 0 -> bytes[at] = (byte) random.nextInt();
                case 1 -> put(bytes, at & ~3, NUMBERS[random.nextInt(NUMBERS.length)]);
                case 2 -> bytes = Arrays.copyOf(bytes, at);
                case 3 -> bytes = twice(bytes, at);
                default -> put(bytes, at, Arrays.copyOfRange(bytes, random.nextInt(bytes.length), bytes.length));
            }
        }
        return bytes;
    }

    private static void put(byte[] into, int at, byte[] what) {
        System.arraycopy(what, 0, into, at, Math.min(what.length, into.length - at));
    }

    private static byte[] twice(byte[] bytes, int from) {
        byte[] longer = Arrays.copyOf(bytes, Math.min(2 * bytes.length - from, MAX_BYTES));
        System.arraycopy(bytes, from, longer, bytes.length, longer.length - bytes.length);
        return longer;
    }
}
