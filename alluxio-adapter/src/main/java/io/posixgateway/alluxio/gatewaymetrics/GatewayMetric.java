package io.posixgateway.alluxio.gatewaymetrics;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Every metric of the gateway but the JVM's: the table of docs/metrics.md is made from this. */
@SuppressWarnings("ImmutableEnumChecker") // the lists come from List.of
public enum GatewayMetric {
    BUILD(Type.INFO, "build", "Always 1; the version is a label.", "version"),
    READY(Type.GAUGE, "ready", "1 when every session of the keeper is served, else 0."),
    BYPASS_REJECTED(
            Type.COUNTER,
            "bypass_rejected_requests",
            "Requests at the bypass socket that were rejected: for a file of no volume with bypass, or above the rate that a"
                    + " program may have."),
    SESSIONS_WITHOUT_KEEPER(
            Type.GAUGE,
            "sessions_without_keeper",
            "Volumes served by this process that no keeper holds, and whose mounts therefore end with it."),
    REFUSED_SESSIONS(
            Type.GAUGE,
            "refused_sessions",
            "Sessions of the keeper that cannot be served, and whose calls are answered with EIO."),
    VOLUMES(Type.GAUGE, "volumes", "Volumes served by this process."),
    VOLUMES_REFUSED(Type.COUNTER, "volumes_refused", "Volumes that were not taken, as memory was short."),
    CACHE_BUDGET(Type.GAUGE, "cache_budget_used_bytes", "Memory that cached metadata of all volumes takes."),
    CACHE_BUDGET_LIMIT(
            Type.GAUGE,
            "cache_budget_limit_bytes",
            "Memory that it may take now: half of the heap, less while memory is short."),
    MEMORY_USED(
            Type.GAUGE,
            "memory_used_ratio",
            "Of the heap, or of the memory limit of the control group, what is in use; whichever is more."),
    MEMORY_STATE(
            Type.INFO,
            "memory",
            "Always 1; calm, near (caches are given back) or short (no new volume is taken, besides).",
            "state"),
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
            "Capacity of the Alluxio behind the volume, by its last response.",
            Scope.VOLUME),
    AVAILABLE(
            Type.GAUGE,
            "volume_available_bytes",
            "Free space in the Alluxio behind the volume, by its last response.",
            Scope.VOLUME),
    TAKEOVERS(Type.COUNTER, "takeovers", "Processes that served the volume before this one.", Scope.VOLUME),
    TAKEOVER_SECONDS(
            Type.GAUGE,
            "takeover_seconds",
            "From the start of this process until it served the volume that another one had served; 0 if none had.",
            Scope.VOLUME),
    CACHED_NODES(Type.GAUGE, "cached_nodes", "Files and directories whose metadata is kept.", Scope.VOLUME),
    OPEN_FILES(Type.GAUGE, "open_files", "Files open in the gateway.", Scope.VOLUME),
    CHANGED_FILES(Type.GAUGE, "changed_files", "Changed files that are not yet uploaded to Alluxio.", Scope.VOLUME),
    SPOOL_BYTES(Type.GAUGE, "spool_bytes", "Space that changed files take in the spool folder.", Scope.VOLUME),
    SPOOL_LIMIT(Type.GAUGE, "spool_limit_bytes", "Most space that changed files may take there.", Scope.VOLUME),
    SPOOL_DISK(
            Type.GAUGE,
            "spool_disk_bytes",
            "Room on the disk of the spool folder, for all volumes together, without what stays free (spool_free).",
            Scope.VOLUME),
    SET_ASIDE(
            Type.GAUGE,
            "set_aside_files",
            "Changed content of ended mounts and nodes that was not uploaded and waits for an operator.",
            Scope.VOLUME),
    SET_ASIDE_BYTES(Type.GAUGE, "set_aside_bytes", "Space that such content takes.", Scope.VOLUME),
    UNFINISHED_RENAMES(
            Type.GAUGE,
            "unfinished_directory_renames",
            "Renames of directories, file by file, in flight or ended half-way: the same rename continues those.",
            Scope.VOLUME),
    CACHE_HITS(
            Type.COUNTER,
            "cache_hits",
            "Lookups served from memory: of attributes, of names, of open block files.",
            Scope.VOLUME,
            "kind"),
    CACHE_MISSES(
            Type.COUNTER,
            "cache_misses",
            "Lookups that needed a request to Alluxio, or block files that were opened.",
            Scope.VOLUME,
            "kind"),
    CACHE_ENTRIES(
            Type.GAUGE,
            "cache_entries",
            "Entries kept: nodes (files and directories) and open block files.",
            Scope.VOLUME,
            "kind"),
    CACHE_BYTES(
            Type.GAUGE,
            "cache_bytes",
            "Memory of the process that these entries take, estimated by their number, names and extended attributes; block files take none.",
            Scope.VOLUME,
            "kind"),
    CACHE_LIMIT(
            Type.GAUGE,
            "cache_limit_entries",
            "Most entries kept; absent where only memory limits them.",
            Scope.VOLUME,
            "kind"),
    CACHE_LIMIT_BYTES(
            Type.GAUGE,
            "cache_limit_bytes",
            "Most memory of entries that nobody uses, shared with other volumes.",
            Scope.VOLUME,
            "kind"),
    CACHE_EVICTIONS(Type.COUNTER, "cache_evictions", "Entries evicted to make room.", Scope.VOLUME, "kind"),
    READ_AHEAD(Type.COUNTER, "readahead_bytes", "Data that streams read ahead.", Scope.VOLUME),
    READ_AHEAD_WASTED(
            Type.COUNTER, "readahead_wasted_bytes", "Data that streams read ahead and nobody read.", Scope.VOLUME),
    BUFFER_BYTES(Type.GAUGE, "read_buffer_bytes", "Memory that streams hold to read ahead.", Scope.VOLUME),
    BUFFER_LIMIT(Type.GAUGE, "read_buffer_limit_bytes", "Most memory they may hold together.", Scope.VOLUME),
    RPC_DURATION(
            Type.HISTOGRAM,
            "rpc_duration_seconds",
            "Calls to Alluxio, by method; retries and waiting for a free connection included.",
            Scope.VOLUME,
            "method"),
    RPC_ERRORS(
            Type.COUNTER,
            "rpc_errors",
            "Calls to Alluxio that failed, by the error they mean; ENOENT (2) is an answer like others.",
            Scope.VOLUME,
            "method",
            "errno"),
    RPCS_IN_FLIGHT(Type.GAUGE, "rpcs_in_flight", "Calls to Alluxio that are in flight.", Scope.VOLUME),
    RPCS_LIMIT(
            Type.GAUGE,
            "rpcs_limit",
            "Most metadata calls at the same time (alluxio.user.file.master.client.pool.size.max).",
            Scope.VOLUME),
    SOURCE_BYTES(
            Type.COUNTER,
            "source_read_bytes",
            "Data read from Alluxio, by how: block files of a local worker, or streams of a remote one.",
            Scope.VOLUME,
            "source"),
    UFS_BYTES(
            Type.COUNTER,
            "ufs_read_bytes",
            "Of the data that streams brought: what no worker had, so that one fetched it from the under file system.",
            Scope.VOLUME),
    PASSTHROUGH_OPENS(
            Type.COUNTER,
            "passthrough_opens",
            "Opens after which the kernel reads the block file by itself (passthrough).",
            Scope.VOLUME),
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
    PHASE(
            Type.COUNTER,
            "request_phase_seconds",
            "Where the time of requests went: wait (received, not yet taken up by a pool thread), alluxio (in calls to"
                    + " Alluxio), file_system (all else).",
            Scope.VOLUME,
            "op",
            "phase"),
    IN_FLIGHT(Type.GAUGE, "requests_in_flight", "Requests received and not yet answered.", Scope.VOLUME),
    OFFLOADED(
            Type.COUNTER,
            "requests_offloaded",
            "Requests that could not be served from memory and were offloaded to the pool.",
            Scope.VOLUME),
    QUEUED(Type.GAUGE, "requests_queued", "Requests that wait for a pool thread.", Scope.VOLUME),
    DELAYED(
            Type.GAUGE,
            "requests_delayed",
            "Requests that bytes_per_second or requests_per_second holds up; durations leave that time out.",
            Scope.VOLUME),
    DELAYS(Type.COUNTER, "requests_limited", "Requests that these limits have held up.", Scope.VOLUME),
    DELAY_SECONDS(
            Type.COUNTER, "limit_delay_seconds", "For how long these limits held requests up, together.", Scope.VOLUME),
    POOL_LIMIT(Type.GAUGE, "pool_threads_limit", "Most threads of the pool (pool_threads).", Scope.VOLUME),
    KERNEL_WAITING(
            Type.GAUGE,
            "kernel_waiting_requests",
            "Requests that the kernel counts as not answered, here or still in its queue; absent where fusectl is not"
                    + " mounted at /sys/fs/fuse/connections.",
            Scope.VOLUME),
    SLOW_NOW(
            Type.GAUGE,
            "slow_requests",
            "Requests older than slow_request, as the watchdog saw them last.",
            Scope.VOLUME),
    SLOW(Type.COUNTER, "requests_slow", "Requests that the watchdog named as slow.", Scope.VOLUME),
    INTERRUPTED(
            Type.COUNTER,
            "calls_interrupted",
            "Calls to Alluxio that the watchdog interrupted (interrupt_after).",
            Scope.VOLUME),
    ABORTED(Type.COUNTER, "connections_aborted", "Mounts that the watchdog aborted (abort_after).", Scope.VOLUME),
    ACCESS_DROPPED(
            Type.COUNTER,
            "access_log_dropped_lines",
            "Lines of the access log that were lost, as their reader was too slow.",
            Scope.VOLUME),
    BYPASS_OPENS(
            Type.COUNTER,
            "bypass_opens",
            "Files opened by programs that read their block files without FUSE (bypass).",
            Scope.VOLUME),
    BYPASS_REFUSED(
            Type.COUNTER,
            "bypass_refused",
            "Files that such programs read through FUSE after all, by reason.",
            Scope.VOLUME,
            "reason"),
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

    /** Names before they were changed; {@code serve --old-metric-names} offers them, too. */
    private static final Map<GatewayMetric, String> EARLIER_NAMES = Map.of(
            BYPASS_REJECTED, "bypass_strangers",
            SESSIONS_WITHOUT_KEEPER, "unkept_sessions",
            OFFLOADED, "requests_handed_over");

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

    /** The plain name it had before it was renamed; null: it always had this one. */
    @Nullable
    String earlierName() {
        String earlier = EARLIER_NAMES.get(this);
        return earlier == null ? null : PREFIX + earlier;
    }

    /** As Prometheus shows it: counters end in _total, infos in _info. */
    public String exposedName() {
        return exposed(plainName());
    }

    private String exposed(String plain) {
        return switch (type) {
            case COUNTER -> plain + "_total";
            case INFO -> plain + "_info";
            case GAUGE, HISTOGRAM -> plain;
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
        StringBuilder text = new StringBuilder("| metric | type | labels | what it measures |\n|---|---|---|---|\n");
        for (GatewayMetric metric : values()) {
            String labels = metric.labels.isEmpty() ? "–" : "`" + String.join("`, `", metric.labels) + "`";
            String type = metric.type.name().toLowerCase(Locale.ROOT);
            String earlier = metric.earlierName();
            String renamed = earlier == null ? "" : " Earlier name: " + metric.exposed(earlier) + ".";
            text.append("| `" + metric.exposedName() + "` | " + type + " | " + labels + " | " + metric.help + renamed
                    + " |\n");
        }
        return text.toString();
    }
}
