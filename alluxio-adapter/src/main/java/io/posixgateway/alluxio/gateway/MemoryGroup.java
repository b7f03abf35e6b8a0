package io.posixgateway.alluxio.gateway;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of the control group of this process, and of those above it: of version 2, or of version 1 where that is what is
 * there. Pages of files, and its own names and inodes, that the kernel can drop at once do not count. Any thread; each look reads a few
 * small files.
 */
public final class MemoryGroup {
    private static final Logger LOG = LoggerFactory.getLogger(MemoryGroup.class);
    private static final Pattern FULL = Pattern.compile("^full avg10=([0-9.]+)", Pattern.MULTILINE);
    /** Version 1 says about so much where there is no limit. */
    private static final long NO_LIMIT = 1L << 60;

    private final Path root;
    private final Path group;
    private final boolean unified;

    /**
     * @param mounted where control groups are, as {@code /sys/fs/cgroup}
     * @param membership what {@code /proc/self/cgroup} says
     */
    MemoryGroup(Path mounted, String membership) {
        this.unified = Files.exists(mounted.resolve("cgroup.controllers"));
        this.root = unified ? mounted : mounted.resolve("memory");
        Path inside = root.resolve(place(membership, unified)).normalize();
        // In a container the group is the root of what is mounted there, whatever the host calls it.
        this.group = inside.startsWith(root) && Files.isDirectory(inside) ? inside : root;
    }

    /** That of this process. */
    static MemoryGroup ofProcess() {
        String membership = "";
        try {
            membership = Files.readString(Path.of("/proc/self/cgroup"));
        } catch (IOException e) {
            LOG.debug("The control group's memory cannot be read: {}", e.toString());
        }
        return new MemoryGroup(Path.of("/sys/fs/cgroup"), membership);
    }

    private static String place(String membership, boolean unified) {
        for (String line : membership.lines().toList()) {
            String[] parts = line.split(":", 3);
            boolean counts = parts.length == 3
                    && (unified
                            ? parts[1].isEmpty()
                            : List.of(parts[1].split(",", -1)).contains("memory"));
            if (counts) {
                return parts[2].replaceFirst("^/+", "");
            }
        }
        return "";
    }

    /**
     * @param usedBytes of the group that is nearest to its limit
     * @param limitBytes its limit; {@link Long#MAX_VALUE}: there is none
     * @param stalledPercent of the last ten seconds in which all its tasks waited for memory; 0 where the kernel does not say
     */
    public record Reading(long usedBytes, long limitBytes, double stalledPercent) {
        public static final Reading NONE = new Reading(0, Long.MAX_VALUE, 0);

        /** 1: nothing is left. */
        double part() {
            return (double) usedBytes / limitBytes;
        }
    }

    /** As things are now; {@link Reading#NONE} where nothing limits the process. */
    Reading read() {
        Reading nearest = Reading.NONE;
        for (Path at = group; at != null && at.startsWith(root); at = at.getParent()) {
            Reading one = readOne(at);
            nearest = one.part() > nearest.part() ? one : nearest;
        }
        return nearest;
    }

    private Reading readOne(Path at) {
        long limit = unified
                ? Math.min(number(at.resolve("memory.max")), number(at.resolve("memory.high")))
                : number(at.resolve("memory.limit_in_bytes"));
        long used = number(at.resolve(unified ? "memory.current" : "memory.usage_in_bytes"));
        if (limit >= NO_LIMIT || limit == 0 || used == Long.MAX_VALUE) {
            return Reading.NONE;
        }
        return new Reading(Math.max(0, used - droppable(at)), limit, unified ? stalled(at) : 0);
    }

    private long droppable(Path at) {
        Map<String, Long> counts = new HashMap<>();
        for (String line : text(at.resolve("memory.stat")).lines().toList()) {
            String[] words = line.split(" ", -1);
            if (words.length == 2 && words[1].matches("\\d{1,18}")) {
                counts.put(words[0], Long.parseLong(words[1]));
            }
        }
        String before = unified ? "" : "total_";
        long files =
                counts.getOrDefault(before + "inactive_file", 0L) + counts.getOrDefault(before + "active_file", 0L);
        long dirty = counts.getOrDefault(unified ? "file_dirty" : "total_dirty", 0L)
                + counts.getOrDefault(unified ? "file_writeback" : "total_writeback", 0L);
        long slab = unified ? counts.getOrDefault("slab_reclaimable", 0L) : 0; // version 1 does not say
        return Math.max(0, files - dirty) + slab;
    }

    private static double stalled(Path at) {
        Matcher full = FULL.matcher(text(at.resolve("memory.pressure")));
        return full.find() ? Double.parseDouble(full.group(1)) : 0;
    }

    /** {@link Long#MAX_VALUE}: it says "max", or nothing. */
    private static long number(Path file) {
        String text = text(file).strip();
        return text.matches("\\d{1,18}") ? Long.parseLong(text) : Long.MAX_VALUE;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return "";
        }
    }
}
