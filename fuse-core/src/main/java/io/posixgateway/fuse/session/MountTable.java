package io.posixgateway.fuse.session;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The kernel's table of mounts. Reading it never touches a mount, so it cannot hang on a dead one. */
public final class MountTable {
    private static final Path TABLE = Path.of("/proc/self/mountinfo");

    private MountTable() {}

    /**
     * A mount.
     *
     * @param device "major:minor", different for each FUSE session that lives at a time
     * @param type "fuse.posix-gateway", "ext4", …
     * @param source first column of /proc/mounts
     */
    public record Mount(String device, String type, String source) {
        boolean isFuse() {
            return type.equals("fuse") || type.startsWith("fuse.") || type.equals("fuseblk");
        }
    }

    /** The topmost mount at this absolute path without symbolic links, or null. */
    public static @Nullable Mount at(Path target) throws IOException {
        // Mount points are bytes; as Latin-1 none is lost, and none of those that matter here changes.
        String wanted = new String(target.toString().getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        Mount found = null;
        for (String line : Files.readAllLines(TABLE, StandardCharsets.ISO_8859_1)) {
            String[] column = line.split(" ", -1);
            int dash = 6;
            while (dash < column.length && !column[dash].equals("-")) {
                dash++;
            }
            if (dash + 2 < column.length && unescape(column[4]).equals(wanted)) {
                found = new Mount(column[2], column[dash + 1], unescape(column[dash + 2]));
            }
        }
        return found;
    }

    /** Undoes the kernel's \040 and the like. */
    private static String unescape(String text) {
        if (text.indexOf('\\') < 0) {
            return text;
        }
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\' && i + 3 < text.length()) {
                plain.append((char) Integer.parseInt(text.substring(i + 1, i + 4), 8));
                i += 3;
            } else {
                plain.append(c);
            }
        }
        return plain.toString();
    }
}
