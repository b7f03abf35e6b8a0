"""Of bench-alluxio: what the floors have where a target is missed, and how much of it the CPUs leave room for."""

import statistics

from targets_alluxio import LABELS, OURS, PLAIN, TARGETS, Verdict, ratio, ratios_by_round, verdicts

URING, DEVFUSE = "floor-uring", "floor-devfuse"
CREATED = "create 19 KB, 8 writers"
REMOTE = "remote: many-blocks, first read, 1 readers"
GIB_MB = (1 << 30) / 1e6


def wanted_of(load: str) -> float:
    """So many times what AlluxioFuse has."""
    return next(target.least for target in TARGETS if load in target.loads and target.against == PLAIN)


def with_rounds(row: dict, one: str, other: str) -> str:
    """The ratio and those of the lowest and the highest round."""
    seen = ratios_by_round(row, one, other)
    return f"{statistics.median(seen):.2f}" + (f" ({min(seen):.2f}–{max(seen):.2f})" if len(seen) > 1 else "")


def floor_of(ours: str, facts: dict) -> str:
    """The server in C on the same transport."""
    return URING if "transport uring" in facts.get("sessions", {}).get(ours, "") else DEVFUSE


def floor_row(verdict: Verdict, table: dict, facts: dict) -> str:
    """Nothing where its floor was not measured."""
    target, row, floor = verdict.target, table[verdict.load], floor_of(verdict.ours, facts)
    value = ratio(row, floor, target.against)
    if value is None:
        return ""
    told = "reached" if target.reached(value) else "**not reached**"
    who = f"{verdict.load}, {verdict.whose()}" if verdict.whose() else verdict.load
    return (
        f"| {who} | {LABELS[target.against]} | {target.wanted()} | {with_rounds(row, verdict.ours, target.against)} "
        f"| {with_rounds(row, floor, target.against)} | {told} | {with_rounds(row, verdict.ours, floor)} |"
    )


def beside_floors(table: dict, facts: dict) -> list[str]:
    """A table of the targets that are missed by ours: would a server that costs next to nothing reach them?"""
    missed = [verdict for verdict in verdicts(table) if verdict.ours in OURS and not verdict.reached()]
    rows = list(filter(None, (floor_row(verdict, table, facts) for verdict in missed)))
    if not rows:
        return []
    return [
        "Where a target is missed: what the server in C on the same transport, which knows nothing of Alluxio, has of "
        "it (lowest–highest round):",
        "",
        "| load | against | to reach | gateway | C | C reaches it? | gateway ÷ C |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]


def cpu_ms(table: dict, load: str, who: str, name: str) -> float | None:
    row = next((row for each, row in table.items() if each.startswith(f"{load}: CPU time") and each.endswith(who)), {})
    return row[name]["median"] if name in row else None


def creations(table: dict, facts: dict) -> list[str]:
    """How many files the CPUs would have time for."""
    row = table.get(CREATED, {})
    own, servers = (cpu_ms(table, CREATED, who, "gateway") for who in ("the mount's server", "Alluxio's servers"))
    if own is None or servers is None or PLAIN not in row:
        return []
    have, plain, made = facts["cpus"] * 1000, row[PLAIN]["median"], row["gateway"]["median"]
    wanted = wanted_of(CREATED) * plain
    return [
        f"**Creations**, on paper, from the medians: a file takes {own:.2f} ms of CPU time in the gateway and "
        f"{servers:.2f} ms in Alluxio's servers, and {facts['cpus']} CPUs have {have:,} ms a second: {have:,} ÷ "
        f"({own:.2f} + {servers:.2f}) = {have / (own + servers):.0f} files a second, if the program took none "
        f"({made:.0f} were made). A gateway that took none itself would leave time for {have:,} ÷ {servers:.2f} = "
        f"{have / servers:.0f}, {have / servers / plain:.1f} times what AlluxioFuse makes. The target, "
        f"{wanted:,.0f}, leaves {have / wanted:.2f} ms for a file."
    ]


def remote(table: dict, facts: dict) -> list[str]:
    """How much of the CPUs' time the target leaves, and what Alluxio's servers take of it."""
    own = cpu_ms(table, REMOTE, "the mount's server", "gateway")
    servers = [cpu_ms(table, REMOTE, "Alluxio's servers", name) for name in ("gateway", PLAIN)]
    if own is None or None in servers:
        return []
    takes = GIB_MB / table[REMOTE][PLAIN]["median"]
    times, cpus = wanted_of(REMOTE), facts["cpus"]
    wanted = takes / times
    ours, theirs = (value / 1000 for value in servers)
    return [
        f"**1 GiB as from another host, 1 reader**, on paper, from the medians: AlluxioFuse takes {takes:.2f} s for "
        f"it. The target allows {takes:.2f} ÷ {times:g} = {wanted:.2f} s, in which {cpus} CPUs have "
        f"{wanted * cpus:.2f} s of CPU time. Alluxio's servers take {ours:.2f} s of these with the gateway "
        f"({theirs:.2f} s with AlluxioFuse): {max(0.0, wanted * cpus - ours):.2f} s are left to the gateway, which "
        f"takes {own / 1000:.2f} s, and to the program and the kernel's pages."
    ]


def alluxio(table: dict, facts: dict) -> list[str]:
    return [*creations(table, facts), *remote(table, facts)]
