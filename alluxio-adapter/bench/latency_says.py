"""Of bench-latency: how many round trips each thing waits for, from how its time grows with them; and its plot."""

import re
from collections.abc import Iterator
from pathlib import Path

import matplotlib
from contenders import CONTENDERS

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  the backend must be chosen first

LOAD = re.compile(r"(?P<what>.+), (?P<trip>\d+) ms")
IN_MS = {"ms": 1.0, "µs": 1e-3}
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


def waits(rows: dict[int, dict], name: str) -> float | None:
    """Round trips that one of these waits for, by those that are longest and shortest; None: it is no time."""
    cells = {trip: row[name] for trip, row in rows.items() if name in row and row[name]["unit"] in IN_MS}
    if len(cells) < 2:
        return None
    short, long = min(cells), max(cells)
    more = cells[long]["median"] - cells[short]["median"]
    return more * IN_MS[cells[long]["unit"]] / (long - short)


def rows_of_waits(table: dict, names: list[str]) -> Iterator[str]:
    for what, rows in by_trip(table).items():
        seen = [waits(rows, name) for name in names]
        if any(each is not None for each in seen):
            cells = ["–" if each is None else f"{round(each, 2) + 0.0:.2f}" for each in seen]
            yield f"| {what} | " + " | ".join(cells) + " |"


def latency(table: dict, _facts: dict) -> list[str]:
    names = [name for name in LABELS if any(name in row for row in table.values())]
    head = ["| | " + " | ".join(LABELS[name] for name in names) + " |", "|---|" + "---|" * len(names)]
    return [
        "How many round trips each waits for: what its time grows by from the shortest to the longest, for each "
        "millisecond. Less than one means that several had one together, or that it waits for none; a negative one, "
        "that the shortest took longest.",
        "\n".join([*head, *rows_of_waits(table, names)]),
    ]


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
