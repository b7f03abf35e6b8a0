"""Of bench-scaling: what follows on paper for names and nodes (docs/scaling.md), and its plots."""

import re
from pathlib import Path

import matplotlib
from contenders import CONTENDERS

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  the backend must be chosen first

LABELS = {each.name: each.label for each in CONTENDERS}
OURS, ROOMY = "gateway", "gateway-many"
NAMES = re.compile(r"(?P<alone>tables alone: )?heap of each of (?P<count>[\d,]+) names")
VOLUMES = re.compile(r"(?P<count>\d+) volumes: (?P<what>.+)")
READERS = re.compile(r"small files by (?P<count>\d+) readers")
MASTER = re.compile(r"master: (?P<what>.+), (?P<count>\d+) callers")
ATTRIBUTES, LISTING = "attributes of a file", "a listing of 1,000 names"

NODES, FILES, DIRECTORIES, EPOCH_S = 1000, 1_280_000, 1000, 3600


def counted(table: dict, pattern: re.Pattern, **wanted: str | None) -> dict[int, dict]:
    """Rows of the loads that are like this, by the number in their names."""
    found = {}
    for load, row in table.items():
        match = pattern.fullmatch(load)
        if match and all(match[key] == value for key, value in wanted.items()):
            found[int(match["count"].replace(",", ""))] = row
    return dict(sorted(found.items()))


def of(rows: dict[int, dict], name: str) -> dict[int, float]:
    return {count: row[name]["median"] for count, row in rows.items() if name in row}


def last(values: dict[int, float]) -> tuple[int, float] | None:
    return max(values.items()) if values else None


def asked(table: dict, what: str) -> tuple[float, float] | None:
    """Calls a second of the master, and its CPU time of one in µs, by as many callers as it answered most."""
    cells = [row[OURS] for row in counted(table, MASTER, what=what).values() if OURS in row]
    if not cells:
        return None
    best = max(cells, key=lambda cell: cell["median"])
    return best["median"], best["master_cpu_us"]


def names_on_paper(table: dict) -> list[str]:
    seen = [
        found
        for rows, name in (
            (counted(table, NAMES, alone=None), ROOMY),
            (counted(table, NAMES, alone="tables alone: "), OURS),
        )
        if (found := last(of(rows, name)))
    ]
    if not seen:
        return []
    count, each = max(seen)
    lines = ["## Names", f"A name takes {each:,.0f} bytes of heap where there are {count:,}. By this:", ""]
    lines += ["| names | heap |", "|---|---|"]
    for names in (FILES, 5_000_000, 10_000_000):
        lines.append(f"| {names:,} | {names:,} × {each:,.0f} bytes = {names * each / 1e6:,.0f} MB |")
    return [*lines, ""]


def ways() -> list[tuple[str, str, float, float]]:
    """How metadata are cached: how many calls that makes, and a second: for attributes, and listings of 1,000 names."""
    opens, folders = FILES * NODES / EPOCH_S, DIRECTORIES * NODES / EPOCH_S
    return [
        ("none cached (a look-up and an open each)", "2 × F × N", 2 * opens, 0),
        ("cached until an open: `close-to-open`, the order over all directories", "F × N", opens, 0),
        (
            "the same, one directory after the other: in each `open_trust` (1 s) of the 3.6 s for which it is read, a "
            "call for the directory and two for its 1,280 names",
            "4 × (1 + 2) × D × N",
            4 * folders,
            8 * folders,
        ),
        (
            "`consistency=immutable`, or `ttl` with a `metadata_ttl` of more than the job, first epoch: a listing of "
            "two calls for each directory",
            "2 × D × N",
            0,
            2 * folders,
        ),
        (
            f"the same, later epochs, with a heap for F + D = {FILES + DIRECTORIES:,} names",
            "none",
            0,
            0,
        ),
    ]


def cluster_on_paper(table: dict) -> list[str]:
    lines = [
        "## Calls to Alluxio's master: 1,000 nodes that train",
        f"Assumed: each of N = {NODES:,} nodes reads the same F = {FILES:,} files once in an epoch of {EPOCH_S:,} s, "
        f"in an order of its own, from D = {DIRECTORIES:,} directories: {FILES:,} ÷ {EPOCH_S:,} = "
        f"{FILES / EPOCH_S:,.0f} opens a second and node.",
        "",
    ]
    status, listing = asked(table, ATTRIBUTES), asked(table, LISTING)
    if not (status and listing):
        lines += ["| metadata | calls of all in an epoch | a second at the master |", "|---|---|---|"]
        lines += [f"| {way} | {formula} | {one + many:,.0f} |" for way, formula, one, many in ways()]
        return [*lines, "", "What a master answers was not measured.", ""]
    lines += [
        f"Measured, with callers on the master's own CPUs: a = {status[1]:,.0f} µs of the master's CPU time for "
        f"{ATTRIBUTES}, at {status[0]:,.0f} calls a second; l = {listing[1]:,.0f} µs for {LISTING}, at "
        f"{listing[0]:,.0f} calls a second.",
        "",
        "| metadata | calls of all in an epoch | a second at the master | CPUs that the master needs for that |",
        "|---|---|---|---|",
    ]
    for way, formula, one, many in ways():
        parts = [f"{count:,.0f} × {letter}" for count, letter in ((one, "a"), (many, "l")) if count]
        cpus = (one * status[1] + many * listing[1]) / 1e6
        said = f"{' + '.join(parts)} = {cpus:,.1f}" if parts else "none"
        lines.append(f"| {way} | {formula} | {one + many:,.0f} | {said} |")
    return [*lines, ""]


def on_paper(table: dict) -> str:
    """For docs/scaling.md: arithmetic on what was measured."""
    return "\n".join([*names_on_paper(table), *cluster_on_paper(table)]).rstrip() + "\n"


def picture(path: Path, values: dict[str, dict[int, float]], along: str, up: str) -> None:
    """Lines along a logarithm."""
    if not any(values.values()):
        return
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for label, points in values.items():
        if points:
            axes.plot(list(points), list(points.values()), marker="o", label=label)
    axes.set_xscale("log")
    along_here = sorted({place for points in values.values() for place in points})
    axes.set_xticks(along_here, [f"{place:,}" for place in along_here])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel(along)
    axes.set_ylabel(up)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def draw(out: Path, table: dict, names: list[str]) -> None:
    mounted, alone = counted(table, NAMES, alone=None), counted(table, NAMES, alone="tables alone: ")
    by_names = {LABELS[name]: of(mounted, name) for name in names} | {"gateway's tables alone": of(alone, OURS)}
    picture(out / "names.png", by_names, "names", "bytes of heap for each")
    volumes = {what: of(counted(table, VOLUMES, what=what), OURS) for what in ("resident memory", "heap")}
    picture(out / "volumes.png", volumes, "volumes of a gateway", "MB")
    readers = counted(table, READERS)
    picture(out / "readers.png", {LABELS[name]: of(readers, name) for name in names}, "readers", "files/s")
