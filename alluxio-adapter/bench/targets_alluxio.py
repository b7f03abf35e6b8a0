"""What the benchmarks on Alluxio are to reach: ratios of a load between the gateway and another."""

import statistics
from dataclasses import dataclass

from contenders import CONTENDERS

PLAIN, TUNED, FLOOR = "alluxiofuse", "alluxiofuse-tuned", "tmpfs"
GATEWAY = "gateway"
NO_OPEN = "gateway-no-open"
OURS = (GATEWAY, "gateway-uring", "gateway-devfuse", NO_OPEN)  # as it comes, on each transport, and for datasets
LABELS = {each.name: each.label for each in CONTENDERS}
MOST_THREADS = 64
MOST_RESIDENT_MB = 700
DOMINATES = 50.0  # % of a step, as it is printed


@dataclass(frozen=True)
class Target:
    """Ours ÷ another, in these loads: at least, or at most, so much."""

    loads: tuple[str, ...]
    against: str
    least: float = 0.0
    most: float = 0.0
    ours: str = ""  # of one contender of ours, instead of the gateway as it comes
    title: str = ""  # of many loads: told in one line, and those that miss it one by one
    where_wait: str = ""  # only where the other's share of the wait in this load is at least half of a step

    def reached(self, ratio: float) -> bool:
        return ratio <= self.most if self.most else ratio >= self.least

    def wanted(self) -> str:
        return f"≤ {self.most:g}" if self.most else f"≥ {self.least:.3g}"


def later(name: str, *readers: int) -> tuple[str, ...]:
    return tuple(f"{name}, later epochs, {count} readers" for count in readers)


def trained(kind: str, which: str) -> tuple[str, ...]:
    names = ("pictures", "2 processes, 8 threads", "2 processes, 32 threads")
    return tuple(f"{name}, {which}: {kind}" for name in names)


def transferred(*kib: int, again: bool = False) -> tuple[str, ...]:
    files = ("128 MiB", "512 MiB", "2 GiB", "blocks of 64 MiB")
    last = ", again" if again else ""
    return tuple(
        f"{file}, {size} KiB, {of}{last}" for file in files for size in kib for of in ("1 thread", "4 threads")
    )


def bypass(transport: str) -> list[Target]:
    ours, every = f"bypass-{transport}", (1, 4, 16, 64, 256, 1024)
    return [
        Target(transferred(64, 256, 1024), f"direct-{transport}", 2.3, ours=ours, title="64 KiB to 1 MiB"),
        Target(transferred(1), f"direct-{transport}", 10, ours=ours, title="1 KiB"),
        Target(transferred(*every), FLOOR, 0.95, ours=ours, title="every size"),
        Target(transferred(*every), f"cached-{transport}", 1, ours=ours, title="every size"),
        Target(transferred(*every, again=True), f"cached-{transport}", 1, ours=ours, title="every size, again"),
        Target(("opens of small files",), f"cached-{transport}", 1 / 1.5, ours=ours),
    ]


FIRST_READ = tuple(f"{name}, first read, {count} readers" for name in ("one-block", "many-blocks") for count in (1, 4))
FASTER = [
    Target((f"{load}: speed",), PLAIN, 1.73, where_wait=f"{load}: share of the wait")
    for name in ("pictures", "2 processes, 8 threads", "2 processes, 32 threads")
    for load in (f"{name}, first epoch", f"{name}, later epochs")
]
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
    Target(("many-blocks, read again, 4 readers", "many-blocks, first read, 4 readers"), FLOOR, 0.45),
    Target(FIRST_READ, PLAIN, 2),
    Target(FIRST_READ, TUNED, 2),
    Target(tuple(f"one-block, random 4 KiB, {count} readers" for count in (1, 4)), FLOOR, 0.8),
    Target(tuple(f"remote: many-blocks, first read, {count} readers" for count in (1, 4)), PLAIN, 2),
    Target(("remote: svhn, first epoch, 1 reader", "remote: coco, first epoch, 8 readers"), PLAIN, 3),
    Target(("create 19 KB, 8 writers",), PLAIN, 10),
    Target(("ls -l, first",), PLAIN, 5),
    Target(("S3: create 19 KB, 8 writers",), PLAIN, 2),
    Target(("S3: replace 19 KB, 8 writers",), PLAIN, 0.7),
    Target(("S3: 19 KB, first epoch, 8 readers",), PLAIN, 3),
    Target(trained("share of the wait", "first epoch"), FLOOR, most=1.5),
    Target(trained("share of the wait", "later epochs"), FLOOR, most=1.1),
    *FASTER,
    *(target for transport in ("devfuse", "libfuse") for target in bypass(transport)),
]


def ratio(row: dict, one: str, other: str) -> float | None:
    """Median of the rounds' ratios: the two were measured within minutes of each other."""
    both = ratios_by_round(row, one, other)
    return statistics.median(both) if both else None


def ratios_by_round(row: dict, one: str, other: str) -> list[float]:
    if one not in row or other not in row:
        return []
    ones, others = row[one]["by_round"], row[other]["by_round"]
    return [ones[number] / others[number] for number in ones if others.get(number)]


def ours_in(row: dict) -> str:
    return next((name for name in OURS if name in row), "")


@dataclass(frozen=True)
class Verdict:
    """A target that was measured: in which load, for which of ours, and the ratio."""

    target: Target
    load: str
    ours: str
    ratio: float

    def reached(self) -> bool:
        return self.target.reached(self.ratio)

    def whose(self) -> str:
        """Which of ours it is; nothing for the gateway as it comes."""
        return "" if self.ours == GATEWAY else LABELS[self.ours]


def verdicts(table: dict) -> list[Verdict]:
    seen = []
    for target in TARGETS:
        wait = table.get(target.where_wait, {}).get(target.against)
        if target.where_wait and (wait is None or round(wait["median"], 1) < DOMINATES):
            continue
        for load in target.loads:
            row = table.get(load, {})
            for ours in (target.ours,) if target.ours else OURS:
                value = ratio(row, ours, target.against)
                if value is not None:
                    seen.append(Verdict(target, load, ours, value))
    return seen
