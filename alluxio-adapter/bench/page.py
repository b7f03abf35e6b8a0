"""A workload's part of docs/benchmarks.md: the machine, one table of medians, one plot."""

import re
import sys
from pathlib import Path

from contenders import CONTENDERS, ROOT
from report_alluxio import medians, number
from targets_alluxio import PLAIN, TUNED

sys.path.insert(0, str(ROOT / "fuse-core" / "bench"))
from machine import machine  # noqa: E402  told alike by all benchmarks
from servers import SERVERS  # noqa: E402

KEPT = ROOT / "docs" / "benchmarks"
LABELS = {each.name: each.label for each in (*SERVERS, *CONTENDERS)}
REMOTE = r"remote: (svhn, .*|coco, .*|many-blocks, first read, (1|4) readers)"
# By workload: the loads of its table, and its plot. The others are in the JSON beside it.
TABLES = {
    "core": r"(read|write) (4096|131072) bytes, (1|128) threads",
    "alluxio": rf"(svhn|coco), (first epoch, 1 reader|later epochs, 8 readers)|{REMOTE}|.*, first read, 4 readers"
    r"|create 19 KB, 8 writers|ls -l, first|find -type f|stat.*",
    "workers": rf"(svhn|coco), later epochs, 8 readers|{REMOTE}",
    "figure15": r".*, (1|8|64) readers",
    "train": r"(pictures|.* 32 threads), .*: (speed|share of the wait)",
    "shapes": r"random 4 KiB, .*|sequential, reads of 1024 KiB, \d+ readers|random 64 KiB, \w+",
    "scaling": r"heap of each of (10,000|1,000,000).*|million: .*"
    r"|small files by .*|(1|50) volumes(, .*)?: resident memory|master: .*, 8 callers",
    "s3": r"S3: [^:]*",
    "latency": r"(near: small file|far: (under file system: )?\w+ file), first, 20 ms",
    "bypass": r"(2 GiB|blocks of 64 MiB), (4|64|1024) KiB, 1 thread",
}
PLOTS = {
    "core": "reads-4KiB",
    "alluxio": "files",
    "workers": "files",
    "figure15": "svhn",
    "train": "speed",
    "shapes": "reads",
    "scaling": "readers",
    "s3": "files",
    "latency": "trips",
    "bypass": "one-block",
}


def plot_of(name: str) -> Path:
    return KEPT / f"{name}-{PLOTS[name.split('/')[-1]]}.png"


def rows(results: dict) -> dict[str, dict]:
    """The loads of the table, in the order in which they were measured; a load of several parts: its first."""
    first: dict[str, str] = {}
    for sample in results["samples"]:
        first.setdefault(sample["load"], sample["part"])
    table = medians([sample for sample in results["samples"] if first[sample["load"]] == sample["part"]])
    wanted = re.compile(TABLES[results["benchmark"]])
    return {load: row for load, row in table.items() if wanted.fullmatch(load)}


def table_of(results: dict) -> list[str]:
    table = rows(results)
    names = [name for name in LABELS if any(name in row for row in table.values())]
    lines = ["| load | unit | " + " | ".join(LABELS[name] for name in names) + " |", "|---|---|" + "---|" * len(names)]
    for load, row in table.items():
        cells = [number(row[name]["median"]) if name in row else "–" for name in names]
        lines.append(f"| {load} | {next(iter(row.values()))['unit']} | {' | '.join(cells)} |")
    return lines


def options_of(*names: str) -> list[str]:
    """How the others were mounted."""
    others = [each for name in names for each in CONTENDERS if each.name == name]
    return [
        f"{each.label}: `-o {each.options}`, `{each.heap}`, {', '.join(f'`{line}`' for line in each.properties)}.  "
        for each in others
    ]


def section(name: str, results: dict) -> str:
    """`name`: the result file below docs/benchmarks, without its ending."""
    facts, plot = results["environment"], plot_of(name)
    rounds = max(sample["round"] for sample in results["samples"])
    trained_on = f", trained on {facts.get('accelerator') or facts['device']}" if facts.get("device") else ""
    counted = f"median of {rounds} rounds" if rounds > 1 else "one round"
    lines = [*table_of(results), ""]
    lines += [f"{machine(facts)}{trained_on}; {counted}. Data: [{name}.json](benchmarks/{name}.json).  "]
    if results["benchmark"] == "alluxio":
        lines += options_of(PLAIN, TUNED)
    if plot.exists():
        lines += [f"![{name}](benchmarks/{plot.relative_to(KEPT)})"]
    return "\n".join(lines) + "\n"
