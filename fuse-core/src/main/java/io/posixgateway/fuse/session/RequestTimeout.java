package io.posixgateway.fuse.session;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Whether the kernel gives up a request, and with it the connection, sooner than a takeover may be over: an administrator's setting,
 * which Linux 6.15 and later have. Any thread.
 */
public final class RequestTimeout {
    private static final Path SETTING = Path.of("/proc/sys/fs/fuse/default_request_timeout");

    private static final long LONG_TAKEOVER_SECONDS = 60;

    private RequestTimeout() {}

    /** What is wrong with the setting of this machine, and what to do; empty: nothing is. */
    public static String warning() {
        return warning(SETTING);
    }

    static String warning(Path setting) {
        try {
            long seconds = Long.parseLong(Files.readString(setting).strip());
            return seconds == 0 || seconds >= LONG_TAKEOVER_SECONDS
                    ? ""
                    : "request_timeout " + seconds
                            + "s(a takeover may take longer and end the mount: set fs.fuse.default_request_timeout to 0)";
        } catch (IOException | NumberFormatException e) {
            return "";
        }
    }
}
