"""Asks a Prometheus what the dashboards ask.

ask.py check URL [PATTERN]   ends with 1 when a panel has no data; queries with the pattern may have none
ask.py has URL QUERY         ends with 1 when the query gives nothing
ask.py draw URL FOLDER [S]   draws each dashboard of the last S seconds (default 120) as FOLDER/NAME.png
"""

import json
import math
import pathlib
import re
import sys
import time
import urllib.parse
import urllib.request

import dashboards

# Empty while all is well, and where all that is read lies in the node's own worker.
QUIET = r"healthy\{.*== 0|csi_repairs_total|request_errors_total\{.*errno=~|readahead_wasted"
RATE_INTERVAL = "20s"


def ask(url, path, **parameters):
    with urllib.request.urlopen(f"{url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=30) as answer:
        return json.load(answer)["data"]["result"]


def filled(query):
    """A query with Grafana's variables filled in: everything."""
    return re.sub(r'"\$\w+"', '".*"', query.replace("$__rate_interval", RATE_INTERVAL))


def check(url, pattern="$^"):
    quiet = re.compile(f"{QUIET}|{pattern}")
    empty = [
        f"{place}: {query}"
        for query, place in dashboards.queries()
        if not quiet.search(query) and not ask(url, "query", query=filled(query))
    ]
    if empty:
        raise SystemExit("no data for\n  " + "\n  ".join(empty))


def has(url, query):
    if not ask(url, "query", query=query):
        raise SystemExit(f"no data for {query}")


def shown(value, unit):
    """A value as Grafana would show it, roughly."""
    if unit == "percentunit":
        return f"{value * 100:g} %"
    suffix = {"bytes": "B", "Bps": "B/s", "s": "s", "ops": "/s", "reqps": "/s"}.get(unit, "")
    if unit == "s":
        steps = [(1, ""), (1e-3, "m"), (1e-6, "µ")]
    else:
        steps = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")]
    for size, letter in steps:
        if abs(value) >= size:
            return f"{value / size:.4g} {letter}{suffix}".rstrip()
    return f"{value:.3g} {suffix}".rstrip()


def legend_of(template, labels):
    text = re.sub(r"\{\{(\w+)\}\}", lambda match: labels.get(match[1], ""), template).strip()
    return re.sub(r"(v-[0-9a-f]{6})[0-9a-f]{58}", r"\1…", text)  # a volume's id may be a hash


def draw_panel(axes, url, span, described):
    title, _, unit, queries = described
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axes.yaxis.set_major_formatter(lambda value, _: shown(value, unit))
    for query, legend in queries:
        for series in ask(url, "query_range", query=filled(query), start=span[0], end=span[1], step=2):
            points = [(float(when) - span[0], float(value)) for when, value in series["values"]]
            axes.plot(*zip(*points, strict=True), linewidth=1.2, label=legend_of(legend, series["metric"]))
    highest = max((value for line in axes.lines for value in line.get_ydata() if math.isfinite(value)), default=0)
    axes.set_ylim(0, 1.08 * highest or 1)
    axes.set_xlim(0, span[1] - span[0])
    axes.set_xlabel("s", fontsize=7)
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.3)
    if lines := len(axes.get_legend_handles_labels()[0]):
        axes.legend(fontsize=6, ncol=1 + (lines - 1) // 9, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    else:
        axes.text(0.5, 0.5, "nothing, as it should be", transform=axes.transAxes, ha="center", fontsize=8, color="gray")


def draw(url, folder, seconds=120):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    span = (time.time() - float(seconds), time.time())
    for name, title, rows in dashboards.DASHBOARDS:
        width = max(len(row) for row in rows)
        figure, grid = pyplot.subplots(len(rows), width, figsize=(7.5 * width, 2.6 * len(rows)), squeeze=False)
        for line, row in zip(grid, rows, strict=True):
            for axes in line[len(row) :]:
                axes.remove()
            for axes, described in zip(line, row, strict=False):
                draw_panel(axes, url, span, described)
        figure.suptitle(title, fontsize=12)
        figure.tight_layout()
        figure.savefig(pathlib.Path(folder) / f"{name}.png", dpi=80)
        pyplot.close(figure)


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("check", "has", "draw"):
        raise SystemExit(__doc__)
    {"check": check, "has": has, "draw": draw}[arguments[0]](*arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
