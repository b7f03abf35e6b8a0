package io.posixgateway.fuse.session;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the kernel lets this process do. */
final class Capabilities {
    private static final String EFFECTIVE = "CapEff:";
    private static final int SYS_ADMIN = 21;

    private Capabilities() {}

    /** May this process give files to the kernel for passthrough? False as well when it cannot be found out. */
    static boolean sysAdmin() {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith(EFFECTIVE))
                    .anyMatch(line -> {
                        long mask = Long.parseUnsignedLong(
                                line.substring(EFFECTIVE.length()).strip(), 16);
                        return (mask >>> SYS_ADMIN & 1) == 1;
                    });
        } catch (IOException e) {
            return false;
        }
    }
}
