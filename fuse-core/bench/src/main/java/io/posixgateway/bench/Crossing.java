package io.posixgateway.bench;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/**
 * What it costs to cross between C and Java, in nanoseconds a call: up-calls with and without attaching and looking up
 * each time, from one thread of C and from several at once, a down-call, and three ways to carry data. Arguments: the
 * library, calls. Prints one JSON object.
 */
public final class Crossing {
    private static final int MAX_BYTES = 1 << 20;
    private static final int BYTES_A_ROUND = 1 << 28;
    private static final int[] MANY_THREADS = {8, 32};
    private static final String[] WAYS = {"JNICopy", "CriticalCopy", "DirectByteBuffer"};

    private static final byte[] DATA = new byte[MAX_BYTES];
    private static final ByteBuffer DIRECT = ByteBuffer.allocateDirect(MAX_BYTES);
    private static int handled;

    static {
        Arrays.fill(DATA, (byte) 'x');
        DIRECT.put(0, DATA);
    }

    private Crossing() {}

    /** Time of that many calls from a thread of C, or -1. */
    private static native long upcalls(int calls, boolean cache, boolean defer);

    private static native int downcall(long ring, int commits, int spinMicros);

    /** Time of that many answers of that length, or -1. */
    private static native long transfers(int calls, int bytes, int way, boolean reuse);

    /** What an up-call does. */
    static int handle(int lane, int bytes) {
        handled += bytes;
        return lane;
    }

    static void fill(byte[] into) {
        System.arraycopy(DATA, 0, into, 0, into.length);
    }

    static void fill(ByteBuffer into) {
        into.put(0, DIRECT, 0, into.capacity());
    }

    private static long downcalls(int calls) {
        long began = System.nanoTime();
        int sum = 0;
        for (int i = 0; i < calls; i++) {
            sum += downcall(sum, i, 0);
        }
        handled += sum;
        return System.nanoTime() - began;
    }

    /** Time of that many calls from some threads of C at once, from the first's start to the last's end; or -1. */
    private static long upcallsAtOnce(int threads, int calls, boolean cache, boolean defer) {
        AtomicBoolean failed = new AtomicBoolean();
        Thread[] starters = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            starters[i] = new Thread(() -> {
                if (upcalls(calls / threads, cache, defer) < 0) {
                    failed.set(true);
                }
            });
        }
        long began = System.nanoTime();
        for (Thread starter : starters) {
            starter.start();
        }
        try {
            for (Thread starter : starters) {
                starter.join();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while threads made calls", e);
        }
        return failed.get() ? -1 : System.nanoTime() - began;
    }

    private static String perCall(int calls, LongSupplier run) {
        run.getAsLong();
        long took = Math.min(run.getAsLong(), run.getAsLong());
        if (took < 0) {
            throw new IllegalStateException("a call failed");
        }
        return String.format("%.1f", (double) took / calls);
    }

    private static String calls(int calls) {
        return String.format(
                "{\"baseline\": %s, \"cache\": %s, \"defer\": %s, \"cache+defer\": %s, \"down-call\": %s}",
                perCall(calls, () -> upcalls(calls, false, false)),
                perCall(calls, () -> upcalls(calls, true, false)),
                perCall(calls, () -> upcalls(calls, false, true)),
                perCall(calls, () -> upcalls(calls, true, true)),
                perCall(calls, () -> downcalls(calls)));
    }

    private static String callsAtOnce(int calls) {
        StringJoiner all = new StringJoiner(", ", "{", "}");
        for (int threads : MANY_THREADS) {
            all.add(String.format(
                    "\"%d\": {\"baseline\": %s, \"cache\": %s, \"defer\": %s, \"cache+defer\": %s}",
                    threads,
                    perCall(calls, () -> upcallsAtOnce(threads, calls, false, false)),
                    perCall(calls, () -> upcallsAtOnce(threads, calls, true, false)),
                    perCall(calls, () -> upcallsAtOnce(threads, calls, false, true)),
                    perCall(calls, () -> upcallsAtOnce(threads, calls, true, true))));
        }
        return all.toString();
    }

    private static String transfers() {
        StringJoiner all = new StringJoiner(", ", "{", "}");
        for (int way = 0; way < WAYS.length; way++) {
            for (boolean reuse : new boolean[] {false, true}) {
                StringJoiner sizes = new StringJoiner(", ", "{", "}");
                for (int bytes = 1 << 10; bytes <= MAX_BYTES; bytes <<= 2) {
                    int count = Math.min(20_000, BYTES_A_ROUND / bytes);
                    int size = bytes;
                    int chosen = way;
                    sizes.add("\"" + bytes + "\": " + perCall(count, () -> transfers(count, size, chosen, reuse)));
                }
                all.add("\"" + WAYS[way] + (reuse ? ", reused" : "") + "\": " + sizes);
            }
        }
        return all.toString();
    }

    /** Runs all. */
    public static void main(String[] arguments) {
        System.load(Path.of(arguments[0]).toAbsolutePath().toString());
        int calls = Integer.parseInt(arguments[1]);
        System.out.println("{\"calls_ns\": " + calls(calls) + ", \"calls_at_once_ns\": " + callsAtOnce(calls)
                + ", \"transfers_ns\": " + transfers() + "}");
        if (handled == 42) {
            System.err.println(handled);
        }
    }
}
