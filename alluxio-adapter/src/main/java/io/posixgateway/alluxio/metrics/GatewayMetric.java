package io.posixgateway.alluxio.metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Every metric of the gateway but the JVM's: the table of docs/metrics.md is made from this. */
@SuppressWarnings("ImmutableEnumChecker") // the lists come from List.of
public enum GatewayMetric {
    BUILD(Type.INFO, "build", "Always 1; the version is a label.", "version"),
    READY(Type.GAUGE, "ready", "1 if every session of the keeper is served, else 0."),
    BYPASS_REJECTED(
            Type.COUNTER,
            "bypass_rejected_requests",
            "Requests at the bypass socket that were rejected: for files outside volumes with bypass, or above a"
                    + " program's rate limit."),
    SESSIONS_WITHOUT_KEEPER(
            Type.GAUGE,
            "sessions_without_keeper",
            "Volumes served by this process that no keeper holds; their mounts end with it."),
    REFUSED_SESSIONS(
            Type.GAUGE, "refused_sessions", "Sessions of the keeper that cannot be served; their calls fail with EIO."),
    VOLUMES(Type.GAUGE, "volumes", "Volumes served by this process."),
    VOLUMES_REFUSED(Type.COUNTER, "volumes_refused", "Volumes refused because memory was short."),
    CACHE_BUDGET(Type.GAUGE, "cache_budget_used_bytes", "Memory used by cached metadata of all volumes."),
    CACHE_BUDGET_LIMIT(
            Type.GAUGE,
            "cache_budget_limit_bytes",
            "Current limit of that memory: half of the heap, less while memory is short."),
    MEMORY_USED(
            Type.GAUGE,
            "memory_used_ratio",
            "Used fraction of the heap or of the control group's memory limit, whichever is larger."),
    MEMORY_STATE(
            Type.INFO,
            "memory",
            "Always 1; the state is calm, near (caches are evicted) or short (new volumes are refused, too).",
            "state"),
    VOLUME(
            Type.INFO,
            "volume",
            "Always 1; the labels show how the volume is served.",
            Scope.VOLUME,
            "transport",
            "path"),
    HEALTHY(
            Type.GAUGE,
            "volume_healthy",
            "1 if Alluxio answers for this volume and its mount works, else 0.",
            Scope.VOLUME),
    CAPACITY(
            Type.GAUGE,
            "volume_capacity_bytes",
            "Capacity of the volume's Alluxio cluster, as of its last response.",
            Scope.VOLUME),
    AVAILABLE(
            Type.GAUGE,
            "volume_available_bytes",
            "Free space in the volume's Alluxio cluster, as of its last response.",
            Scope.VOLUME),
    TAKEOVERS(Type.COUNTER, "takeovers", "Processes that served the volume before this one.", Scope.VOLUME),
    TAKEOVER_SECONDS(
            Type.GAUGE,
            "takeover_seconds",
            "Time from the start of this process, or from the end of the one that it waited for, until it served"
                    + " the volume; 0 if it took over from none.",
            Scope.VOLUME),
    CACHED_NODES(Type.GAUGE, "cached_nodes", "Files and directories whose metadata is cached.", Scope.VOLUME),
    OPEN_FILES(Type.GAUGE, "open_files", "Files open in the gateway.", Scope.VOLUME),
    CHANGED_FILES(Type.GAUGE, "changed_files", "Changed files that are not yet uploaded to Alluxio.", Scope.VOLUME),
    SPOOL_BYTES(Type.GAUGE, "spool_bytes", "Space used by changed files in the spool folder.", Scope.VOLUME),
    SPOOL_LIMIT(Type.GAUGE, "spool_limit_bytes", "Maximum space for changed files there.", Scope.VOLUME),
    SPOOL_DISK(
            Type.GAUGE,
            "spool_disk_bytes",
            "Free space on the spool folder's disk, for all volumes together, minus the reserve (spool_free).",
            Scope.VOLUME),
    SET_ASIDE(
            Type.GAUGE,
            "set_aside_files",
            "Files whose changed content was set aside when a mount or node ended, and waits for an operator.",
            Scope.VOLUME),
    SET_ASIDE_BYTES(Type.GAUGE, "set_aside_bytes", "Space used by such content.", Scope.VOLUME),
    UNFINISHED_RENAMES(
            Type.GAUGE,
            "unfinished_directory_renames",
            "Renames of directories, file by file, that are in flight or were interrupted; the same rename continues"
                    + " them.",
            Scope.VOLUME),
    CACHE_HITS(
            Type.COUNTER,
            "cache_hits",
            "Lookups of attributes, names and open block files that were served from memory.",
            Scope.VOLUME,
            "kind"),
    CACHE_MISSES(
            Type.COUNTER,
            "cache_misses",
            "Lookups that needed a request to Alluxio or had to open a block file.",
            Scope.VOLUME,
            "kind"),
    CACHE_ENTRIES(
            Type.GAUGE,
            "cache_entries",
            "Cached entries: nodes (files and directories) and open block files.",
            Scope.VOLUME,
            "kind"),
    CACHE_BYTES(
            Type.GAUGE,
            "cache_bytes",
            "Estimated memory of these entries, from their number, names and extended attributes; block files use"
                    + " none.",
            Scope.VOLUME,
            "kind"),
    CACHE_LIMIT(
            Type.GAUGE,
            "cache_limit_entries",
            "Maximum number of entries; absent where only memory limits them.",
            Scope.VOLUME,
            "kind"),
    CACHE_LIMIT_BYTES(
            Type.GAUGE,
            "cache_limit_bytes",
            "Maximum memory of unused entries, shared with other volumes.",
            Scope.VOLUME,
            "kind"),
    CACHE_EVICTIONS(Type.COUNTER, "cache_evictions", "Entries evicted to free memory.", Scope.VOLUME, "kind"),
    DATA_CACHE_HITS(Type.COUNTER, "data_cache_hits", "Reads that the data cache (cache_dir) served.", Scope.VOLUME),
    DATA_CACHE_MISSES(
            Type.COUNTER,
            "data_cache_misses",
            "Reads that Alluxio served, of files that the data cache could hold.",
            Scope.VOLUME),
    DATA_CACHE_SKIPPED(
            Type.COUNTER,
            "data_cache_skipped",
            "Pieces read and not cached, because buffer_size left no memory to gather them in.",
            Scope.VOLUME),
    DATA_CACHE_PIECES(
            Type.GAUGE,
            "data_cache_pieces",
            "Pieces of files in the data cache's folder, which volumes of a process may share; so are the next ones.",
            Scope.VOLUME),
    DATA_CACHE_BYTES(Type.GAUGE, "data_cache_bytes", "Size of these pieces.", Scope.VOLUME),
    DATA_CACHE_LIMIT(Type.GAUGE, "data_cache_limit_bytes", "Maximum size of these pieces.", Scope.VOLUME),
    DATA_CACHE_EVICTIONS(Type.COUNTER, "data_cache_evictions", "Pieces evicted to make room.", Scope.VOLUME),
    DATA_CACHE_DROPPED(
            Type.COUNTER,
            "data_cache_dropped",
            "Pieces that were damaged, missing or unreadable, and were dropped.",
            Scope.VOLUME),
    DATA_CACHE_SCRUBBED(
            Type.COUNTER,
            "data_cache_scrubbed",
            "Pieces compared with their checksums in the background, each once a day and after a restart.",
            Scope.VOLUME),
    DATA_CACHE_FAULTS(
            Type.COUNTER,
            "data_cache_faults",
            "Failures of the data cache's disk; reads continue from Alluxio.",
            Scope.VOLUME),
    DATA_CACHE_STALE_OPENS(
            Type.COUNTER,
            "data_cache_stale_opens",
            "Opens that used the last known version of a file because no master responded (stale_while_away).",
            Scope.VOLUME),
    DATA_CACHE_SUSPENDED(
            Type.GAUGE,
            "data_cache_suspended",
            "1 while the data cache's disk does not answer, and the cache is not used; else 0.",
            Scope.VOLUME),
    READ_AHEAD(Type.COUNTER, "readahead_bytes", "Data that streams read ahead.", Scope.VOLUME),
    READ_AHEAD_WASTED(
            Type.COUNTER, "readahead_wasted_bytes", "Data read ahead by streams that no reader used.", Scope.VOLUME),
    BUFFER_BYTES(Type.GAUGE, "read_buffer_bytes", "Memory used by streams for read-ahead.", Scope.VOLUME),
    BUFFER_LIMIT(Type.GAUGE, "read_buffer_limit_bytes", "Maximum memory for all of them together.", Scope.VOLUME),
    RPC_DURATION(
            Type.HISTOGRAM,
            "rpc_duration_seconds",
            "Calls to Alluxio by method, including retries and waiting for a free connection.",
            Scope.VOLUME,
            "method"),
    RPC_ERRORS(
            Type.COUNTER,
            "rpc_errors",
            "Failed calls to Alluxio by errno; ENOENT (2) is a normal response.",
            Scope.VOLUME,
            "method",
            "errno"),
    RPCS_IN_FLIGHT(Type.GAUGE, "rpcs_in_flight", "Calls to Alluxio in flight.", Scope.VOLUME),
    RPCS_LIMIT(
            Type.GAUGE,
            "rpcs_limit",
            "Maximum number of concurrent metadata calls (alluxio.user.file.master.client.pool.size.max).",
            Scope.VOLUME),
    SOURCE_BYTES(
            Type.COUNTER,
            "source_read_bytes",
            "Data read by source: block files of a local worker, streams from a remote one, or the data cache.",
            Scope.VOLUME,
            "source"),
    UFS_BYTES(
            Type.COUNTER,
            "ufs_read_bytes",
            "Data received in streams that no worker had cached, so that one fetched it from the under file system.",
            Scope.VOLUME),
    PASSTHROUGH_OPENS(
            Type.COUNTER,
            "passthrough_opens",
            "Opens after which the kernel reads the block file itself (passthrough).",
            Scope.VOLUME),
    REQUESTS(Type.COUNTER, "requests", "Requests from the kernel.", Scope.VOLUME, "op"),
    ERRORS(Type.COUNTER, "request_errors", "Requests that failed, by errno.", Scope.VOLUME, "op", "errno"),
    DURATION(
            Type.HISTOGRAM,
            "request_duration_seconds",
            "Time from receiving a request to its reply, including waiting for a pool thread.",
            Scope.VOLUME,
            "op"),
    PHASE(
            Type.COUNTER,
            "request_phase_seconds",
            "Time of requests by phase: wait (for a pool thread), alluxio (in calls to Alluxio), file_system"
                    + " (everything else).",
            Scope.VOLUME,
            "op",
            "phase"),
    IN_FLIGHT(Type.GAUGE, "requests_in_flight", "Requests in flight: received and not yet answered.", Scope.VOLUME),
    OFFLOADED(
            Type.COUNTER,
            "requests_offloaded",
            "Requests that could not be served from memory and were offloaded to the pool.",
            Scope.VOLUME),
    QUEUED(Type.GAUGE, "requests_queued", "Requests that wait for a pool thread.", Scope.VOLUME),
    DELAYED(
            Type.GAUGE,
            "requests_delayed",
            "Requests now delayed by bytes_per_second or requests_per_second; durations exclude this time.",
            Scope.VOLUME),
    DELAYS(Type.COUNTER, "requests_limited", "Requests delayed by these limits so far.", Scope.VOLUME),
    DELAY_SECONDS(
            Type.COUNTER, "limit_delay_seconds", "Total time for which these limits delayed requests.", Scope.VOLUME),
    POOL_LIMIT(Type.GAUGE, "pool_threads_limit", "Maximum number of pool threads (pool_threads).", Scope.VOLUME),
    KERNEL_WAITING(
            Type.GAUGE,
            "kernel_waiting_requests",
            "Unanswered requests as counted by the kernel, in flight or still in its queue; absent where fusectl is"
                    + " not mounted at /sys/fs/fuse/connections.",
            Scope.VOLUME),
    SLOW_NOW(
            Type.GAUGE,
            "slow_requests",
            "Requests older than slow_request at the watchdog's last check.",
            Scope.VOLUME),
    SLOW(Type.COUNTER, "requests_slow", "Requests that the watchdog logged as slow.", Scope.VOLUME),
    INTERRUPTED(
            Type.COUNTER,
            "calls_interrupted",
            "Calls to Alluxio that the watchdog interrupted (interrupt_after).",
            Scope.VOLUME),
    ABORTED(Type.COUNTER, "connections_aborted", "Mounts that the watchdog aborted (abort_after).", Scope.VOLUME),
    ACCESS_DROPPED(
            Type.COUNTER,
            "access_log_dropped_lines",
            "Lines of the access log that were dropped because the reader was too slow or its file not writable.",
            Scope.VOLUME),
    BYPASS_OPENS(
            Type.COUNTER,
            "bypass_opens",
            "Files opened by programs that read their block files without FUSE (bypass).",
            Scope.VOLUME),
    BYPASS_REFUSED(
            Type.COUNTER,
            "bypass_refused",
            "Files that such programs read through FUSE instead, by reason.",
            Scope.VOLUME,
            "reason"),
    READ_BYTES(
            Type.COUNTER,
            "read_bytes",
            "Data returned to readers by the gateway, without the kernel's cache.",
            Scope.VOLUME),
    WRITTEN_BYTES(Type.COUNTER, "written_bytes", "Data received from writers.", Scope.VOLUME),
    WORKERS(Type.GAUGE, "worker_threads", "Worker threads by state: busy or idle.", Scope.VOLUME, "state"),
    WORKERS_STARTED(Type.COUNTER, "worker_threads_started", "Worker threads started.", Scope.VOLUME),
    WORKERS_ENDED(Type.COUNTER, "worker_threads_ended", "Worker threads ended.", Scope.VOLUME);

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
