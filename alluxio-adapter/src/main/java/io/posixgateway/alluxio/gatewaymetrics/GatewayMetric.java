package io.posixgateway.alluxio.gatewaymetrics;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Every metric of the gateway but the JVM's: the table of docs/metrics.md is made from this. */
@SuppressWarnings("ImmutableEnumChecker") // the lists come from List.of
public enum GatewayMetric {
    BUILD(Type.INFO, "build", "Always 1; the version is a label.", "version"),
    READY(Type.GAUGE, "ready", "1 when every session of the keeper is served, else 0."),
    VOLUMES(Type.GAUGE, "volumes", "Volumes served by this process."),
    VOLUME(
            Type.INFO,
            "volume",
            "Always 1; how the volume is served is in the labels.",
            Scope.VOLUME,
            "transport",
            "path"),
    HEALTHY(
            Type.GAUGE,
            "volume_healthy",
            "1 when Alluxio answers for this volume and its mount lives, else 0.",
            Scope.VOLUME),
    CAPACITY(
            Type.GAUGE,
            "volume_capacity_bytes",
            "Room in the Alluxio behind the volume, by the last answer.",
            Scope.VOLUME),
    AVAILABLE(
            Type.GAUGE,
            "volume_available_bytes",
            "Free room in the Alluxio behind the volume, by the last answer.",
            Scope.VOLUME),
    TAKEOVERS(Type.COUNTER, "takeovers", "Processes that served the volume before this one.", Scope.VOLUME),
    CACHED_NODES(Type.GAUGE, "cached_nodes", "Files and directories whose metadata is kept.", Scope.VOLUME),
    OPEN_FILES(Type.GAUGE, "open_files", "Files open in the gateway.", Scope.VOLUME),
    CHANGED_FILES(Type.GAUGE, "changed_files", "Changed files that are not yet published to Alluxio.", Scope.VOLUME),
    SPOOL_BYTES(Type.GAUGE, "spool_bytes", "Room that changed files take in the spool folder.", Scope.VOLUME),
    SOURCE_BYTES(
            Type.COUNTER,
            "source_read_bytes",
            "Data read from Alluxio, by how: block files of a local worker, or streams of a remote one.",
            Scope.VOLUME,
            "source"),
    REQUESTS(Type.COUNTER, "requests", "Requests from the kernel.", Scope.VOLUME, "op"),
    ERRORS(
            Type.COUNTER,
            "request_errors",
            "Requests answered with an error, by its number.",
            Scope.VOLUME,
            "op",
            "errno"),
    DURATION(
            Type.HISTOGRAM,
            "request_duration_seconds",
            "From receiving a request to its answer, waiting for a pool thread included.",
            Scope.VOLUME,
            "op"),
    IN_FLIGHT(Type.GAUGE, "requests_in_flight", "Requests received and not yet answered.", Scope.VOLUME),
    HANDED_OVER(
            Type.COUNTER,
            "requests_handed_over",
            "Requests that could not be answered from memory and went to the pool.",
            Scope.VOLUME),
    READ_BYTES(
            Type.COUNTER,
            "read_bytes",
            "Data given to readers by the gateway (not what the kernel's cache gave).",
            Scope.VOLUME),
    WRITTEN_BYTES(Type.COUNTER, "written_bytes", "Data taken from writers.", Scope.VOLUME),
    WORKERS(
            Type.GAUGE,
            "worker_threads",
            "Threads that carry requests, by what they do now: busy or idle.",
            Scope.VOLUME,
            "state"),
    WORKERS_STARTED(Type.COUNTER, "worker_threads_started", "Worker threads started so far.", Scope.VOLUME),
    WORKERS_ENDED(Type.COUNTER, "worker_threads_ended", "Worker threads ended so far.", Scope.VOLUME);

    /** Kinds of metrics. */
    public enum Type {
        COUNTER,
        GAUGE,
        HISTOGRAM,
        INFO
    }

    private enum Scope {
        VOLUME("volume", "pvc", "namespace");

        private final List<String> labels;

        Scope(String... labels) {
            this.labels = List.of(labels);
        }
    }

    private static final String PREFIX = "posix_gateway_";

    private final Type type;
    private final String name;
    private final String help;
    private final List<String> labels;

    GatewayMetric(Type type, String name, String help, String... labels) {
        this.type = type;
        this.name = name;
        this.help = help;
        this.labels = List.of(labels);
    }

    GatewayMetric(Type type, String name, String help, Scope scope, String... labels) {
        this.type = type;
        this.name = name;
        this.help = help;
        List<String> all = new ArrayList<>(scope.labels);
        all.addAll(List.of(labels));
        this.labels = List.copyOf(all);
    }

    public Type type() {
        return type;
    }

    /** Without the suffix that its type adds. */
    String plainName() {
        return PREFIX + name;
    }

    /** As Prometheus shows it: counters end in _total, infos in _info. */
    public String exposedName() {
        return switch (type) {
            case COUNTER -> plainName() + "_total";
            case INFO -> plainName() + "_info";
            case GAUGE, HISTOGRAM -> plainName();
        };
    }

    public String help() {
        return help;
    }

    public List<String> labels() {
        return labels;
    }

    /** The table in Markdown. */
    public static String markdown() {
        StringBuilder text = new StringBuilder("| metric | type | labels | what it tells |\n|---|---|---|---|\n");
        for (GatewayMetric metric : values()) {
            String labels = metric.labels.isEmpty() ? "–" : "`" + String.join("`, `", metric.labels) + "`";
            String type = metric.type.name().toLowerCase(Locale.ROOT);
            text.append("| `" + metric.exposedName() + "` | " + type + " | " + labels + " | " + metric.help + " |\n");
        }
        return text.toString();
    }
}
