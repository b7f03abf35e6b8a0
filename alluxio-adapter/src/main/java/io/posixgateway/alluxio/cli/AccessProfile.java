package io.posixgateway.alluxio.cli;

import java.io.PrintWriter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Adds up lines of an access log by operation. One thread. */
final class AccessProfile {
    private static final Pattern LINE =
            Pattern.compile("^\\S+ \\S+ \\[[^\\]]*\\] (\\w+) \\((.*)\\): (\\S+)(?: \\((\\d+)\\))? <(\\d+\\.\\d+)>$");

    private final Map<String, Sums> byOperation = new TreeMap<>();
    private long lines;
    private long strange;

    private static final class Sums {
        private long count;
        private long errors;
        private double seconds;
        private double longest;
        private long bytes;
    }

    /** One more line; what is none is counted as such. */
    void add(String line) {
        Matcher found = LINE.matcher(line);
        if (!found.matches()) {
            strange++;
            return;
        }
        lines++;
        Sums sums = byOperation.computeIfAbsent(found.group(1), key -> new Sums());
        double seconds = Double.parseDouble(found.group(5));
        sums.count++;
        sums.seconds += seconds;
        sums.longest = Math.max(sums.longest, seconds);
        if (!found.group(3).equals("OK")) {
            sums.errors++;
        }
        if (found.group(1).equals("read") && found.group(4) != null) {
            sums.bytes += Long.parseLong(found.group(4));
        } else if (found.group(1).equals("write")) {
            sums.bytes += Long.parseLong(found.group(2).split(",", -1)[1]);
        }
    }

    long lines() {
        return lines;
    }

    /** The operations, those that took the most time first. */
    void show(PrintWriter out) {
        double total =
                byOperation.values().stream().mapToDouble(sums -> sums.seconds).sum();
        out.printf(
                Locale.ROOT,
                "%-16s %9s %7s %10s %10s %10s %6s %8s%n",
                "operation",
                "count",
                "errors",
                "mean",
                "longest",
                "total",
                "time",
                "bytes");
        List<Map.Entry<String, Sums>> sorted = byOperation.entrySet().stream()
                .sorted(Comparator.comparingDouble(entry -> -entry.getValue().seconds))
                .toList();
        for (Map.Entry<String, Sums> entry : sorted) {
            Sums sums = entry.getValue();
            out.printf(
                    Locale.ROOT,
                    "%-16s %9d %7d %9.3fms %9.3fms %9.3fs %5.1f%% %8s%n",
                    entry.getKey(),
                    sums.count,
                    sums.errors,
                    sums.seconds / sums.count * 1000,
                    sums.longest * 1000,
                    sums.seconds,
                    total == 0 ? 0 : 100 * sums.seconds / total,
                    sums.bytes == 0 ? "-" : NumberFormats.size((double) sums.bytes));
        }
        if (strange > 0) {
            out.println(strange + " lines are not in the format of an access log, and were skipped");
        }
        out.flush();
    }
}
