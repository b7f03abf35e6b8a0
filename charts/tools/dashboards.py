"""Makes the chart's Grafana dashboards from the tables below, and holds their queries against the metrics that exist.

dashboards.py write CHART           writes CHART/dashboards/*.json
dashboards.py check CHART           ends with 1 when one of them is not up to date
dashboards.py rules CHART           prints the queries as rules, for promtool to parse
dashboards.py refer CHART DOC...    ends with 1 if a dashboard or an alert refers to a metric or a page that no DOC has
"""

import json
import pathlib
import re
import sys

WHERE = 'cluster=~"$cluster",node=~"$node"'
VOLUME = WHERE + ',namespace=~"$namespace",pvc=~"$pvc",volume=~"$volume"'
RATE = "[$__rate_interval]"

# What others name and document: the JVM's and the process's metrics of the client libraries, and Prometheus' own.
STANDARD = re.compile(r"^(jvm|process|go)_|^up$")
NAME = re.compile(r"\b(?:posix_gateway|jvm|process|go)_[a-z0-9_]+\b|\bup\b")
SUFFIXES = re.compile(r"_(bucket|count|sum)$")


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
                    "Threads made and ended",
                    "Both stay near zero: a pool that churns is a defect.",
                    "ops",
                    [
                        (rate("posix_gateway_worker_threads_started_total"), "made {{node}} {{volume}}"),
                        (rate("posix_gateway_worker_threads_ended_total"), "ended {{node}} {{volume}}"),
                    ],
                ),
                (
                    "Requests under way",
                    "Received from the kernel and not yet answered, those that wait for a pool thread included.",
                    "short",
                    [(by("node, volume", f"posix_gateway_requests_in_flight{{{VOLUME}}}"), "{{node}} {{volume}}")],
                ),
            ],
            [
                (
                    "Handed over to the pool",
                    "Part of the requests that could not be answered from memory or a local file.",
                    "percentunit",
                    [
                        (
                            rate("posix_gateway_requests_handed_over_total")
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
                    "Data taken from writers.",
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
                    "Answered from memory",
                    "Part of the requests that needed no waiting.",
                    "percentunit",
                    [
                        (
                            "1 - "
                            + rate("posix_gateway_requests_handed_over_total")
                            + " / "
                            + rate("posix_gateway_requests_total"),
                            "{{node}} {{volume}}",
                        )
                    ],
                ),
            ],
            [
                (
                    "Room in Alluxio",
                    "Free part of the room behind each volume, by Alluxio's last answer.",
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
                    "Resident, of gateway, driver and keeper.",
                    "bytes",
                    [(f"process_resident_memory_bytes{{{WHERE}}}", "{{node}} {{job}} {{endpoint}}")],
                ),
            ],
        ],
    ),
]

VARIABLES = [
    ("cluster", "label_values(posix_gateway_ready, cluster)"),
    ("node", 'label_values(posix_gateway_ready{cluster=~"$cluster"}, node)'),
    ("namespace", f"label_values(posix_gateway_volume_info{{{WHERE}}}, namespace)"),
    ("pvc", f'label_values(posix_gateway_volume_info{{{WHERE},namespace=~"$namespace"}}, pvc)'),
    ("volume", f'label_values(posix_gateway_volume_info{{{WHERE},namespace=~"$namespace",pvc=~"$pvc"}}, volume)'),
]
SOURCE = {"type": "prometheus", "uid": "${source}"}


def panel(number, place, described):
    title, text, unit, queries = described
    return {
        "id": number,
        "type": "timeseries",
        "title": title,
        "description": text,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": unit, "min": 0, "custom": {"fillOpacity": 10}}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {"refId": chr(ord("A") + i), "expr": query, "legendFormat": legend, "datasource": SOURCE}
            for i, (query, legend) in enumerate(queries)
        ],
    }


def variables():
    source = {"name": "source", "type": "datasource", "query": "prometheus", "label": "Data source"}
    return [source] + [
        {
            "name": name,
            "type": "query",
            "datasource": SOURCE,
            "query": {"query": query, "refId": name},
            "includeAll": True,
            "allValue": ".*",
            "multi": True,
            "refresh": 2,
            "sort": 1,
            "current": {"text": ["All"], "value": ["$__all"]},
        }
        for name, query in VARIABLES
    ]


def dashboard(name, title, rows):
    panels = []
    for y, row in enumerate(rows):
        width = 24 // len(row)
        for x, described in enumerate(row):
            place = {"x": x * width, "y": y * 8, "w": width, "h": 8}
            panels.append(panel(len(panels) + 1, place, described))
    return {
        "uid": f"posix-gateway-{name}",
        "title": title,
        "tags": ["posix-gateway", "alluxio"],
        "schemaVersion": 39,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": variables()},
        "links": [{"type": "dashboards", "tags": ["posix-gateway"], "title": "POSIX Gateway", "keepTime": True}],
        "panels": panels,
    }


def files(chart):
    return {
        chart / "dashboards" / f"{name}.json": json.dumps(dashboard(name, title, rows), indent=1) + "\n"
        for name, title, rows in DASHBOARDS
    }


def write(chart):
    for path, content in files(chart).items():
        path.write_text(content)


def check(chart):
    stale = [str(path) for path, content in files(chart).items() if not path.exists() or path.read_text() != content]
    if stale:
        raise SystemExit(f"not up to date: {', '.join(stale)}; run: make charts-docs")


def queries():
    """Yields (query, where it stands)."""
    for name, _, rows in DASHBOARDS:
        for row in rows:
            for title, _, _, described in row:
                for query, _ in described:
                    yield query, f"dashboard {name}, panel {title}"


def rules(_):
    """The queries with Grafana's variables filled in, as rules: promtool parses those."""
    filled = [re.sub(r'"\$\w+"', '".*"', query.replace("$__rate_interval", "1m")) for query, _ in queries()]
    recorded = [{"record": f"dashboards:query{i}", "expr": query} for i, query in enumerate(filled)]
    print(json.dumps({"groups": [{"name": "dashboards", "rules": recorded}]}))


def used_metrics(chart):
    """Name of each metric that a query or an alert uses, to the place of its use."""
    used = {}
    for query, place in queries():
        for metric in NAME.findall(query):
            used.setdefault(metric, place)
    alerts = (chart / "files" / "alerts.yaml").read_text()
    for expression in re.findall(r"expr: (?:\|\n((?: {10,}.*\n)+)|(.*))", alerts):
        for metric in NAME.findall("".join(expression)):
            used.setdefault(metric, "an alert")
    return used


def check_references(chart, documents):
    text = "\n".join(pathlib.Path(document).read_text() for document in documents)
    declared = set(re.findall(r"`(posix_gateway_[a-z0-9_]+)`", text))
    unknown = [
        f"{metric} ({place})"
        for metric, place in used_metrics(chart).items()
        if not STANDARD.match(metric) and metric not in declared and SUFFIXES.sub("", metric) not in declared
    ]
    pages = {"#" + heading.lower() for heading in re.findall(r"^### (\w+)$", text, re.M)}
    alerts = (chart / "files" / "alerts.yaml").read_text()
    unknown += [f"page {page}" for page in re.findall(r"runbook_url: \S+(#\w+)", alerts) if page not in pages]
    if unknown:
        raise SystemExit("used, but not in " + ", ".join(documents) + ":\n  " + "\n  ".join(unknown))


def main(arguments):
    modes = {"write": write, "check": check, "rules": rules, "refer": check_references}
    if len(arguments) < 2 or arguments[0] not in modes:
        raise SystemExit(__doc__)
    chart = pathlib.Path(arguments[1])
    if arguments[0] == "refer":
        check_references(chart, arguments[2:])
    else:
        modes[arguments[0]](chart)


if __name__ == "__main__":
    main(sys.argv[1:])
