package io.posixgateway.alluxio.harness;

import java.time.Duration;
import java.util.concurrent.Callable;

/** Waits for what must come true, with generous limits. */
public final class Waiting {
    private static final long STEP_MILLIS = 20;

    private Waiting() {}

    /** Returns as soon as the condition holds; throws with its name when it does not within the limit. */
    public static void until(String what, Duration limit, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.call()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not within " + limit.toSeconds() + " s: " + what);
            }
            Thread.sleep(STEP_MILLIS);
        }
    }
}
