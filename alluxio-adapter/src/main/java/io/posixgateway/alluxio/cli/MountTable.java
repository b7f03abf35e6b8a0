package io.posixgateway.alluxio.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What is mounted, by /proc/self/mountinfo. Never touches a mount, so a hung one does no harm. */
final class MountTable {
    private static final Pattern ESCAPED = Pattern.compile("\\\\([0-7]{3})");

    /**
     * One mounted file system.
     *
     * @param device "major:minor", the same for every mount of one session
     * @param root what of the file system is seen here; a part of it for a bind mount
     */
    record Mount(String device, String root, String target, String type, String source) {
        /** Where a path in this mount is in the file system. */
        String pathWithin(Path path) {
            String below = Path.of(target).relativize(path).toString();
            String base = root.equals("/") ? "" : root;
            return below.isEmpty() ? (base.isEmpty() ? "/" : base) : base + "/" + below;
        }
    }

    private MountTable() {}

    /** The mounts, oldest first. */
    static List<Mount> mounts() {
        try {
            // Names are bytes: Latin-1 keeps each as it is.
            return Files.readAllLines(Path.of("/proc/self/mountinfo"), StandardCharsets.ISO_8859_1).stream()
                    .map(MountTable::parse)
                    .toList();
        } catch (IOException e) {
            throw new CommandException(
                    "/proc/self/mountinfo cannot be read: " + e.getMessage()
                            + "; mount /proc (mount -t proc proc /proc)",
                    e);
        }
    }

    /** The topmost mount at this path. */
    static Optional<Mount> at(Path target) {
        String wanted = withoutLinks(target).toString();
        return mounts().stream().filter(mount -> mount.target().equals(wanted)).reduce((lower, upper) -> upper);
    }

    /** The mount that a path lies in, by its names alone. */
    static Optional<Mount> holding(Path path) {
        Path whole = path.toAbsolutePath().normalize();
        Mount deepest = null;
        for (Mount mount : mounts()) {
            boolean deeper = deepest == null
                    || mount.target().length() >= deepest.target().length();
            if (deeper && whole.startsWith(mount.target())) {
                deepest = mount;
            }
        }
        return Optional.ofNullable(deepest);
    }

    /** The path with its folder's symbolic links resolved; the last part, which may be a hung mount, is not looked at. */
    static Path withoutLinks(Path target) {
        Path whole = target.toAbsolutePath().normalize();
        Path parent = whole.getParent();
        Path name = whole.getFileName();
        if (parent == null || name == null) {
            return whole;
        }
        try {
            return parent.toRealPath().resolve(name);
        } catch (IOException e) {
            return whole;
        }
    }

    /** {@code id parent major:minor root target options fields… - type source options}. */
    private static Mount parse(String line) {
        String[] fields = line.split(" ", -1);
        int dash = 6;
        while (!fields[dash].equals("-")) {
            dash++;
        }
        return new Mount(
                fields[2], unescaped(fields[3]), unescaped(fields[4]), fields[dash + 1], unescaped(fields[dash + 2]));
    }

    private static String unescaped(String text) {
        String plain = ESCAPED.matcher(text).replaceAll(found -> escapedChar(found.group(1)));
        return new String(plain.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    private static String escapedChar(String octal) {
        return Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(octal, 8)));
    }
}
