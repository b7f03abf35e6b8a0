"""Makes the chart's Grafana dashboards from panels.py, and holds their queries against the metrics that exist.

dashboards.py write CHART           writes CHART/dashboards/*.json
dashboards.py check CHART           ends with 1 when one of them is not up to date
dashboards.py rules CHART           prints the queries as rules, for promtool to parse
dashboards.py refer CHART DOC...    ends with 1 if a dashboard or an alert refers to a metric or a page that no DOC has
"""

import json
import pathlib
import re
import sys

from panels import DASHBOARDS, WHERE

# What others name and document: the JVM's and the process's metrics of the client libraries, and Prometheus' own.
STANDARD = re.compile(r"^(jvm|process|go)_|^up$")
NAME = re.compile(r"\b(?:posix_gateway|jvm|process|go)_[a-z0-9_]+\b|\bup\b")
SUFFIXES = re.compile(r"_(bucket|count|sum)$")

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
