package io.posixgateway.alluxio.harness;

import io.posixgateway.fuse.conformance.Eventually;
import java.time.Duration;
import java.util.concurrent.Callable;

/** As {@link Eventually}, with a limit of the caller's. */
public final class Waiting {
    private Waiting() {}

    /** Returns as soon as the condition holds; throws with its name when it does not within the limit. */
    public static void until(String what, Duration limit, Callable<Boolean> condition) throws Exception {
        Eventually.<Exception>holds(what, limit, condition::call);
    }
}
