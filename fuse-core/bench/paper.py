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


def sentences(points: dict, rows: list[dict], details: dict, ratio: Ratio) -> list[str]:
    calls = details["calls_ns"]
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
        "Why they differ: the paper's machine had 40 CPUs, on which JNR-FUSE's threads get into each other's way; on a "
        "few CPUs the load itself takes a good part of them, so that all servers are closer together, and JNR-FUSE's "
        "collapse comes and goes between rounds. The paper's JNI-FUSE is Alluxio's jnifuse, 2.9.3 here.",
    ]
    return [line for sentence in lines for line in (sentence, "")]
