package io.posixgateway.fuse.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Time since a moment, without that in which some task of the machine waited for a processor or a disk (/proc/pressure). So no
 * load, of whomever, makes it longer, and a limit of it can only be missed by what sleeps, waits for a timeout, or computes
 * alone. Where the kernel does not count, it is the time that went by. Any thread.
 */
public final class QuietTime {
    private static final Path PRESSURE = Path.of("/proc/pressure");

    private final long beganNanos = System.nanoTime();
    private final long waitedNanos = waited();

    private QuietTime() {}

    public static QuietTime sinceNow() {
        return new QuietTime();
    }

    /** Never negative. */
    public Duration quiet() {
        long waited = waited() - waitedNanos;
        return Duration.ofNanos(Math.max(0, System.nanoTime() - beganNanos - waited));
    }

    /** What went by on the clock. */
    public Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - beganNanos);
    }

    private static long waited() {
        return waited("cpu") + waited("io");
    }

    /** Since the machine started, in nanoseconds. */
    private static long waited(String resource) {
        try {
            String some = Files.readString(PRESSURE.resolve(resource))
                    .lines()
                    .findFirst()
                    .orElse("");
            return 1000 * Long.parseLong(some.substring(some.lastIndexOf("total=") + "total=".length()));
        } catch (IOException | NumberFormatException notCounted) {
            return 0;
        }
    }
}
