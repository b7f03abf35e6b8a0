package io.posixgateway.alluxio.meta;

import io.posixgateway.fuse.spi.Name;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/** Names that the gateway uses for its own files in Alluxio, next to the users'; never shown, and not to be made by users. */
public final class TempNames {
    private static final String PREFIX = ".pgw~";
    private static final AtomicLong COUNT = new AtomicLong();
    private static final String PROCESS = Long.toHexString(
            ProcessHandle.current().pid() ^ ThreadLocalRandom.current().nextLong());

    private TempNames() {}

    /** A new name that nobody else takes. */
    public static Name make() {
        return Name.of(PREFIX + PROCESS + "-" + COUNT.incrementAndGet());
    }

    public static boolean is(String name) {
        return name.startsWith(PREFIX);
    }

    /** Does the path end in one? */
    public static boolean isOf(String path) {
        return path.startsWith(PREFIX, path.lastIndexOf('/') + 1);
    }

    /** As {@link #is(String)}, without making a text of it. */
    public static boolean is(Name name) {
        if (name.length() < PREFIX.length()) {
            return false;
        }
        for (int i = 0; i < PREFIX.length(); i++) {
            if (name.at(i) != PREFIX.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
