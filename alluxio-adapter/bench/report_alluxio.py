"""What bench_alluxio measured: medians with their spread, ratios beside what is to be reached, plots."""

import re
import statistics
import sys
from itertools import groupby
from pathlib import Path

import matplotlib
import report_latency
import report_scaling
from contenders import CONTENDERS, ROOT
from groups import GROUPS, PARTS
from parts import Scale
from targets_alluxio import FLOOR, MOST_RESIDENT_MB, MOST_THREADS, OURS, Target, Verdict, ratio, verdicts

sys.path.insert(0, str(ROOT / "fuse-core" / "bench"))
from machine import machine  # noqa: E402  told alike by all benchmarks

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  the backend must be chosen first

NEAR = 4  # bars that differ by less are compared on a linear axis
LABELS = {each.name: each.label for each in CONTENDERS}
FURTHER = {
    "fetched_per_byte": "Bytes that the server received for each byte that was read",
    "server_cpus": "CPUs used",
    "master_cpu_us": "CPU time of the master, µs a call",
}
CHECKED = {"shapes": "after its loads, every byte of the files was compared on each mount of Alluxio"}
FIGURES = (("files/s", "files"), ("MB/s", "bytes"), ("reads/s", "reads"), ("pictures/s", "speed"), ("%", "share"))


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
            "by_round": {each["round"]: each["value"] for each in rounds},
            "unit": rounds[0]["unit"],
            "threads": max(each.get("threads", 0) for each in rounds),
            "rss_mb": max(each.get("rss_mb", 0) for each in rounds),
            **{key: statistics.median(each[key] for each in rounds) for key in FURTHER if key in rounds[0]},
        }
    return table


def number(value: float) -> str:
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 4
    return f"{value:,.{digits}f}"


def shown(cell: dict) -> str:
    middle = number(cell["median"])
    return middle if cell["low"] == cell["high"] else f"{middle} ({number(cell['low'])}–{number(cell['high'])})"


def table_of_values(table: dict, names: list[str]) -> list[str]:
    lines = ["| load | unit | " + " | ".join(LABELS[name] for name in names) + " |", "|---|---|" + "---|" * len(names)]
    for load, row in table.items():
        cells = [shown(row[name]) if name in row else "–" for name in names]
        unit = next(iter(row.values()))["unit"]
        lines.append(f"| {load} | {unit} | " + " | ".join(cells) + " |")
    return lines


def tables_by_kind(table: dict, names: list[str]) -> list[str]:
    """The null file system's loads are a table of their own: nobody else has them."""
    lines = []
    for alone in (False, True):
        some = [name for name in names if name.startswith("null-") == alone]
        rows = {load: row for load, row in table.items() if any(name in row for name in some)}
        if rows:
            lines += [*table_of_values(rows, some), ""]
    return lines


def further_tables(table: dict, names: list[str]) -> list[str]:
    lines = []
    for key, title in FURTHER.items():
        rows = {load: row for load, row in table.items() if any(cell.get(key, 0) >= 0.005 for cell in row.values())}
        if not rows:
            continue
        some = [name for name in names if any(key in row.get(name, {}) for row in rows.values())]
        lines += [f"{title}:", "", "| load | " + " | ".join(LABELS[name] for name in some) + " |"]
        lines += ["|---|" + "---|" * len(some)]
        for load, row in rows.items():
            cells = [f"{row[name][key]:.2f}" if key in row.get(name, {}) else "–" for name in some]
            lines.append(f"| {load} | " + " | ".join(cells) + " |")
        lines.append("")
    return lines


def row_of(verdict: Verdict, beside: str = "") -> str:
    target, told = verdict.target, "reached" if verdict.reached() else "**not reached**"
    what = f"{verdict.load}, {verdict.whose()}" if verdict.whose() else verdict.load
    return f"| {what} | {LABELS[target.against]} | {verdict.ratio:.2f}{beside} | {target.wanted()} | {told} |"


def summed_up(target: Target, seen: list[Verdict], table: dict) -> list[str]:
    """How many loads reach it; those that do not, each with what the floor has to the same."""
    values = [verdict.ratio for verdict in seen]
    missed = [verdict for verdict in seen if not verdict.reached()]
    lines = [
        f"| {target.title}: {len(seen)} loads, {LABELS[target.ours]} | {LABELS[target.against]} "
        f"| {min(values):.2f} to {max(values):.2f} | {target.wanted()} | {len(seen) - len(missed)} reach it |"
    ]
    for verdict in missed:
        floor = ratio(table[verdict.load], FLOOR, target.against) if target.against != FLOOR else None
        lines.append(row_of(verdict, f" ({LABELS[FLOOR]}: {floor:.2f})" if floor else ""))
    return lines


def looked_at(facts: dict) -> str:
    """When threads and memory of the servers were looked at."""
    return facts.get("footprints", "after each load")


def table_of_targets(table: dict, facts: dict) -> list[str]:
    lines = []
    for target, found in groupby(verdicts(table), key=lambda verdict: verdict.target):
        seen = list(found)
        lines += summed_up(target, seen, table) if target.title else map(row_of, seen)
    for ours in OURS:
        threads = [row[ours]["threads"] for load, row in table.items() if "64 readers" in load and ours in row]
        if threads:
            verdict = "reached" if max(threads) <= MOST_THREADS else "**not reached**"
            label = f"threads under 64 readers, looked at {looked_at(facts)}, {LABELS[ours]}"
            lines.append(f"| {label} | | {max(threads)} | ≤ {MOST_THREADS} | {verdict} |")
    cached = table.get("heap of each of 1,000,000 names", {}).get("gateway-many")
    if cached:
        verdict = "reached" if cached["rss_mb"] <= MOST_RESIDENT_MB else "**not reached**"
        label = f"resident MB with 1,000,000 names cached, {LABELS['gateway-many']}"
        lines.append(f"| {label} | | {cached['rss_mb']:.0f} | ≤ {MOST_RESIDENT_MB} | {verdict} |")
    if not lines:
        return []
    head = ["What is to be reached (gateway ÷ the other, median of the rounds' ratios):", ""]
    return [*head, "| load | against | ratio | to reach | |", "|---|---|---|---|---|", *lines, ""]


def table_of_footprints(table: dict, names: list[str], facts: dict) -> list[str]:
    lines = [f"| looked at {looked_at(facts)} | most threads | most resident MB |", "|---|---|---|"]
    for name in names:
        cells = [row[name] for row in table.values() if name in row]
        if cells and max(cell["threads"] for cell in cells) > 0:
            threads, memory = (max(cell[key] for cell in cells) for key in ("threads", "rss_mb"))
            lines.append(f"| {LABELS[name]} | {threads} | {memory:,.0f} |")
    return lines


def plot(out: Path, name: str, loads: list[str], table: dict, names: list[str]) -> None:
    """Bars of every contender, one group a load; on a logarithmic axis where they differ much, but for shares."""
    names = [each for each in names if any(each in table[load] for load in loads)]
    if not names:
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
        axes.bar(places, middle, width, yerr=spread, label=LABELS[contender])
    unit = next(iter(table[loads[0]].values()))["unit"]
    heights = [table[load][name]["median"] for load in loads for name in names if name in table[load]]
    axes.set_yscale("linear" if unit == "%" or max(heights) < NEAR * min(heights) else "log")
    axes.set_ylabel(unit)
    axes.set_xticks(
        [place + 0.4 - width / 2 for place in range(len(loads))], loads, rotation=20, ha="right", fontsize=7
    )
    finish(axes, figure, out / f"{name}.png")


def plot_readers(out: Path, name: str, table: dict, names: list[str]) -> None:
    """Lines along the number of readers."""
    rows = {int(load.split(", ")[1].split()[0]): row for load, row in table.items() if load.startswith(f"{name}, ")}
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for contender in names:
        points = [(count, row[contender]) for count, row in sorted(rows.items()) if contender in row]
        counts, middle = [count for count, _ in points], [cell["median"] for _, cell in points]
        axes.plot(counts, middle, marker="o", label=LABELS[contender])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("readers")
    axes.set_ylabel("files/s")
    finish(axes, figure, out / f"{name}.png")


def plot_transfers(out: Path, name: str, loads: dict[str, str], table: dict, names: list[str]) -> None:
    """Lines along the size of a transfer; `loads`: by the KiB of one."""
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for contender in names:
        points = [
            (int(kib), table[load][contender]["median"]) for kib, load in loads.items() if contender in table[load]
        ]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", label=LABELS[contender])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("KiB a transfer")
    axes.set_ylabel("MB/s")
    finish(axes, figure, out / f"{name}.png")


def draw_transfers(out: Path, table: dict, names: list[str]) -> None:
    """Of the largest file of one block, and of one of several; by one thread."""
    for file, name in (("2 GiB", "one-block"), ("blocks of 64 MiB", "many-blocks")):
        pattern = re.compile(rf"{file}, (\d+) KiB, 1 thread")
        loads = {match[1]: load for load in table if (match := pattern.fullmatch(load))}
        if loads:
            plot_transfers(out, name, loads, table, names)


def finish(axes, figure, path: Path) -> None:
    axes.legend(fontsize=7)
    axes.grid(axis="y", alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def head(facts: dict) -> str:
    trained_on = f", trained on {facts.get('accelerator') or facts['device']}" if facts.get("device") else ""
    pages = f", files and blocks on a tmpfs with {facts['pages']}" if facts.get("pages") else ""
    short = f"; {facts['seconds']:g} s a load" if facts["seconds"] < Scale.seconds else ""
    return f"{machine(facts)}{trained_on}{pages}{short}; load average before {facts['load_average_before']:.2f}."


def rounds_of(samples: list[dict]) -> str:
    """How many rounds there really are, by part, and who has fewer."""
    rounds: dict[str, dict[str, set]] = {}
    for sample in samples:
        rounds.setdefault(sample["part"], {}).setdefault(sample["contender"], set()).add(sample["round"])
    told = []
    for part, seen in rounds.items():
        most = max(len(numbers) for numbers in seen.values())
        fewer = [f"{LABELS[name]} {len(numbers)}" for name, numbers in seen.items() if len(numbers) < most]
        told.append(f"{part} {most}" + (f" ({', '.join(fewer)})" if fewer else ""))
    return f"Rounds: {', '.join(told)}."


def not_measured(samples: list[dict], group: str) -> str:
    """What the group measures today and these results lack; nothing when they have it all."""
    seen: dict[str, set] = {}
    for sample in samples:
        seen.setdefault(sample["part"], set()).add(sample["contender"])
    lacking = []
    for part in GROUPS[group].parts:
        wanted = [each for each in CONTENDERS if each.name in GROUPS[group].contenders and PARTS[part].takes(each)]
        absent = [LABELS[each.name] for each in wanted if each.name not in seen.get(part, ())]
        if absent:
            lacking.append(f"{part} ({'; '.join(absent)})" if part in seen else part)
    return f" Not measured yet: {', '.join(lacking)}." if lacking else ""


def text_of(results: dict, group: str) -> str:
    facts, table = results["environment"], medians(results["samples"])
    names = [name for name in LABELS if any(name in row for row in table.values())]
    lines = [
        f"{head(facts)} {rounds_of(results['samples'])}{not_measured(results['samples'], group)}",
        "",
        *[f"* {name}: `{line}`" for name, line in sorted(facts["sessions"].items()) if line],
        "",
        f"Medians (lowest–highest round); {CHECKED.get(group, 'everything that was read was checked')}:",
        "",
        *tables_by_kind(table, names),
        *further_tables(table, names),
        *table_of_targets(table, facts),
        *table_of_footprints(table, names, facts),
    ]
    return "\n".join(lines).rstrip() + "\n"


DRAWN_BY = {"bypass": draw_transfers, "latency": report_latency.draw, "scaling": report_scaling.draw}


def draw(out: Path, samples: list[dict], group: str) -> None:
    table = medians(samples)
    names = [name for name in LABELS if any(name in row for row in table.values())]
    if group == "figure15":
        for name in ("svhn", "coco"):
            plot_readers(out, name, table, names)
        return
    if group in DRAWN_BY:
        DRAWN_BY[group](out, table, names)
        return
    for unit, name in FIGURES:
        loads = [load for load, row in table.items() if next(iter(row.values()))["unit"] == unit]
        if loads:
            plot(out, name, loads, table, names)


def write_report(out: Path, results: dict, group: str) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.md").write_text(text_of(results, group))
    draw(out, results["samples"], group)
