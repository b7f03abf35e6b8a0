package io.posixgateway.fuse.session;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The kernel's table of mounts, {@code /proc/self/mountinfo}. Reading it never touches a mount, so it cannot hang on a dead one.
 *
 * <p>Users name folders, and the table has these names: of mount points, and of what a bind mount shows. The kernel escapes the blank,
 * which separates columns, the newline, which separates mounts, tab and backslash, and nothing else. So no other byte separates anything
 * here, and names are compared as bytes, not as text: two that are not UTF-8 may be the same text.
 */
public final class MountTable {
    private static final Path TABLE = Path.of("/proc/self/mountinfo");
    private static final int ESCAPE_DIGITS = 3;
    /** Many more than a node needs that mounts and unmounts all the time: one takes less than a millisecond. */
    private static final int MAX_READINGS = 64;

    private MountTable() {}

    /**
     * A mount.
     *
     * @param device "major:minor", the same for every mount of one session, different for each FUSE session that lives at a time
     * @param root what of the file system is seen here; a part of it for a bind mount
     * @param target where it is mounted
     * @param type "fuse.posix-gateway", "ext4", …
     * @param source first column of /proc/mounts
     */
    public record Mount(String device, String root, String target, String type, String source) {
        boolean isFuse() {
            return type.equals("fuse") || type.startsWith("fuse.") || type.equals("fuseblk");
        }

        /** Where a path in this mount is in the file system. */
        public String pathWithin(Path path) {
            String below = Path.of(target).relativize(path).toString();
            String base = root.equals("/") ? "" : root;
            return below.isEmpty() ? (base.isEmpty() ? "/" : base) : base + "/" + below;
        }

        /** From a char for each byte. */
        private Mount decoded() {
            return new Mount(device, text(root), text(target), type, text(source));
        }
    }

    /** All mounts, oldest first. */
    public static List<Mount> all() throws IOException {
        return read().stream().map(Mount::decoded).toList();
    }

    /** The topmost mount at this absolute path without symbolic links, or null. */
    public static @Nullable Mount at(Path target) throws IOException {
        return at(read(), target);
    }

    /** The mount that an absolute path lies in, by its names alone, or null. */
    public static @Nullable Mount holding(Path path) throws IOException {
        return holding(read(), path);
    }

    private static List<Mount> read() throws IOException {
        return parse(stable(() -> Files.readAllBytes(TABLE)));
    }

    /** Reads the table, in several pieces. */
    interface Reading {
        byte[] read() throws IOException;
    }

    /**
     * What two readings give alike. Linux before 5.8 ("proc/mounts: add cursor") may leave a mount out while another one is removed, and
     * a mount that is left out counts as gone.
     */
    static byte[] stable(Reading reading) throws IOException {
        byte[] last = reading.read();
        for (int i = 0; i < MAX_READINGS; i++) {
            byte[] next = reading.read();
            if (Arrays.equals(last, next)) {
                return next;
            }
            last = next;
        }
        throw new IOException("the table changed in each of " + MAX_READINGS
                + " readings: end the program that mounts all the time, or retry");
    }

    static @Nullable Mount at(List<Mount> mounts, Path target) {
        String wanted = bytes(target);
        return last(mounts, mount -> mount.target().equals(wanted));
    }

    static @Nullable Mount holding(List<Mount> mounts, Path path) {
        String whole = bytes(path) + "/";
        int deepest = mounts.stream()
                .filter(mount -> isAbove(mount, whole))
                .mapToInt(mount -> mount.target().length())
                .max()
                .orElse(-1);
        return last(mounts, mount -> mount.target().length() == deepest && isAbove(mount, whole));
    }

    private static boolean isAbove(Mount mount, String pathWithSlash) {
        return pathWithSlash.startsWith(mount.target().equals("/") ? "/" : mount.target() + "/");
    }

    private static @Nullable Mount last(List<Mount> mounts, Predicate<Mount> wanted) {
        return mounts.stream()
                .filter(wanted)
                .reduce((lower, upper) -> upper)
                .map(Mount::decoded)
                .orElse(null);
    }

    /**
     * {@code id parent major:minor root target options fields… - type source options}, a line for each mount; one of another form is of
     * no use to anybody.
     *
     * @return with a char for each byte of a name
     */
    static List<Mount> parse(byte[] table) {
        return List.of(new String(table, StandardCharsets.ISO_8859_1).split("\n", -1)).stream()
                .map(line -> List.of(line.split(" ", -1)))
                .filter(MountTable::isWhole)
                .map(MountTable::mount)
                .toList();
    }

    private static int dash(List<String> columns) {
        int fields = Math.min(6, columns.size());
        int dash = columns.subList(fields, columns.size()).indexOf("-");
        return dash < 0 ? columns.size() : fields + dash;
    }

    private static boolean isWhole(List<String> columns) {
        return dash(columns) + 2 < columns.size();
    }

    private static Mount mount(List<String> columns) {
        int dash = dash(columns);
        return new Mount(
                columns.get(2),
                unescaped(columns.get(3)),
                unescaped(columns.get(4)),
                columns.get(dash + 1),
                unescaped(columns.get(dash + 2)));
    }

    /** Undoes the kernel's \040 and the like. */
    private static String unescaped(String column) {
        StringBuilder plain = new StringBuilder(column.length());
        for (int i = 0; i < column.length(); i++) {
            int code = column.charAt(i) == '\\' ? code(column, i + 1) : -1;
            plain.append(code < 0 ? column.charAt(i) : (char) code);
            i += code < 0 ? 0 : ESCAPE_DIGITS;
        }
        return plain.toString();
    }

    /** Of the three octal digits that begin there; -1: none do. */
    private static int code(String column, int at) {
        int code = 0;
        for (int i = at; i < at + ESCAPE_DIGITS; i++) {
            int digit = i < column.length() ? Character.digit(column.charAt(i), 8) : -1;
            if (digit < 0) {
                return -1;
            }
            code = code * 8 + digit;
        }
        return code > 0xFF ? -1 : code;
    }

    private static String bytes(Path path) {
        return new String(path.toString().getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    private static String text(String bytes) {
        return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }
}
