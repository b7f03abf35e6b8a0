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
    return "; ".join(parts) if any(chosen(point) for point in points) else "not measured"


def threads_of(rows: Iterable[dict], server: str) -> str:
    """In the median of the loads' rounds, and at most."""
    own = [row for row in rows if row["server"] == server]
    if not own:
        return "not measured"
    usual = statistics.median(row["usual_threads"] for row in own)
    return f"{usual:.0f} and {max(row['server_threads'] for row in own)}"


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
    "on a few CPUs the load itself takes a part of them, so that all servers are closer together (a supposition), and "
    "JNR-FUSE's collapse comes and goes between rounds"
)
MANY = (
    "on these they do as well, in every round. The largest files, where all come together, take as many requests as "
    "small ones and are mostly copied. With fewer readers than CPUs, servers on /dev/fuse, in C as in Java, cost more "
    "CPU time a file than with many; that their threads are woken for each request, on another CPU than the reader's, "
    "while an io_uring queue is served on the CPU of its reader, is a supposition"
)


def at(mode: str, block: int) -> Callable[[tuple], bool]:
    return lambda point: point[1] == mode and point[2] == block


def small(mode: str, threads: int) -> Callable[[tuple], bool]:
    """All sizes that were measured with 8 threads; with others 4 and 128 KiB."""
    return lambda point: point[1] == mode and point[3] == threads and (threads == 8 or point[2] in (4096, 131072))


def megabytes(points: dict, block: int, threads: int, server: str) -> float | None:
    found = [seen[server] for key, seen in points.items() if key[1:] == ("read", block, threads) and server in seen]
    return found[0]["files_per_s"] * block / 1e6 if found else None


def share(points: dict, server: str) -> str:
    """What is left of the bytes per second of files of 1 MiB where files have 4 KiB, by 32 readers or by 8."""
    for threads in (32, 8):
        great, little = (megabytes(points, block, threads, server) for block in (1 << 20, 4096))
        if great and little:
            return f"{little:,.0f} of {great:,.0f} MB/s, {100 * little / great:.1f} %, by {threads} readers"
    return "not measured"


def figure3(points: dict) -> list[str]:
    one, eight, many = (megabytes(points, 131072, threads, "jnr") for threads in (1, 8, 32))
    more = f"{one:,.0f} MB/s by 1, {eight:,.0f} by 8, {many:,.0f} by 32" if one and eight and many else "not measured"
    return [
        "**Figure 3 (a), JNR-FUSE alone, files of 128 KiB.** In the paper 16 readers read 40 % of what 8 do, and more "
        f"readers never as much as 8 again. Here: {more}.",
        "**Figure 3 (b), JNR-FUSE alone, small files.** In the paper, by 32 readers, 1,598 MB/s of files of 1 MiB "
        f"shrink to 19 MB/s of files of 4 KiB, 1.2 %. Here: JNR-FUSE {share(points, 'jnr')}; uring "
        f"{share(points, 'uring')}; the server in C on libfuse 2.9 {share(points, 'c-libfuse')}. A file of 4 KiB takes "
        "as many requests as one of 128 KiB, so that the bytes per second of every server fall.",
    ]


def figure6(transfers: dict) -> str:
    def beside(how: str, size: str) -> str:
        return f"{transfers['DirectByteBuffer' + how][size] / transfers['JNICopy' + how][size]:.2f}"

    return (
        "**Figure 6, copies between C and Java.** In the paper a direct buffer is the fastest of the three ways where "
        "it is used again and by far the slowest where it is made each time, both with buffers of less than 128 bytes, "
        "and from 128 KiB on all are alike. Here, from 1 KiB to 1 MiB, as no answer with data is smaller: a direct "
        f"buffer used again takes {beside(', reused', '1024')} and {beside(', reused', '1048576')} of the time of "
        f"JNICopy, one made each time {beside('', '1024')} and {beside('', '1048576')}. Why they differ: the buffer "
        "that is made here lies over C's memory, so that nothing is allocated but the object, while JNICopy and "
        "CriticalCopy make an array on the heap, which Java clears. This project's transports use their buffers again."
    )


def figure7(rows: list[dict]) -> str:
    """Of the loads that are watched over time."""
    told = []
    for row in sorted((row for row in rows if "threads_over_time" in row), key=lambda row: row["threads"]):
        last = row["threads_over_time"][-1]
        if row["server"] in ("jnr", "uring"):
            made = f"{last['created']} and {last['destroyed']} with {row['threads']} readers"
            told.append(f"{LABELS[row['server']]} {made}")
    return (
        "**Figure 7, threads made as readers grow.** In the paper JNR-FUSE makes few threads for up to 8 readers and "
        "ever more from 16 on, of files of 32 KB 4.1 times and of 8 KB 18.6 times as many as of 128 KB; with 64 "
        "readers of 8 KB about 10 % of the time goes into that. Here, of files of 32 KiB, made and ended in one load: "
        f"{'; '.join(told) or 'not measured'}."
    )


def figure11(points: dict, ratio: Ratio) -> list[str]:
    return [
        "**Figure 11 (a), reads of 128 and 256 KiB by 1 and more threads.** In the paper JNI-FUSE reads 128 KiB 2.06 "
        "times as fast as JNR-FUSE in the mean, 3.32 at most, and 256 KiB 3.71 and 5.78 times. Here, 128 KiB: "
        f"{of_three(points, ratio, at('read', 131072))}. 256 KiB, which libfuse's own API carries in two requests: "
        f"{of_three(points, ratio, at('read', 262144))}.",
        "**Figure 11 (b), reads of small files.** In the paper by 8 threads 1.16 times in the mean, 5.44 at most, by "
        "32 threads 3.98 and 5.77, by 128 threads 6.04 and 9.03. Here, all sizes by 8 threads: "
        f"{of_three(points, ratio, small('read', 8))}; 4 and 128 KiB by 32 threads: "
        f"{of_three(points, ratio, small('read', 32))}; by 128 threads: {of_three(points, ratio, small('read', 128))}.",
    ]


def threads_by_load(rows: list[dict]) -> str:
    """Where they were watched over time."""
    watched: dict = {}
    for row in (row for row in rows if row["figure"] == "threads"):
        watched.setdefault((row["threads"], row["block"]), []).append(row)
    told = []
    for (readers, block), seen in sorted(watched.items()):
        each = ", ".join(f"{LABELS[row['server']]} {threads_of([row], row['server'])}" for row in in_order(seen))
        told.append(f"{readers} readers of {block >> 10} KiB: {each}")
    return "; ".join(told) or "not measured"


def in_order(rows: list[dict]) -> list[dict]:
    known = [row for row in rows if row["server"] in LABELS]
    return sorted(known, key=lambda row: list(LABELS).index(row["server"]))


def figure12(rows: list[dict]) -> str:
    jnr, jnifuse = (
        max((row["server_threads"] for row in rows if row["server"] == server), default=0)
        for server in ("jnr", "jnifuse")
    )
    more = (
        f"**Alluxio's jnifuse makes more threads at times than JNR-FUSE ever does ({jnifuse} and {jnr}).** "
        if jnifuse > jnr
        else ""
    )
    return (
        "**Figure 12, threads.** In the paper, with files of 32 KiB, JNI-FUSE keeps about 10 threads with 8 readers, "
        "20 with 64; JNR-FUSE keeps 10 with 8 readers, and with 64 makes and ends them without end, 120 at most. Here, "
        "threads of the process, those of the JVM included, in the median of the rounds and at most: "
        f"{threads_by_load(rows)}. Over all loads: JNR-FUSE {threads_of(rows, 'jnr')}, jnifuse "
        f"{threads_of(rows, 'jnifuse')}, this project's libfuse transport {threads_of(rows, 'libfuse')}, the server in "
        f"C on libfuse 2.9 {threads_of(rows, 'c-libfuse')}, uring {threads_of(rows, 'uring')}. {more}All but uring "
        "run on libfuse's own loop, which starts a thread whenever a request leaves none idle, without a limit, and "
        "ends those above ten idle ones. A thread counts as busy until it has run on after its answer, and a close "
        "does not wait for its RELEASE: so there can be more of them than readers, with the server in C, too. jnifuse "
        "attaches each to the JVM until it ends. How many come of this is chance, as the spread says; why jnifuse goes "
        "further than others on the same loop was not looked into. uring and devfuse keep the threads they begin with."
    )


def figure13(points: dict, ratio: Ratio) -> list[str]:
    return [
        "**Figure 13 (a), writes of 128 and 256 KiB by 1 and more threads.** In the paper 128 KiB are written 1.15 "
        "times as fast in the mean, 1.36 at most, 256 KiB 3.26 and 5.07 times. Here, 128 KiB: "
        f"{of_three(points, ratio, at('write', 131072))}. 256 KiB: {of_three(points, ratio, at('write', 262144))}.",
        "**Figure 13 (b), writes of small files.** In the paper 2.41 times in the mean, 4.86 at most, by 8 threads, "
        "1.49 and 3.08 by 32, 5.02 and 6.59 by 128. Here, 4 KiB, by 1 to 128 threads: "
        f"{of_three(points, ratio, at('write', 4096))}. The files are there before: writing does not create them.",
    ]


def figure14(details: dict) -> str:
    calls = details["calls_ns"]
    times = [f"{calls['baseline'] / calls['cache+defer']:.0f} times with one thread"]
    for threads, seen in details.get("calls_at_once_ns", {}).items():
        times.append(f"{seen['baseline'] / seen['cache+defer']:.0f} with {threads} at once")
    alone = "" if len(times) > 1 else "; more threads at once were not measured"
    return (
        "**Figure 14, calls.** In the paper caching and deferring together make a call about 150 times as fast as the "
        f"baseline, in the mean over several numbers of threads; here {', '.join(times)}{alone}. Deferring alone makes "
        f"it {calls['baseline'] / calls['defer']:.0f} times as fast, caching alone "
        f"{calls['baseline'] / calls['cache']:.1f}. The transports without an up-call pay "
        f"{calls['down-call']:.1f} ns for their down-call."
    )


def sentences(points: dict, rows: list[dict], results: dict, ratio: Ratio) -> list[str]:
    details = results["details"]
    why = MANY if results["environment"]["cpus"] >= MANY_CPUS else FEW
    lines = [
        *figure3(points),
        figure6(details["transfers_ns"]),
        figure7(rows),
        *figure11(points, ratio),
        figure12(rows),
        *figure13(points, ratio),
        figure14(details),
        *growth(points),
        "Why they differ: the paper's machine had 40 CPUs, on which JNR-FUSE's threads get into each other's way; "
        f"{why}. The paper's JNI-FUSE is Alluxio's jnifuse, 2.9.3 here.",
    ]
    return [line for sentence in lines for line in (sentence, "")]
