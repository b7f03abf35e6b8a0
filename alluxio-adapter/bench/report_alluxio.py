"""What bench_alluxio measured: medians with their spread, ratios beside what is to be reached, plots."""

import statistics
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  the backend must be chosen first

OURS = "gateway"


@dataclass(frozen=True)
class Target:
    """Ours ÷ another, in these loads, is to be at least so much."""

    loads: tuple[str, ...]
    against: str
    least: float


def later(name: str, *readers: int) -> tuple[str, ...]:
    return tuple(f"{name}, later epochs, {count} readers" for count in readers)


PLAIN, TUNED, FLOOR = "alluxiofuse", "alluxiofuse-tuned", "tmpfs"
FIRST_READ = tuple(f"{name}, first read, {count} readers" for name in ("one-block", "many-blocks") for count in (1, 4))
TARGETS = [
    Target(later("svhn", 8, 64), PLAIN, 50),
    Target(later("svhn", 8, 64), TUNED, 10),
    Target(("svhn, first epoch, 1 reader",), PLAIN, 10),
    Target(("svhn, first epoch, 1 reader",), TUNED, 10),
    Target(later("coco", 8), PLAIN, 12),
    Target(later("coco", 8), TUNED, 1.6),
    Target(later("coco", 8), FLOOR, 0.8),
    Target(later("svhn", 8), FLOOR, 0.4),
    Target(("one-block, read again, 4 readers",), FLOOR, 0.85),
    Target(("many-blocks, read again, 4 readers",), FLOOR, 0.45),
    Target(FIRST_READ, PLAIN, 2),
    Target(FIRST_READ, TUNED, 2),
    Target(tuple(f"one-block, random 4 KiB, {count} readers" for count in (1, 4)), FLOOR, 0.8),
    Target(tuple(f"remote: many-blocks, first read, {count} readers" for count in (1, 4)), PLAIN, 2),
    Target(("remote: svhn, first epoch, 1 reader", "remote: coco, first epoch, 8 readers"), PLAIN, 3),
    Target(("create 19 KB, 8 writers",), PLAIN, 10),
    Target(("ls -l, first",), PLAIN, 5),
]
MOST_THREADS = 64


def medians(samples: list[dict]) -> dict[str, dict[str, dict]]:
    """By load and contender."""
    seen: dict[tuple[str, str], list[dict]] = {}
    for sample in samples:
        seen.setdefault((sample["load"], sample["contender"]), []).append(sample)
    table: dict[str, dict[str, dict]] = {}
    for (load, contender), rounds in seen.items():
        values = [each["value"] for each in rounds]
        table.setdefault(load, {})[contender] = {
            "median": statistics.median(values),
            "low": min(values),
            "high": max(values),
            "unit": rounds[0]["unit"],
            "threads": max(each.get("threads", 0) for each in rounds),
            "rss_mb": max(each.get("rss_mb", 0) for each in rounds),
        }
    return table


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"


def shown(cell: dict) -> str:
    middle = number(cell["median"])
    return middle if cell["low"] == cell["high"] else f"{middle} ({number(cell['low'])}–{number(cell['high'])})"


def table_of_values(table: dict, names: list[str], labels: dict) -> list[str]:
    lines = ["| load | unit | " + " | ".join(labels[name] for name in names) + " |", "|---|---|" + "---|" * len(names)]
    for load, row in table.items():
        cells = []
        for name in names:
            cell = row.get(name)
            cells.append(shown(cell) if cell else "–")
        unit = next(iter(row.values()))["unit"]
        lines.append(f"| {load} | {unit} | " + " | ".join(cells) + " |")
    return lines


def table_of_targets(table: dict, labels: dict) -> list[str]:
    lines = ["| load | against | ratio | to reach | |", "|---|---|---|---|---|"]
    for target in TARGETS:
        for load in target.loads:
            row = table.get(load, {})
            if OURS not in row or target.against not in row:
                continue
            ratio = row[OURS]["median"] / row[target.against]["median"]
            verdict = "reached" if ratio >= target.least else "**not reached**"
            lines.append(f"| {load} | {labels[target.against]} | {ratio:.2f} | {target.least:g} | {verdict} |")
    threads = [row[OURS]["threads"] for load, row in table.items() if "64 readers" in load and OURS in row]
    if threads:
        verdict = "reached" if max(threads) <= MOST_THREADS else "**not reached**"
        lines.append(f"| threads under 64 readers | | {max(threads)} | ≤ {MOST_THREADS} | {verdict} |")
    return lines


def table_of_footprints(table: dict, names: list[str], labels: dict) -> list[str]:
    lines = ["| | most threads | most resident MB |", "|---|---|---|"]
    for name in names:
        cells = [row[name] for row in table.values() if name in row]
        if cells and max(cell["threads"] for cell in cells) > 0:
            threads, memory = (max(cell[key] for cell in cells) for key in ("threads", "rss_mb"))
            lines.append(f"| {labels[name]} | {threads} | {memory:,.0f} |")
    return lines


def plot(out: Path, name: str, loads: list[str], table: dict, names: list[str], labels: dict) -> None:
    """Bars of every contender, one group a load, on a logarithmic axis."""
    loads = [load for load in loads if load in table]
    if not loads:
        return
    figure, axes = pyplot.subplots(figsize=(max(6.0, 1.5 * len(loads) + 2), 4.5))
    width = 0.8 / len(names)
    for at, contender in enumerate(names):
        cells = [(place, table[load][contender]) for place, load in enumerate(loads) if contender in table[load]]
        places = [place + at * width for place, _ in cells]
        middle = [cell["median"] for _, cell in cells]
        spread = [
            [cell["median"] - cell["low"] for _, cell in cells],
            [cell["high"] - cell["median"] for _, cell in cells],
        ]
        axes.bar(places, middle, width, yerr=spread, label=labels[contender])
    axes.set_yscale("log")
    axes.set_ylabel(next(iter(table[loads[0]].values()))["unit"])
    axes.set_xticks(
        [place + 0.4 - width / 2 for place in range(len(loads))], loads, rotation=20, ha="right", fontsize=7
    )
    axes.legend(fontsize=7)
    axes.grid(axis="y", alpha=0.3)
    figure.tight_layout()
    figure.savefig(out / f"{name}.png", dpi=120)
    pyplot.close(figure)


def write_report(out: Path, facts: dict, samples: list[dict], labels: dict) -> None:
    table = medians(samples)
    names = [name for name in labels if any(name in row for row in table.values())]
    lines = [
        f"Linux {facts['kernel']}, {facts['cpus']} CPUs ({facts['cpu']}), commit {facts['commit']}, {facts['date']}; "
        f"{facts['rounds']} rounds, load average before {facts['load_average_before']:.2f}.",
        "",
        *[f"{name}: `{line}`" for name, line in facts["sessions"].items() if line],
        "",
        "Medians (lowest–highest round), everything read was checked:",
        "",
        *table_of_values(table, names, labels),
        "",
        "What is to be reached, as ratios of medians (gateway ÷ the other):",
        "",
        *table_of_targets(table, labels),
        "",
        *table_of_footprints(table, names, labels),
    ]
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.md").write_text("\n".join(lines) + "\n")
    for unit, name in (("files/s", "files"), ("MB/s", "bytes"), ("reads/s", "reads")):
        loads = [load for load, row in table.items() if next(iter(row.values()))["unit"] == unit]
        plot(out, name, loads, table, names, labels)
