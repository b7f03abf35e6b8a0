"""Draws what bench_core measured: a table with medians and spread, the ratios that matter, and plots."""

import statistics
from collections.abc import Iterable
from pathlib import Path

import matplotlib
from machine import machine
from servers import SAMPLE_S, SERVERS
from targets import verdicts

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  the backend must be chosen first

RATIOS = [
    ("uring", "c-uring"),
    ("devfuse", "c-devfuse"),
    ("libfuse", "c-libfuse"),
    ("uring", "c-libfuse"),
    ("uring", "jnr"),
    ("uring", "jnifuse"),
    ("libfuse", "jnr"),
]
TABLED = ("reads", "sizes", "writes")
LABELS = {server.name: server.label for server in SERVERS}


def most_alive(seen: dict) -> int:
    """The threads of the server: the most that were seen where they were watched, else of one look."""
    watched = seen.get("threads_over_time")
    return max(each["alive"] for each in watched) if watched else int(seen["server_threads"])


def summary(samples: list[dict]) -> list[dict]:
    """A row for each server and load: the median of the rounds, or of their turns, and what they were."""
    grouped: dict = {}
    for sample in samples:
        key = (sample["contender"], sample["part"], sample["mode"], sample["block"], sample["threads"])
        grouped.setdefault(key, {})[(sample["round"], sample.get("turn", 0))] = sample
    rows = []
    for (server, figure, mode, block, threads), rounds in grouped.items():
        rates = {number: seen["value"] for number, seen in rounds.items()}
        last = rounds[max(rounds)]
        alive = [most_alive(seen) for seen in rounds.values()]
        row = {"server": server, "figure": figure, "mode": mode, "block": block, "threads": threads}
        row["files_per_s"] = statistics.median(rates.values())
        row["spread"] = [min(rates.values()), max(rates.values())]
        for key in ("p50_us", "p99_us", "cpu_us_per_file"):
            row[key] = statistics.median(seen[key] for seen in rounds.values())
        row["server_threads"] = max(alive)
        row["usual_threads"] = statistics.median(alive)
        row["by_round"] = rates
        if "threads_over_time" in last:
            row["threads_over_time"] = last["threads_over_time"]
        rows.append(row)
    return rows


def human(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def by_point(rows: list[dict]) -> dict:
    points: dict = {}
    for row in rows:
        points.setdefault((row["figure"], row["mode"], row["block"], row["threads"]), {})[row["server"]] = row
    return points


def table(head: list[str], lines: Iterable[list[str]]) -> list[str]:
    return [
        "| " + " | ".join(head) + " |",
        "|---" * len(head) + "|",
        *("| " + " | ".join(line) + " |" for line in lines),
    ]


def name_of(point: tuple) -> str:
    _, mode, block, threads = point
    return f"{mode} {human(block)}, {threads} threads"


def rate(row: dict | None) -> str:
    if row is None:
        return "–"
    low, high = row["spread"]
    return f"{row['files_per_s']:,.0f} ({low:,.0f}–{high:,.0f})"


def ratio(seen: dict, one: str, other: str) -> float | None:
    """Median of the rounds' ratios: the two were measured within seconds of each other."""
    if one not in seen or other not in seen:
        return None
    ones, others = seen[one]["by_round"], seen[other]["by_round"]
    return statistics.median(ones[number] / others[number] for number in ones if number in others)


def table_of_rates(points: dict, servers: list[str], labels: dict) -> list[str]:
    lines = ([name_of(point), *(rate(seen.get(name)) for name in servers)] for point, seen in points.items())
    return table(["load", *(labels[name] for name in servers)], lines)


def table_of_cpu(points: dict, servers: list[str], labels: dict) -> list[str]:
    def cell(row: dict | None) -> str:
        return "–" if row is None else f"{row['cpu_us_per_file']:.1f}"

    lines = ([name_of(point), *(cell(seen.get(name)) for name in servers)] for point, seen in points.items())
    return table(["load", *(labels[name] for name in servers)], lines)


def table_of_ratios(points: dict, servers: list[str], labels: dict) -> list[str]:
    pairs = [pair for pair in RATIOS if pair[0] in servers and pair[1] in servers]

    def cell(value: float | None) -> str:
        return "–" if value is None else f"{value:.2f}"

    lines = ([name_of(point), *(cell(ratio(seen, *pair)) for pair in pairs)] for point, seen in points.items())
    return table(["load", *(f"{labels[one]} ÷ {labels[other]}" for one, other in pairs)], lines)


def table_of_targets(points: dict, labels: dict) -> list[str]:
    lines = []
    for target, value in verdicts(points, ratio):
        verdict = "reached" if value >= target.wanted else "**not reached**"
        pair = f"{labels[target.one]} ÷ {labels[target.other]}"
        lines.append([pair, target.where, f"{value:.2f}", f"{target.wanted:g}", verdict])
    return table(["ratio", "load", "seen", "to reach", ""], lines)


def table_of_threads(rows: list[dict], servers: list[str], labels: dict) -> list[str]:
    watched = {load_of(row): row for row in rows if "threads_over_time" in row}
    lines = []
    for name in servers:
        own = [row for row in rows if row["server"] == name]
        line = [labels[name], f"{statistics.median(row['usual_threads'] for row in own):.0f}"]
        line.append(str(max(row["server_threads"] for row in own)))
        for load in watched:
            last = [row["threads_over_time"][-1] for row in own if "threads_over_time" in row and load_of(row) == load]
            line.append(f"{last[0]['created']} / {last[0]['destroyed']}" if last else "–")
        lines.append(line)
    return table(["server", "usual", "most", *(f"made / ended, {load}" for load in watched)], lines)


def load_of(row: dict) -> str:
    return f"{row['threads']} readers of {human(row['block'])}"


def metrics_cost(points: dict) -> list[str]:
    for (figure, *_), seen in points.items():
        value = ratio(seen, "uring", "uring-uncounted") if figure == "metrics" else None
        if value is not None:
            cpu = seen["uring"]["cpu_us_per_file"] / seen["uring-uncounted"]["cpu_us_per_file"]
            pairs = len(seen["uring"]["by_round"])
            return [
                f"With metrics ÷ without (uring, reads of 4 KiB, 8 threads, {pairs} pairs): {value:.3f} of the files "
                f"per second, {cpu:.3f} of the CPU time per file.",
                "",
            ]
    return []


def draw(path: Path, title: str, labels: tuple[str, str], lines: dict[str, tuple[list, list]], log: bool) -> None:
    figure, axes = pyplot.subplots(figsize=(7, 4.2))
    for label, (along, up) in lines.items():
        axes.plot(along, up, marker="o" if log else None, label=label)
    if log:
        axes.set_xscale("log", base=2)
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.set_ylim(bottom=0)
    axes.set_title(title)
    axes.legend(fontsize=7)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def plot_rates(out: Path, points: dict, name: str, along: str, labels: dict) -> None:
    """Files per second of every server, along threads ('reads-4 KiB'), or along block by 8 threads ('sizes')."""
    kind, _, block = name.partition("-")
    if kind == "sizes":
        chosen = [seen for key, seen in points.items() if key[1] == "read" and key[3] == 8]
    else:
        chosen = [seen for key, seen in points.items() if key[0] == kind and human(key[2]) == block]
    lines = {}
    for server in labels:
        rows = sorted((seen[server] for seen in chosen if server in seen), key=lambda row: row[along])
        if len(rows) > 1:
            lines[labels[server]] = ([row[along] for row in rows], [row["files_per_s"] for row in rows])
    if lines:
        bottom = "threads" if along == "threads" else "bytes a file"
        draw(out / f"{name.replace(' ', '')}.png", name, (bottom, "files per second"), lines, log=True)


def plot_threads(out: Path, rows: list[dict], labels: dict) -> None:
    watched: dict = {}
    for row in (row for row in rows if "threads_over_time" in row):
        watched.setdefault((row["threads"], load_of(row)), {})[labels[row["server"]]] = row["threads_over_time"]
    for (readers, load), seen in watched.items():
        for what in ("alive", "created"):
            lines = {
                name: ([sample["at_s"] for sample in samples], [sample[what] for sample in samples])
                for name, samples in seen.items()
            }
            path = out / f"threads-{what}-{readers}.png"
            draw(path, f"threads {what}, {load}", ("s", "threads"), lines, log=False)


def crossing_of(details: dict) -> list[str]:
    """Tables of the calls and the copies between C and Java."""
    calls, transfers = details["calls_ns"], details["transfers_ns"]
    sizes = list(next(iter(transfers.values())))
    return [
        f"Calls between C and Java, ns each (cache+defer: {calls['baseline'] / calls['cache+defer']:.0f} times faster "
        "than the baseline, which attaches the thread and looks class and method up each time; of several threads at "
        "once: the time until all have ended ÷ the calls of all):",
        "",
        *table(["threads of C", *calls], calls_by_threads(details)),
        "",
        "An answer of Java's into C's memory, ns each:",
        "",
        *table(
            ["way", *(human(int(size)) for size in sizes)],
            ([way, *(f"{value:,.0f}" for value in by_size.values())] for way, by_size in transfers.items()),
        ),
        "",
    ]


def calls_by_threads(details: dict) -> list[list[str]]:
    """A line for one thread, and one for each number of them that called at once."""
    kinds = list(details["calls_ns"])
    every = {"1": details["calls_ns"], **details.get("calls_at_once_ns", {})}
    return [
        [threads, *(f"{seen[kind]:,.1f}" if kind in seen else "–" for kind in kinds)] for threads, seen in every.items()
    ]


def plot_crossing(out: Path, details: dict) -> None:
    calls, transfers = details["calls_ns"], details["transfers_ns"]
    figure, axes = pyplot.subplots(figsize=(7, 4.2))
    every = {"1": calls, **details.get("calls_at_once_ns", {})}
    for at, (threads, seen) in enumerate(every.items()):
        left = [list(calls).index(kind) + 0.25 * at for kind in seen]
        axes.bar(left, list(seen.values()), width=0.25, label=f"{threads} threads")
    axes.set_xticks([index + 0.25 * (len(every) - 1) / 2 for index in range(len(calls))], list(calls))
    axes.legend(fontsize=7)
    axes.set_yscale("log")
    axes.set_ylabel("ns a call")
    figure.tight_layout()
    figure.savefig(out / "calls.png", dpi=100)
    pyplot.close(figure)
    lines = {way: (list(map(int, by_size)), list(by_size.values())) for way, by_size in transfers.items()}
    draw(out / "transfers.png", "an answer of Java's into C's memory", ("bytes", "ns"), lines, log=True)


def text_of(results: dict) -> str:
    facts, rows = results["environment"], summary(results["samples"])
    all_points = by_point(rows)
    points = {key: seen for key, seen in all_points.items() if key[0] in TABLED}
    servers = [name for name in LABELS if any(row["server"] == name and row["figure"] in TABLED for row in rows)]
    lines = [
        f"{machine(facts)}; {facts['rounds']} rounds, {facts['seconds']} s a load.",
        "",
        "Files per second, median (lowest–highest round):",
        "",
        *table_of_rates(points, servers, LABELS),
        "",
        "Ratios, median of the rounds':",
        "",
        *table_of_ratios(points, servers, LABELS),
        "",
        "What is to be reached, of these ratios:",
        "",
        *table_of_targets(points, LABELS),
        "",
        "CPU time of server and load together, µs per file:",
        "",
        *table_of_cpu(points, servers, LABELS),
        "",
        *metrics_cost(all_points),
        "Threads of the server's process, over all loads; made and ended in the last round of the loads in which they "
        f"were watched every {SAMPLE_S * 1000:.0f} ms:",
        "",
        *table_of_threads(rows, servers, LABELS),
        "",
        *crossing_of(results["details"]),
    ]
    return "\n".join(lines).rstrip() + "\n"


def write_report(out: Path, results: dict) -> None:
    rows = summary(results["samples"])
    points = {key: seen for key, seen in by_point(rows).items() if key[0] in TABLED}
    (out / "results.md").write_text(text_of(results))
    for kind in ("reads", "writes"):
        for block in ("4 KiB", "128 KiB", "256 KiB"):
            plot_rates(out, points, f"{kind}-{block}", "threads", LABELS)
    plot_rates(out, points, "sizes", "block", LABELS)
    plot_threads(out, rows, LABELS)
    plot_crossing(out, results["details"])
