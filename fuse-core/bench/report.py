"""Draws what bench_core measured: a table with medians and spread, the ratios that matter, and plots."""

from pathlib import Path

import matplotlib

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


def human(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def by_point(rows: list[dict]) -> dict:
    points: dict = {}
    for row in rows:
        points.setdefault((row["figure"], row["mode"], row["block"], row["threads"]), {})[row["server"]] = row
    return points


def table_of_rates(points: dict, servers: list[str], labels: dict) -> list[str]:
    lines = ["| load | " + " | ".join(labels[name] for name in servers) + " |", "|---|" + "---|" * len(servers)]
    for (_, mode, block, threads), seen in points.items():
        cells = []
        for name in servers:
            row = seen.get(name)
            low, high = row["spread"] if row else (0, 0)
            cells.append(f"{row['files_per_s']:,.0f} ({low:,.0f}–{high:,.0f})" if row else "–")
        lines.append(f"| {mode} {human(block)}, {threads} threads | " + " | ".join(cells) + " |")
    return lines


def table_of_ratios(points: dict, servers: list[str], labels: dict) -> list[str]:
    pairs = [pair for pair in RATIOS if pair[0] in servers and pair[1] in servers]
    heads = [f"{labels[one]} ÷ {labels[other]}" for one, other in pairs]
    lines = ["| load | " + " | ".join(heads) + " |", "|---|" + "---|" * len(pairs)]
    for (_, mode, block, threads), seen in points.items():
        cells = []
        for one, other in pairs:
            both = one in seen and other in seen
            cells.append(f"{seen[one]['files_per_s'] / seen[other]['files_per_s']:.2f}" if both else "–")
        lines.append(f"| {mode} {human(block)}, {threads} threads | " + " | ".join(cells) + " |")
    return lines


def plot(out: Path, points: dict, name: str, along: str, labels: dict) -> None:
    """One figure: files per second of every server along threads or block."""
    chosen = {key: seen for key, seen in points.items() if key[0] == name.split("-")[0]}
    if name.startswith("reads-"):
        chosen = {key: seen for key, seen in chosen.items() if human(key[2]).replace(" ", "") == name.split("-")[1]}
    if len(chosen) < 2:
        return
    figure, axes = pyplot.subplots(figsize=(7, 4.2))
    servers = sorted({server for seen in chosen.values() for server in seen})
    for server in servers:
        rows = sorted((seen[server] for seen in chosen.values() if server in seen), key=lambda row: row[along])
        axes.plot([row[along] for row in rows], [row["files_per_s"] for row in rows], marker="o", label=labels[server])
    axes.set_xscale("log", base=2)
    axes.set_xlabel("threads" if along == "threads" else "bytes a file")
    axes.set_ylabel("files per second")
    axes.set_title(name)
    axes.legend(fontsize=7)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(out / f"{name}.png", dpi=120)
    pyplot.close(figure)


def write_report(out: Path, facts: dict, rows: list[dict], labels: dict) -> None:
    points = by_point(rows)
    servers = [name for name in labels if any(row["server"] == name for row in rows)]
    lines = [
        f"Linux {facts['kernel']}, {facts['cpus']} CPUs ({facts['cpu']}), commit {facts['commit']}, {facts['date']}; "
        f"{facts['rounds']} rounds of {facts['seconds']} s, load average before {facts['load_average_before']:.2f}.",
        "",
        "Files per second, median (lowest–highest round):",
        "",
        *table_of_rates(points, servers, labels),
        "",
        "Ratios of medians:",
        "",
        *table_of_ratios(points, servers, labels),
        "",
        "Most threads seen in the server's process:",
        "",
        "| server | threads |",
        "|---|---|",
    ]
    for name in servers:
        lines.append(f"| {labels[name]} | {max(row['server_threads'] for row in rows if row['server'] == name)} |")
    (out / "results.md").write_text("\n".join(lines) + "\n")
    for name in ("reads-4KiB", "reads-128KiB", "writes"):
        plot(out, points, name, "threads", labels)
    plot(out, points, "sizes", "block", labels)
