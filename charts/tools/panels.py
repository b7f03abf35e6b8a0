"""The panels of the dashboards: what each asks of Prometheus, and what it tells."""

WHERE = 'cluster=~"$cluster",node=~"$node"'
VOLUME = WHERE + ',namespace=~"$namespace",pvc=~"$pvc",volume=~"$volume"'
RATE = "[$__rate_interval]"


def by(labels, expression):
    return f"sum by ({labels}) ({expression})"


def rate(metric, labels="node, volume", where=VOLUME):
    return by(labels, f"rate({metric}{{{where}}}{RATE})")


def quantile(share, labels):
    buckets = rate("posix_gateway_request_duration_seconds_bucket", f"le, {labels}")
    return f"histogram_quantile({share}, {buckets})"


# Dashboard: (file, title, rows of panels); panel: (title, what it tells, unit, [(query, legend)...]).
DASHBOARDS = [
    (
        "threads",
        "POSIX Gateway / FUSE threads",
        [
            [
                (
                    "Saturation",
                    "Fraction of worker threads that are busy. Near 100 %, requests wait for a thread.",
                    "percentunit",
                    [
                        (
                            by("node, volume", f'posix_gateway_worker_threads{{state="busy",{VOLUME}}}')
                            + " / "
                            + by("node, volume", f"posix_gateway_worker_threads{{{VOLUME}}}"),
                            "{{node}} {{volume}}",
                        )
                    ],
                ),
                (
                    "Threads by state",
                    "Busy threads are handling a request.",
                    "short",
                    [(by("node, state", f"posix_gateway_worker_threads{{{VOLUME}}}"), "{{node}} {{state}}")],
                ),
            ],
            [
                (
                    "Threads started and ended",
                    "Both should stay near zero; a pool that keeps starting threads is a defect.",
                    "ops",
                    [
                        (rate("posix_gateway_worker_threads_started_total"), "started {{node}} {{volume}}"),
                        (rate("posix_gateway_worker_threads_ended_total"), "ended {{node}} {{volume}}"),
                    ],
                ),
                (
                    "Requests in flight",
                    "Received from the kernel and not yet answered, including those that wait for a pool thread.",
                    "short",
                    [(by("node, volume", f"posix_gateway_requests_in_flight{{{VOLUME}}}"), "{{node}} {{volume}}")],
                ),
            ],
            [
                (
                    "Offloaded to the pool",
                    "Fraction of the requests that could not be answered from memory or a local file.",
                    "percentunit",
                    [
                        (
                            rate("posix_gateway_requests_offloaded_total")
                            + " / "
                            + rate("posix_gateway_requests_total"),
                            "{{node}} {{volume}}",
                        )
                    ],
                ),
                (
                    "Threads of the process",
                    "All threads of the JVM, including those of the Alluxio client.",
                    "short",
                    [(f"jvm_threads_current{{{WHERE}}}", "{{node}}")],
                ),
            ],
            [
                (
                    "Waiting for a thread of the pool",
                    "Offloaded requests without a free thread; near the limit, Alluxio cannot keep up with the load.",
                    "short",
                    [
                        (
                            by("node, volume", f"posix_gateway_requests_queued{{{VOLUME}}}"),
                            "waiting {{node}} {{volume}}",
                        ),
                        (f"max by (node) (posix_gateway_pool_threads_limit{{{VOLUME}}})", "thread limit {{node}}"),
                    ],
                ),
                (
                    "Unanswered requests, counted by the kernel",
                    "If higher than the requests in flight, requests wait in the kernel's queue for a worker thread.",
                    "short",
                    [(by("node, volume", f"posix_gateway_kernel_waiting_requests{{{VOLUME}}}"), "{{node}} {{volume}}")],
                ),
            ],
        ],
    ),
    (
        "latency",
        "POSIX Gateway / latency and throughput",
        [
            [
                (
                    "Requests",
                    "By operation, without requests that the kernel answers from its caches.",
                    "reqps",
                    [(rate("posix_gateway_requests_total", "op"), "{{op}}")],
                ),
                (
                    "Errors",
                    "By operation and errno; 2 is ENOENT, which is normal; 5 is EIO, which is a fault.",
                    "reqps",
                    [(rate("posix_gateway_request_errors_total", "op, errno"), "{{op}} {{errno}}")],
                ),
            ],
            [
                (
                    "Median latency",
                    "Time from receiving a request to its reply.",
                    "s",
                    [(quantile(0.5, "op"), "{{op}}")],
                ),
                (
                    "99th percentile of latency",
                    "Time from receiving a request to its reply.",
                    "s",
                    [(quantile(0.99, "op"), "{{op}}")],
                ),
            ],
            [
                (
                    "Mean latency by volume",
                    "Shows which volume is slow.",
                    "s",
                    [
                        (
                            rate("posix_gateway_request_duration_seconds_sum")
                            + " / "
                            + rate("posix_gateway_request_duration_seconds_count"),
                            "{{node}} {{volume}}",
                        )
                    ],
                ),
                (
                    "Garbage collection pauses",
                    "Fraction of time. Latency that follows this curve is caused by garbage collection.",
                    "percentunit",
                    [(by("node", f"rate(jvm_gc_collection_seconds_sum{{{WHERE}}}{RATE})"), "{{node}}")],
                ),
            ],
            [
                (
                    "Time by phase",
                    "Request seconds per second: waiting for a pool thread, in calls to Alluxio, in the gateway.",
                    "s",
                    [(rate("posix_gateway_request_phase_seconds_total", "phase"), "{{phase}}")],
                ),
                (
                    "Share of waiting and Alluxio by operation",
                    "Fraction of each operation's time.",
                    "percentunit",
                    [
                        (
                            rate(
                                "posix_gateway_request_phase_seconds_total",
                                "op, phase",
                                VOLUME + ',phase!="file_system"',
                            )
                            + " / on (op) group_left () "
                            + rate("posix_gateway_request_phase_seconds_total", "op"),
                            "{{op}} {{phase}}",
                        )
                    ],
                ),
            ],
            [
                (
                    "Calls to Alluxio",
                    "By method; lookups served from the cache need none.",
                    "reqps",
                    [(rate("posix_gateway_rpc_duration_seconds_count", "method"), "{{method}}")],
                ),
                (
                    "99th percentile of calls to Alluxio",
                    "Including retries and waiting for a free connection.",
                    "s",
                    [
                        (
                            "histogram_quantile(0.99, "
                            + rate("posix_gateway_rpc_duration_seconds_bucket", "le, method")
                            + ")",
                            "{{method}}",
                        )
                    ],
                ),
            ],
            [
                (
                    "Calls to Alluxio in flight",
                    "At the limit calls wait; alluxio.user.file.master.client.pool.size.max raises it.",
                    "short",
                    [
                        (by("node, volume", f"posix_gateway_rpcs_in_flight{{{VOLUME}}}"), "{{node}} {{volume}}"),
                        (f"max by (node) (posix_gateway_rpcs_limit{{{VOLUME}}})", "limit {{node}}"),
                    ],
                ),
                (
                    "Failed calls to Alluxio",
                    "By method and errno; 2 is ENOENT, which is normal.",
                    "reqps",
                    [(rate("posix_gateway_rpc_errors_total", "method, errno"), "{{method}} {{errno}}")],
                ),
            ],
        ],
    ),
    (
        "data-path",
        "POSIX Gateway / data path",
        [
            [
                (
                    "Read",
                    "Data returned to readers by the gateway, without the kernel's cache and passthrough.",
                    "Bps",
                    [(rate("posix_gateway_read_bytes_total"), "{{node}} {{volume}}")],
                ),
                (
                    "Written",
                    "Data received from writers.",
                    "Bps",
                    [(rate("posix_gateway_written_bytes_total"), "{{node}} {{volume}}")],
                ),
            ],
            [
                (
                    "Bytes per read",
                    "Small reads are expensive; the kernel's readahead makes them larger.",
                    "bytes",
                    [
                        (
                            rate("posix_gateway_read_bytes_total")
                            + " / "
                            + rate("posix_gateway_requests_total", where=VOLUME + ',op="read"'),
                            "{{node}} {{volume}}",
                        )
                    ],
                ),
                (
                    "Served from memory",
                    "Fraction of the requests answered without waiting for Alluxio or a disk.",
                    "percentunit",
                    [
                        (
                            "1 - "
                            + rate("posix_gateway_requests_offloaded_total")
                            + " / "
                            + rate("posix_gateway_requests_total"),
                            "{{node}} {{volume}}",
                        )
                    ],
                ),
            ],
            [
                (
                    "Read from Alluxio, by source",
                    "Block files of the node's worker, or streams from another worker.",
                    "Bps",
                    [(rate("posix_gateway_source_read_bytes_total", "source"), "{{source}}")],
                ),
                (
                    "Wasted read-ahead",
                    "Fraction of the data read ahead by streams that no reader used.",
                    "percentunit",
                    [
                        (
                            rate("posix_gateway_readahead_wasted_bytes_total")
                            + " / ("
                            + rate("posix_gateway_readahead_bytes_total")
                            + " > 0)",
                            "{{node}} {{volume}}",
                        )
                    ],
                ),
            ],
            [
                (
                    "Cache hits",
                    "Fraction of the lookups of attributes, names and open block files served from memory.",
                    "percentunit",
                    [
                        (
                            rate("posix_gateway_cache_hits_total", "kind")
                            + " / ("
                            + rate("posix_gateway_cache_hits_total", "kind")
                            + " + "
                            + rate("posix_gateway_cache_misses_total", "kind")
                            + " > 0)",
                            "{{kind}}",
                        )
                    ],
                ),
                (
                    "Cache usage",
                    "Entries as a fraction of the limit; a full cache that evicts much is too small.",
                    "percentunit",
                    [
                        (
                            by("node, volume, kind", f"posix_gateway_cache_entries{{{VOLUME}}}")
                            + " / "
                            + by("node, volume, kind", f"posix_gateway_cache_limit_entries{{{VOLUME}}} > 0"),
                            "{{node}} {{volume}} {{kind}}",
                        ),
                        (
                            by("node", f"posix_gateway_cache_budget_used_bytes{{{WHERE}}}")
                            + " / "
                            + by("node", f"posix_gateway_cache_budget_limit_bytes{{{WHERE}}} > 0"),
                            "{{node}} metadata of all volumes",
                        ),
                    ],
                ),
            ],
            [
                (
                    "Data cache hits",
                    "Fraction of the reads of data from elsewhere that the node's data cache served.",
                    "percentunit",
                    [
                        (
                            rate("posix_gateway_data_cache_hits_total")
                            + " / ("
                            + rate("posix_gateway_data_cache_hits_total")
                            + " + "
                            + rate("posix_gateway_data_cache_misses_total")
                            + " > 0)",
                            "{{node}} {{volume}}",
                        )
                    ],
                ),
                (
                    "Data cache",
                    "Size, and its limit; 1 while its disk does not answer; failures of the disk.",
                    "short",
                    [
                        (f"max by (node) (posix_gateway_data_cache_bytes{{{VOLUME}}})", "bytes {{node}}"),
                        (f"max by (node) (posix_gateway_data_cache_limit_bytes{{{VOLUME}}})", "limit {{node}}"),
                        (f"max by (node) (posix_gateway_data_cache_suspended{{{VOLUME}}})", "suspended {{node}}"),
                        (
                            f"max by (node) (rate(posix_gateway_data_cache_faults_total{{{VOLUME}}}{RATE}))",
                            "failures per second {{node}}",
                        ),
                    ],
                ),
                (
                    "Data cache events",
                    "Pieces not cached for want of buffer_size, evicted, dropped, scrubbed; opens without a master.",
                    "ops",
                    [
                        (rate("posix_gateway_data_cache_skipped_total"), "skipped {{node}} {{volume}}"),
                        (rate("posix_gateway_data_cache_stale_opens_total"), "stale opens {{node}} {{volume}}"),
                        (
                            f"max by (node) (rate(posix_gateway_data_cache_evictions_total{{{VOLUME}}}{RATE}))",
                            "evicted {{node}}",
                        ),
                        (
                            f"max by (node) (rate(posix_gateway_data_cache_dropped_total{{{VOLUME}}}{RATE}))",
                            "dropped {{node}}",
                        ),
                        (
                            f"max by (node) (rate(posix_gateway_data_cache_scrubbed_total{{{VOLUME}}}{RATE}))",
                            "scrubbed {{node}}",
                        ),
                    ],
                ),
            ],
            [
                (
                    "Evictions",
                    "Entries evicted to make room for others.",
                    "ops",
                    [(rate("posix_gateway_cache_evictions_total", "volume, kind"), "{{volume}} {{kind}}")],
                ),
                (
                    "Memory of streams",
                    "Memory used for read-ahead, and its limit for all streams together.",
                    "bytes",
                    [
                        (by("node, volume", f"posix_gateway_read_buffer_bytes{{{VOLUME}}}"), "{{node}} {{volume}}"),
                        (f"max by (node) (posix_gateway_read_buffer_limit_bytes{{{VOLUME}}})", "limit {{node}}"),
                    ],
                ),
            ],
            [
                (
                    "Spool",
                    "Fraction of the limit used by changed files that are not yet uploaded.",
                    "percentunit",
                    [
                        (
                            by("node, volume", f"posix_gateway_spool_bytes{{{VOLUME}}}")
                            + " / "
                            + by("node, volume", f"posix_gateway_spool_limit_bytes{{{VOLUME}}} > 0"),
                            "{{node}} {{volume}}",
                        )
                    ],
                ),
                (
                    "Open and changed files",
                    "Changed: not yet uploaded to Alluxio.",
                    "short",
                    [
                        (by("node, volume", f"posix_gateway_open_files{{{VOLUME}}}"), "open {{node}} {{volume}}"),
                        (by("node, volume", f"posix_gateway_changed_files{{{VOLUME}}}"), "changed {{node}} {{volume}}"),
                    ],
                ),
            ],
            [
                (
                    "Free space in Alluxio",
                    "Free fraction of the capacity behind each volume, as of Alluxio's last response.",
                    "percentunit",
                    [
                        (
                            f"min by (volume) (posix_gateway_volume_available_bytes{{{VOLUME}}}"
                            f" / (posix_gateway_volume_capacity_bytes{{{VOLUME}}} > 0))",
                            "{{volume}}",
                        )
                    ],
                ),
                (
                    "Memory outside the heap",
                    "Direct buffers of the JVM, for data in transfer.",
                    "bytes",
                    [(f'jvm_buffer_pool_used_bytes{{{WHERE},pool="direct"}}', "{{node}}")],
                ),
            ],
        ],
    ),
    (
        "fleet",
        "POSIX Gateway / fleet",
        [
            [
                (
                    "Volumes per node",
                    "Served by the gateway, and held by the keeper; they differ only while a gateway is replaced.",
                    "short",
                    [
                        (f"posix_gateway_volumes{{{WHERE}}}", "served {{node}}"),
                        (f"posix_gateway_keeper_sessions{{{WHERE}}}", "held {{node}}"),
                    ],
                ),
                (
                    "Gateways that serve all mounts of their node",
                    "0: programs on that node wait.",
                    "short",
                    [(f"posix_gateway_ready{{{WHERE}}}", "{{node}}")],
                ),
            ],
            [
                (
                    "Volumes that Alluxio does not answer for",
                    "0: it does not answer, or the mount is dead.",
                    "short",
                    [(f"posix_gateway_volume_healthy{{{VOLUME}}} == 0", "{{node}} {{volume}}")],
                ),
                (
                    "Takeovers",
                    "How often the gateway of a node was replaced by another, an upgrade included.",
                    "short",
                    [(f"max by (node) (increase(posix_gateway_takeovers_total{{{VOLUME}}}[1h]))", "{{node}}")],
                ),
            ],
            [
                (
                    "Volume operations",
                    "Calls of the kubelets and of the provisioner that failed, by method and code.",
                    "ops",
                    [
                        (
                            rate(
                                "posix_gateway_csi_operation_seconds_count",
                                "method, code",
                                WHERE + ',code!="OK"',
                            ),
                            "{{method}} {{code}}",
                        )
                    ],
                ),
                (
                    "Repairs and forced unmounts",
                    "Both stay at zero while keepers run and gateways answer.",
                    "short",
                    [
                        (by("node, found", f"posix_gateway_csi_repairs_total{{{WHERE}}}"), "{{node}} {{found}}"),
                        (by("node", f"posix_gateway_csi_forced_unmounts_total{{{WHERE}}}"), "{{node}} forced"),
                    ],
                ),
            ],
            [
                (
                    "Heap",
                    "Used fraction of the gateway's heap.",
                    "percentunit",
                    [
                        (
                            by("node", f'jvm_memory_used_bytes{{area="heap",{WHERE}}}')
                            + " / "
                            + by("node", f'jvm_memory_max_bytes{{area="heap",{WHERE}}}'),
                            "{{node}}",
                        )
                    ],
                ),
                (
                    "Memory of the processes",
                    "Resident memory of gateway and driver.",
                    "bytes",
                    [(f"process_resident_memory_bytes{{{WHERE}}}", "{{node}} {{job}} {{endpoint}}")],
                ),
            ],
            [
                (
                    "Errors",
                    "I/O errors, lack of space, and timeouts of Alluxio.",
                    "reqps",
                    [
                        (
                            rate(
                                "posix_gateway_request_errors_total",
                                "node, volume, errno",
                                VOLUME + ',errno=~"5|28|110|111|112|121"',
                            ),
                            "{{node}} {{volume}} {{errno}}",
                        )
                    ],
                ),
                (
                    "Last takeover",
                    "Time from the end of a node's gateway, or the start of the next, until that served its sessions.",
                    "s",
                    [(f"max by (node) (posix_gateway_takeover_seconds{{{VOLUME}}})", "{{node}}")],
                ),
            ],
        ],
    ),
]
