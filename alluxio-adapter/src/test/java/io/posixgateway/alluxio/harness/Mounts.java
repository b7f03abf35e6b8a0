package io.posixgateway.alluxio.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** What is mounted, without touching it. */
public final class Mounts {
    private Mounts() {}

    public static boolean isMounted(Path target) throws IOException {
        return times(target) > 0;
    }

    /** How many mounts lie there, one on the other. */
    public static long times(Path target) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/mountinfo")).stream()
                .filter(line -> line.split(" ", -1)[4].equals(target.toString()))
                .count();
    }

    /** For the end of a test: takes a mount away however it is, if it is still there. */
    public static void discard(Path target) throws IOException {
        for (int i = 0; i < 3 && isMounted(target); i++) {
            Process umount = new ProcessBuilder("umount", "-l", target.toString())
                    .redirectErrorStream(true)
                    .start();
            try {
                if (!umount.waitFor(60, TimeUnit.SECONDS)) {
                    umount.destroyForcibly();
                }
            } catch (InterruptedException e) {
                umount.destroyForcibly();
                Thread.currentThread().interrupt();
            }
        }
    }
}
