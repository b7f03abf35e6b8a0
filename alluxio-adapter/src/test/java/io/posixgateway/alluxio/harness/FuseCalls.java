package io.posixgateway.alluxio.harness;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Calls that wait in the kernel for the answer of a FUSE server. */
public final class FuseCalls {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** Longer than any call takes that is answered; a machine under load makes this one longer, too. */
    private static final int STEADILY = 25;

    private FuseCalls() {}

    /** Waits until a thread of this process waits for an answer, whichever. */
    public static void awaitAny(long pid) throws Exception {
        Waiting.until("process " + pid + " waits for a FUSE server", LIMIT, () -> waits(pid));
    }

    /** Waits until one does that has waited for half a second at least. */
    public static void awaitSteady(long pid) throws Exception {
        int[] times = {0};
        Waiting.until("process " + pid + " waits for a FUSE server that does not answer", LIMIT, () -> {
            times[0] = waits(pid) ? times[0] + 1 : 0;
            return times[0] > STEADILY;
        });
    }

    private static boolean waits(long pid) throws IOException {
        Path all = Path.of("/proc/" + pid + "/task");
        if (Files.notExists(all)) {
            throw new AssertionError("process " + pid + " has ended, and waits for nothing");
        }
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(all)) {
            for (Path task : tasks) {
                String place = place(task);
                if (place.contains("fuse") || place.equals("request_wait_answer")) {
                    return true;
                }
            }
        }
        return false;
    }

    private static String place(Path task) {
        try {
            return Files.readString(task.resolve("wchan"));
        } catch (IOException ended) {
            return "";
        }
    }
}
