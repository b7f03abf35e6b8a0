package io.posixgateway.alluxio.cli;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Where the process behind a mount listens for orders: a path that follows from the mount point, short enough for a socket. */
final class MountSocket {
    private static final int NAME_BYTES = 10;

    private MountSocket() {}

    /** @param mountPoint absolute, its folder without symbolic links */
    static Path of(Path mountPoint) {
        return folder().resolve("mount-" + digest(mountPoint.toString()) + ".sock");
    }

    private static Path folder() {
        if (UmountCommand.isRoot()) {
            return Path.of("/run/posix-gateway/mounts");
        }
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        return runtime == null
                ? Path.of(System.getProperty("java.io.tmpdir"), "posix-gateway-" + System.getProperty("user.name"))
                : Path.of(runtime, "posix-gateway");
    }

    private static String digest(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, NAME_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
