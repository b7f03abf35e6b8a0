package io.posixgateway.alluxio.cli;

import java.util.HashMap;
import java.util.Map;

/** Metrics of one volume at one moment, read from Prometheus's text format. */
final class MetricsText {
    private static final String PREFIX = "posix_gateway_";

    private final Map<String, Double> values = new HashMap<>();

    /** @param volume whose series are kept, beside those of no volume */
    MetricsText(String text, String volume) {
        String wanted = "volume=\"" + volume.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
        text.lines()
                .filter(line -> !line.startsWith("#"))
                .filter(line -> !line.contains("volume=\"") || line.contains(wanted))
                .forEach(this::keep);
    }

    private void keep(String line) {
        int blank = line.lastIndexOf(' ');
        if (blank > 0) {
            values.put(line.substring(0, blank), Double.parseDouble(line.substring(blank + 1)));
        }
    }

    /**
     * The sum of all series of a metric of the gateway that have these labels.
     *
     * @param labels each as {@code name="value"}
     */
    double sum(String metric, String... labels) {
        return sumOf(PREFIX + metric, labels);
    }

    /** The same for any metric. */
    double sumOf(String metric, String... labels) {
        double total = 0;
        for (Map.Entry<String, Double> series : values.entrySet()) {
            String name = series.getKey();
            if ((name.equals(metric) || name.startsWith(metric + "{")) && hasAll(name, labels)) {
                total += series.getValue();
            }
        }
        return total;
    }

    private static boolean hasAll(String series, String... labels) {
        for (String label : labels) {
            if (!series.contains(label)) {
                return false;
            }
        }
        return true;
    }
}
