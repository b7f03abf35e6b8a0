package io.posixgateway.alluxio.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the kernel has noted for a mounted file system.
 *
 * @param readaheadKb most that it reads ahead of one reader
 * @param maxBackground most requests that nobody waits for, under way at a time
 * @param congestionThreshold so many of them, and it calls the mount busy
 */
public record KernelLimits(int readaheadKb, int maxBackground, int congestionThreshold) {
    private static final Path FILE_SYSTEMS = Path.of("/proc/filesystems");

    /** Of the mount at this path, whose server must answer. Where fusectl belongs it may not be mounted: here it is for a moment. */
    public static KernelLimits of(Path mount) throws IOException, InterruptedException {
        long device = (long) Files.getAttribute(mount, "unix:dev");
        String minor = String.valueOf((device & 0xff) | ((device >>> 12) & ~0xffL));
        Path control = Files.createTempDirectory("fusectl-");
        try {
            run("mount", "-t", "fusectl", "fusectl", control.toString());
            try {
                return new KernelLimits(
                        number(Path.of("/sys/class/bdi", "0:" + minor, "read_ahead_kb")),
                        number(control.resolve(minor).resolve("max_background")),
                        number(control.resolve(minor).resolve("congestion_threshold")));
            } finally {
                run("umount", control.toString());
            }
        } finally {
            Files.delete(control);
        }
    }

    private static void run(String... command) throws IOException, InterruptedException {
        int exit = new ProcessBuilder(command).inheritIO().start().waitFor();
        if (exit != 0) {
            throw new IOException(String.join(" ", command) + " exits with " + exit);
        }
    }

    private static int number(Path setting) throws IOException {
        return Integer.parseInt(Files.readString(setting).strip());
    }

    /** Can they be read, and set, here? */
    public static boolean areShown() throws IOException {
        return Built.isRoot()
                && Files.isWritable(Path.of("/sys/class/bdi"))
                && Files.readString(FILE_SYSTEMS).contains("fusectl");
    }
}
