"""The plot of bench-latency: how the time of each thing grows with the round trip."""

import re
from pathlib import Path

import matplotlib
from contenders import CONTENDERS

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  the backend must be chosen first

LOAD = re.compile(r"(?P<what>.+), (?P<trip>\d+) ms")
LABELS = {each.name: each.label for each in CONTENDERS}
DRAWN = (
    "near: small file, first",
    "far: small file, first",
    "far: under file system: small file, first",
    "far: long file, first",
)


def by_trip(table: dict) -> dict[str, dict[int, dict]]:
    """By what is done, and then by the round trip: the row of the table."""
    found: dict[str, dict[int, dict]] = {}
    for load, row in table.items():
        if match := LOAD.fullmatch(load):
            found.setdefault(match["what"], {})[int(match["trip"])] = row
    return found


def draw(out: Path, table: dict, names: list[str]) -> None:
    """Lines along the round trip, one picture for each thing."""
    found = {what: rows for what, rows in by_trip(table).items() if what in DRAWN}
    figure, all_axes = pyplot.subplots(1, max(1, len(found)), figsize=(4 * max(1, len(found)), 4), squeeze=False)
    for axes, (what, rows) in zip(all_axes[0], found.items(), strict=False):
        for name in names:
            points = [(trip, row[name]["median"]) for trip, row in sorted(rows.items()) if name in row]
            if points:
                axes.plot(*zip(*points, strict=True), marker="o", label=LABELS[name])
        axes.set_title(what, fontsize=8)
        axes.set_xlabel("round trip, ms")
        axes.set_ylabel(next(iter(next(iter(rows.values())).values()))["unit"])
        axes.set_yscale("log")
        axes.grid(axis="y", alpha=0.3)
        axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(out / "trips.png", dpi=100)
    pyplot.close(figure)
