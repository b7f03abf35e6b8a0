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
                    "Part of the worker threads that is busy. Near 100 % requests wait for a thread.",
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
                    "Busy threads handle a request at this moment.",
                    "short",
                    [(by("node, state", f"posix_gateway_worker_threads{{{VOLUME}}}"), "{{node}} {{state}}")],
                ),
            ],
            [
                (
                    "Threads started and ended",
                    "Both stay near zero: a pool that churns is a defect.",
                    "ops",
                    [
                        (rate("posix_gateway_worker_threads_started_total"), "started {{node}} {{volume}}"),
                        (rate("posix_gateway_worker_threads_ended_total"), "ended {{node}} {{volume}}"),
                    ],
                ),
                (
                    "Requests in flight",
                    "Received from the kernel and not yet answered, those that wait for a pool thread included.",
                    "short",
                    [(by("node, volume", f"posix_gateway_requests_in_flight{{{VOLUME}}}"), "{{node}} {{volume}}")],
                ),
            ],
            [
                (
                    "Offloaded to the pool",
                    "Part of the requests that could not be answered from memory or a local file.",
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
                    "All threads of the JVM, those of the Alluxio client included.",
                    "short",
                    [(f"jvm_threads_current{{{WHERE}}}", "{{node}}")],
                ),
            ],
            [
                (
                    "Waiting for a thread of the pool",
                    "Offloaded, and no thread is free: near the limit, Alluxio is slower than its load.",
                    "short",
                    [
                        (
                            by("node, volume", f"posix_gateway_requests_queued{{{VOLUME}}}"),
                            "waiting {{node}} {{volume}}",
                        ),
                        (f"max by (node) (posix_gateway_pool_threads_limit{{{VOLUME}}})", "threads at most {{node}}"),
                    ],
                ),
                (
                    "Waiting requests, as the kernel counts",
                    "More than are in flight here: requests wait in the kernel's queue for a worker thread.",
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
                    "By operation. What the kernel answers from its caches never gets here.",
                    "reqps",
                    [(rate("posix_gateway_requests_total", "op"), "{{op}}")],
                ),
                (
                    "Errors",
                    "By operation and number; 2 is ENOENT, which is no fault, 5 is EIO, which is one.",
                    "reqps",
                    [(rate("posix_gateway_request_errors_total", "op, errno"), "{{op}} {{errno}}")],
                ),
            ],
            [
                (
                    "Median latency",
                    "From receiving a request to its answer.",
                    "s",
                    [(quantile(0.5, "op"), "{{op}}")],
                ),
                (
                    "99th percentile of latency",
                    "From receiving a request to its answer.",
                    "s",
                    [(quantile(0.99, "op"), "{{op}}")],
                ),
            ],
            [
                (
                    "Mean latency by volume",
                    "Which volume is slow.",
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
                    "Pauses of the garbage collector",
                    "Part of the time. Latency that follows this curve is the collector's.",
                    "percentunit",
                    [(by("node", f"rate(jvm_gc_collection_seconds_sum{{{WHERE}}}{RATE})"), "{{node}}")],
                ),
            ],
            [
                (
                    "Where the time goes",
                    "Seconds of requests in a second: waiting for a pool thread, in calls to Alluxio, in the gateway.",
                    "s",
                    [(rate("posix_gateway_request_phase_seconds_total", "phase"), "{{phase}}")],
                ),
                (
                    "Share of waiting and of Alluxio",
                    "Of the time of each operation.",
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
                    "By method. What the cache serves needs none.",
                    "reqps",
                    [(rate("posix_gateway_rpc_duration_seconds_count", "method"), "{{method}}")],
                ),
                (
                    "99th percentile of calls to Alluxio",
                    "Retries and waiting for a free connection included.",
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
                        (f"max by (node) (posix_gateway_rpcs_limit{{{VOLUME}}})", "at most {{node}}"),
                    ],
                ),
                (
                    "Failed calls to Alluxio",
                    "By method and errno; 2 is ENOENT, which is no fault.",
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
                    "Data given to readers by the gateway, not what the kernel's cache or passthrough gave.",
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
                    "Small reads cost more than their bytes: readahead of the kernel makes them large.",
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
                    "Part of the requests that needed no waiting.",
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
                    "Block files of the node's worker, or streams of another one.",
                    "Bps",
                    [(rate("posix_gateway_source_read_bytes_total", "source"), "{{source}}")],
                ),
                (
                    "Wasted read-ahead",
                    "Part of what streams read ahead and nobody read.",
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
                    "Hits of the caches",
                    "Part of the lookups of attributes, names and open block files that memory served.",
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
                    "Fill of the caches",
                    "Entries, as a part of the limit; a full cache that evicts much is too small.",
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
                    "Evictions",
                    "Entries dropped to make room for others.",
                    "ops",
                    [(rate("posix_gateway_cache_evictions_total", "volume, kind"), "{{volume}} {{kind}}")],
                ),
                (
                    "Memory of streams",
                    "What they hold to read ahead, of what they may hold together.",
                    "bytes",
                    [
                        (by("node, volume", f"posix_gateway_read_buffer_bytes{{{VOLUME}}}"), "{{node}} {{volume}}"),
                        (f"max by (node) (posix_gateway_read_buffer_limit_bytes{{{VOLUME}}})", "at most {{node}}"),
                    ],
                ),
            ],
            [
                (
                    "Spool",
                    "Part of its limit that changed files take which are not yet in Alluxio.",
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
                    "Free part of the capacity behind each volume, by Alluxio's last response.",
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
                    "Direct buffers of the JVM: data on its way.",
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
                    "Both stay at zero as long as keepers live and gateways answer.",
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
                    "Used part of the gateway's heap.",
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
                    "Resident, of gateway and driver.",
                    "bytes",
                    [(f"process_resident_memory_bytes{{{WHERE}}}", "{{node}} {{job}} {{endpoint}}")],
                ),
            ],
            [
                (
                    "Errors",
                    "Of input and output, of space, and of partners that do not answer.",
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
                    "From the start of a node's gateway until it served what another one had served.",
                    "s",
                    [(f"max by (node) (posix_gateway_takeover_seconds{{{VOLUME}}})", "{{node}}")],
                ),
            ],
        ],
    ),
]
