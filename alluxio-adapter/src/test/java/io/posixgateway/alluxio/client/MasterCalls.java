package io.posixgateway.alluxio.client;

import alluxio.metrics.MetricsSystem;
import java.util.Map;
import java.util.TreeMap;

/** How often this process called Alluxio's master, by the name of the call. */
public final class MasterCalls {
    private static final String PREFIX = "Client.";

    private MasterCalls() {}

    public static Map<String, Long> counts() {
        Map<String, Long> counts = new TreeMap<>();
        MetricsSystem.METRIC_REGISTRY.getTimers().forEach((name, timer) -> {
            if (name.startsWith(PREFIX)) {
                String call = name.substring(PREFIX.length()).split("[.]", 2)[0];
                counts.merge(call, timer.getCount(), Long::sum);
            }
        });
        return counts;
    }

    /** What was called since the counts were taken; what goes to workers, and by the clock, left out. */
    public static Map<String, Long> since(Map<String, Long> before) {
        Map<String, Long> since = counts();
        since.replaceAll((call, count) -> count - before.getOrDefault(call, 0L));
        since.values().removeIf(count -> count == 0);
        since.keySet()
                .removeIf(call -> call.contains("Config") || call.contains("WorkerInfo") || call.endsWith("Latency"));
        return since;
    }
}
