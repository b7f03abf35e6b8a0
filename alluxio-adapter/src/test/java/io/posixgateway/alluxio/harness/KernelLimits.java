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
    private static final Path CONNECTIONS = Path.of("/sys/fs/fuse/connections");

    /** Of the mount at this path, whose server must answer. */
    public static KernelLimits of(Path mount) throws IOException {
        long device = (long) Files.getAttribute(mount, "unix:dev");
        String minor = String.valueOf((device & 0xff) | ((device >>> 12) & ~0xffL));
        Path connection = CONNECTIONS.resolve(minor);
        return new KernelLimits(
                number(Path.of("/sys/class/bdi", "0:" + minor, "read_ahead_kb")),
                number(connection.resolve("max_background")),
                number(connection.resolve("congestion_threshold")));
    }

    private static int number(Path setting) throws IOException {
        return Integer.parseInt(Files.readString(setting).strip());
    }

    /** Can they be read, and set, here? */
    public static boolean areShown() {
        return Files.isDirectory(CONNECTIONS) && Files.isWritable(Path.of("/sys/class/bdi"));
    }
}
