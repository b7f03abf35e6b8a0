"""For each figure of the paper on JNI-FUSE: what it saw, what is seen here, why they differ; its figures are typed."""

import statistics
from collections.abc import Callable, Iterable

Ratio = Callable[[dict, str, str], float | None]


def mean_and_most(points: dict, ratio: Ratio, chosen: Callable[[tuple], bool], one: str) -> str:
    """Of one server ÷ JNR-FUSE."""
    found = [ratio(seen, one, "jnr") for point, seen in points.items() if chosen(point)]
    values = [value for value in found if value is not None]
    return f"{statistics.mean(values):.2f} times in the mean, {max(values):.2f} at most" if values else "not measured"


def of_three(points: dict, ratio: Ratio, chosen: Callable[[tuple], bool]) -> str:
    told = {"jnifuse": "Alluxio's jnifuse", "libfuse": "this project's libfuse transport", "uring": "uring"}
    parts = [f"{label} {mean_and_most(points, ratio, chosen, name)}" for name, label in told.items()]
    return "; ".join(parts)


def most_threads(rows: Iterable[dict], server: str) -> int:
    return max((row["server_threads"] for row in rows if row["server"] == server), default=0)


LABELS = {
    "uring": "uring",
    "devfuse": "devfuse",
    "libfuse": "libfuse",
    "jnifuse": "jnifuse",
    "jnr": "JNR-FUSE",
    "c-devfuse": "C on /dev/fuse",
    "c-libfuse": "C on libfuse 2.9",
}


def growth(points: dict) -> list[str]:
    """Of reads of 4 KiB: how servers use more CPUs, and what even the floor does not reach."""
    one, eight, many = (points.get(("reads", "read", 4096, threads), {}) for threads in (1, 8, 32))
    known = {name: label for name, label in LABELS.items() if all(name in seen for seen in (one, eight, many))}
    if not {"uring", "c-libfuse"} <= set(known) or "c-uring" not in one:
        return []
    grown = (f"{label} {many[name]['files_per_s'] / one[name]['files_per_s']:.1f}" for name, label in known.items())
    cpu = (f"{label} {eight[name]['cpu_us_per_file']:.0f}" for name, label in known.items())
    floor = one["c-uring"]["files_per_s"] / one["c-libfuse"]["files_per_s"]
    return [
        "**From 1 reader to 32**, of files of 4 KiB, the files per second grow by these factors: "
        f"{', '.join(grown)}. By 8 readers a file costs server and load together so many µs of CPU time: "
        f"{', '.join(cpu)}. One reader alone: C on io_uring reads {floor:.2f} times as many files as C on libfuse 2.9; "
        "more is out of reach on io_uring.",
    ]


MANY_CPUS = 8
FEW = (
    "on a few CPUs the load itself takes a good part of them, so that all servers are closer together, and JNR-FUSE's "
    "collapse comes and goes between rounds"
)
MANY = (
    "on these they do as well, in every round. Copying bounds the largest files, where all come together. With fewer "
    "readers than CPUs, servers on /dev/fuse, in C as in Java, cost more CPU time a file than with many: their threads "
    "sleep and are woken for each request, on another CPU than the reader's; an io_uring queue is served on the CPU of "
    "its reader"
)


def sentences(points: dict, rows: list[dict], results: dict, ratio: Ratio) -> list[str]:
    calls = results["details"]["calls_ns"]
    why = MANY if results["environment"]["cpus"] >= MANY_CPUS else FEW
    lines = [
        "**Figure 11 (a), reads of 128 KiB by 1 and more threads.** In the paper JNI-FUSE reads 2.06 times as fast as "
        "JNR-FUSE in the mean, 3.32 at most. Here: "
        f"{of_three(points, ratio, lambda point: point[1] == 'read' and point[2] == 131072)}.",
        "**Figure 11 (b), reads of small files.** In the paper by 8 threads 1.16 times in the mean, 5.44 at most, by "
        "32 threads 3.98 and 5.77, by 128 threads 6.04 and 9.03. Here, all sizes by 8 threads: "
        f"{of_three(points, ratio, lambda point: point[1] == 'read' and point[3] == 8)}; 4 and 128 KiB by 128 threads: "
        f"{of_three(points, ratio, lambda point: point[1] == 'read' and point[3] == 128)}.",
        "**Figure 12, threads.** In the paper JNI-FUSE keeps 10 and 20 threads, JNR-FUSE makes and ends up to 120. "
        f"Here the most are {most_threads(rows, 'jnr')} with JNR-FUSE, {most_threads(rows, 'jnifuse')} with jnifuse, "
        f"{most_threads(rows, 'uring')} with uring, those of the JVM included.",
        "**Figure 13, writes.** In the paper small files are written 2.41 times as fast in the mean by 8 threads, 1.49 "
        f"by 32, 5.02 by 128. Here, 4 KiB: {of_three(points, ratio, lambda point: point[1] == 'write')}.",
        "**Figure 14, calls.** In the paper caching and deferring together make a call about 150 times as fast as the "
        f"baseline; here {calls['baseline'] / calls['cache+defer']:.0f} times, and the transports without an up-call "
        f"pay {calls['down-call']:.1f} ns for their down-call.",
        *growth(points),
        "Why they differ: the paper's machine had 40 CPUs, on which JNR-FUSE's threads get into each other's way; "
        f"{why}. The paper's JNI-FUSE is Alluxio's jnifuse, 2.9.3 here.",
    ]
    return [line for sentence in lines for line in (sentence, "")]
