"""What bench-core is to reach: each a ratio at some points, its least or mean over them, and the figure wanted."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

READERS = (1, 8, 32, 128)
SMALL, LARGE = 4096, 131072


@dataclass(frozen=True)
class Target:
    """`one` ÷ `other` at the loads chosen (figure, mode, block, threads); `over`: which of their ratios counts."""

    one: str
    other: str
    where: str
    chosen: Callable[[tuple], bool]
    wanted: float
    over: Callable[[list[float]], float] = min


def at(mode: str, block: int, *threads: int) -> Callable[[tuple], bool]:
    return lambda point: point[1] == mode and point[2] == block and point[3] in threads


def with_threads(mode: str, threads: int) -> Callable[[tuple], bool]:
    """All sizes by 8 threads; by others those that all servers carry in one request."""
    return lambda point: point[1] == mode and point[3] == threads and (threads == 8 or point[2] in (SMALL, LARGE))


def any_read(point: tuple) -> bool:
    return point[1] == "read"


FLOORS = [
    Target(java, c, f"read {block >> 10} KiB, {threads} threads", at("read", block, threads), 0.9)
    for java, c in (("uring", "c-uring"), ("devfuse", "c-devfuse"), ("libfuse", "c-libfuse"))
    for block in (SMALL, LARGE)
    for threads in READERS
]
TARGETS = [
    *FLOORS,
    Target("uring", "c-libfuse", "read 4 KiB, 1 threads", at("read", SMALL, 1), 3.5),
    Target("uring", "c-libfuse", "read 4 KiB, 8 threads", at("read", SMALL, 8), 2.0),
    Target("uring", "c-libfuse", "read 128 KiB, 1 threads", at("read", LARGE, 1), 1.7),
    Target("uring", "c-libfuse", "read 128 KiB, 8 threads", at("read", LARGE, 8), 1.5),
    Target("uring", "c-libfuse", "least of all reads", any_read, 1.2),
    Target("uring", "jnr", "mean of the reads by 8", with_threads("read", 8), 2, statistics.mean),
    Target("uring", "jnr", "mean of 4 and 128 KiB read by 32", with_threads("read", 32), 4.5, statistics.mean),
    Target("uring", "jnr", "mean of 4 and 128 KiB read by 128", with_threads("read", 128), 8, statistics.mean),
    Target("uring", "jnifuse", "read 4 KiB, 8 threads", at("read", SMALL, 8), 2.5),
    Target("uring", "jnifuse", "least of all reads", any_read, 1.6),
    Target("libfuse", "jnr", "mean of the reads by 8", with_threads("read", 8), 1.16, statistics.mean),
    Target("libfuse", "jnr", "mean of 4 and 128 KiB read by 32", with_threads("read", 32), 3.98, statistics.mean),
    Target("libfuse", "jnr", "mean of 4 and 128 KiB read by 128", with_threads("read", 128), 6.04, statistics.mean),
    Target("uring", "jnr", "write 4 KiB, 8 threads", at("write", SMALL, 8), 2.5),
    Target("uring", "jnr", "write 4 KiB, 32 threads", at("write", SMALL, 32), 2),
    Target("uring", "jnr", "write 4 KiB, 128 threads", at("write", SMALL, 128), 5),
]


def verdicts(points: dict, ratio: Callable[[dict, str, str], float | None]) -> list[tuple[Target, float]]:
    """Each target that was measured, with its figure."""
    seen = []
    for target in TARGETS:
        found = [ratio(rows, target.one, target.other) for point, rows in points.items() if target.chosen(point)]
        values = [value for value in found if value is not None]
        if values:
            seen.append((target, target.over(values)))
    return seen
