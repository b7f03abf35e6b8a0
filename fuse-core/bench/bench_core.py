"""The benchmarks of fuse-core: reads, writes and thread counts of the JNI-FUSE paper, on one machine.

Every server mounts the same null file system and stays mounted; that the kernel asks all of them the same is counted
before. A round goes through all points; at a point the servers take turns, in an order drawn anew. A result is the
median of its rounds, a ratio the median of the rounds' ratios. What is measured is kept at once: a run that was cut
short, by --minutes or otherwise, goes on where it ended. Writes results.json, results.md and plots.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from fuse_requests import can_count, difference, requests_of
from machine import environment_of
from servers import BUILT, PEERS, SERVERS, Mounted, Point, Server

ENABLE_URING = Path("/sys/module/fuse/parameters/enable_uring")
COMPARED_BYTES = (4096, 131072)  # what libfuse 2.9's own API can carry in one request
LOADED_BYTES = (*COMPARED_BYTES, 262144)  # by all numbers of threads, as in the paper
WARM_UP_S = 4.5  # then the compilers of the JVM have done most of their work; C needs none
CROSSINGS = 100_000  # as in the paper
METRICS_TURNS = 8  # of a round: what they cost is less than one pair differs from the next
SAY_S = 30  # how often the time left is told


def points_of(quick: bool) -> list[Point]:
    threads = [1, 8] if quick else [1, 8, 32, 128]
    sizes = [] if quick else [1 << shift for shift in range(10, 21)]
    points = [Point("reads", "read", block, count) for block in LOADED_BYTES for count in threads]
    points += [Point("sizes", "read", block, 8) for block in sizes if block not in LOADED_BYTES]
    points += [] if quick else [Point("sizes", "read", 1 << 20, 32)]
    points += [Point("writes", "write", block, count) for block in LOADED_BYTES for count in threads]
    points += [Point("metrics", "read", 4096, 8, turn) for turn in range(1, 2 if quick else METRICS_TURNS + 1)]
    points += [] if quick else [Point("threads", "read", 32768, count) for count in (8, 64)]
    return points


def takes_part(server: Server, point: Point) -> bool:
    if point.figure == "metrics":
        return server.name in ("uring", "uring-uncounted")
    return server.main


class Journal:
    """What was measured so far, a line each; the first line tells where."""

    def __init__(self, path: Path, environment: dict, fresh: bool):
        self.path = path
        self.lines: list[dict] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not fresh:
            earlier = [json.loads(line) for line in path.read_text().splitlines()]
            if earlier and earlier[0] == environment:
                self.lines = earlier[1:]
                print(f"going on with {path}: {len(self.lines)} figures are there (--fresh: begin anew)")
                return
        path.write_text(json.dumps(environment) + "\n")

    def add(self, line: dict) -> None:
        self.lines.append(line)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def has(self, number: int, point: Point) -> bool:
        return any(line["round"] == number and line["point"] == asdict(point) for line in self.lines)


def count_requests(mounts: dict[str, Mounted]) -> dict:
    """What each server is asked, by file size; differing servers are not comparable, and end the run.

    Empty where the kernel cannot tell.
    """
    if not can_count():
        print("this kernel has no trace of FUSE requests: not checked that all servers are asked the same")
        return {}
    counted = {}
    for size in COMPARED_BYTES:
        for mounted in mounts.values():
            mounted.set_file_bytes(size)
        counted[size] = requests_of({name: mounted.mount for name, mounted in mounts.items()}, size)
        different = difference(counted[size])
        if different is not None:
            raise RuntimeError(f"the servers are not comparable, at {size} bytes: {different}")
    return counted


def warm_up(mounts: dict[str, Mounted]) -> None:
    for name, mounted in mounts.items():
        seconds = WARM_UP_S / (10 if name.startswith("c-") else 1)
        for mode, size in (("read", 131072), ("write", 4096), ("read", 4096)):
            mounted.load(Point("warm-up", mode, size, 8), seconds / 3)


def taking_part(mounts: dict[str, Mounted], point: Point) -> list[str]:
    return [name for name, mounted in mounts.items() if takes_part(mounted.server, point)]


class Progress:
    """Tells now and then how long the loads that are left will take, by those that are done."""

    def __init__(self, loads: int):
        self.loads = loads
        self.done = 0
        self.began = self.told = time.monotonic()

    def tell(self, done: int, where: str) -> None:
        self.done += done
        now = time.monotonic()
        if now - self.told < SAY_S and self.done < self.loads:
            return
        self.told = now
        left = (now - self.began) / self.done * (self.loads - self.done) / 60
        print(f"{where}: {self.done} of {self.loads} loads, about {left:.1f} min left", flush=True)


def measure(mounts: dict[str, Mounted], wanted: list[tuple[int, Point]], journal: Journal, end: float) -> bool:
    """Measures what is missing, until it is done (True) or the time is over."""
    seconds = json.loads(journal.path.read_text().splitlines()[0])["seconds"]
    progress = Progress(sum(len(taking_part(mounts, point)) for _, point in wanted))
    for number, point in wanted:
        taking = taking_part(mounts, point)
        if time.monotonic() + len(taking) * (seconds + 0.7) > end:
            return False
        watch = point.figure == "threads"
        seen = {}
        for name in random.Random(f"{number} {point}").sample(taking, len(taking)):
            seen[name] = mounts[name].load(point, seconds, watch)
        journal.add({"round": number, "point": asdict(point), "load": os.getloadavg()[0], "seen": seen})
        progress.tell(len(taking), f"round {number}, {point.mode} {point.block} bytes, {point.threads} threads")
    return True


def cross_calls(journal: Journal) -> dict:
    """The figures of crossing between C and Java; measured once a run."""
    for line in journal.lines:
        if "crossing" in line:
            return line["crossing"]
    command = ["java", "-cp", PEERS / "classes", "io.posixgateway.bench.Crossing", BUILT / "libcrossing.so"]
    said = subprocess.run([*map(str, command), str(CROSSINGS)], check=True, capture_output=True, text=True).stdout
    journal.add({"round": 0, "point": None, "seen": {}, "crossing": json.loads(said)})
    return json.loads(said)


def samples_of(lines: list[dict]) -> list[dict]:
    """What was measured, as all benchmarks keep it: one figure of a round, a contender and a load."""
    samples = []
    for line in (line for line in lines if line["point"]):
        point = line["point"]
        about = {"round": line["round"], "part": point["figure"]} | ({"turn": point["turn"]} if point["turn"] else {})
        load = {"load": f"{point['mode']} {point['block']} bytes, {point['threads']} threads"}
        load |= {key: point[key] for key in ("mode", "block", "threads")}
        for server, seen in line["seen"].items():
            more = {key: value for key, value in seen.items() if key not in ("files_per_s", "errors")}
            figure = {"value": seen["files_per_s"], "unit": "files/s"}
            samples.append({**about, "contender": server, **load, **figure, **more})
    return samples


def choose_servers(names: str | None, parser: argparse.ArgumentParser) -> list[Server]:
    known = [server.name for server in SERVERS]
    wanted = names.split(",") if names else known
    unknown = set(wanted) - set(known)
    if unknown:
        parser.error(f"no such server: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if not ENABLE_URING.exists() or ENABLE_URING.read_text().strip() != "Y":
        print(f"leaving out io_uring: {ENABLE_URING} is not Y (echo Y > {ENABLE_URING})")
        return [server for server in SERVERS if server.name in wanted and not server.uring]
    return [server for server in SERVERS if server.name in wanted]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one short round of few points: does it all run?")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.7, help="of each load")
    parser.add_argument("--minutes", type=float, default=1e6, help="stop then; the next start goes on")
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier start measured")
    parser.add_argument("--servers", help="names, comma separated: " + ",".join(server.name for server in SERVERS))
    parser.add_argument("--out", type=Path, default=BUILT / "results", help="folder of results.json, results.md, *.png")
    options = parser.parse_args()
    rounds, seconds = (1, 0.4) if options.quick else (options.rounds, options.seconds)
    servers = choose_servers(options.servers, parser)
    points = points_of(options.quick)
    end = time.monotonic() + options.minutes * 60 - 15
    facts = environment_of(seconds)
    journal = Journal(options.out / "measured.jsonl", facts, options.fresh or options.quick)
    wanted = [(number, point) for number in range(1, rounds + 1) for point in points]
    missing = [(number, point) for number, point in wanted if not journal.has(number, point)]
    done = not missing
    requests = None
    crossing = cross_calls(journal)
    if missing:
        with ExitStack() as stack:
            mounts = {server.name: stack.enter_context(Mounted(server)) for server in servers}
            requests = count_requests(mounts)
            warm_up(mounts)
            done = measure(mounts, missing, journal, end)
    if not done:
        left = len([one for one in missing if not journal.has(*one)])
        print(f"{left} of {len(wanted)} points are left: start it again to go on")
    details = {"requests": requests, **crossing}
    write_results(options.out, {**facts, "rounds": rounds}, samples_of(journal.lines), details)
    return 0 if done else 75


def write_results(out: Path, facts: dict, samples: list[dict], details: dict) -> None:
    out.mkdir(parents=True, exist_ok=True)
    facts.setdefault("date", time.strftime("%Y-%m-%d", time.gmtime()))
    results = {"benchmark": "core", "environment": facts, "samples": samples, "details": details}
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    from report import write_report

    write_report(out, results)
    print(f"results: {out}/results.json, {out}/results.md")


if __name__ == "__main__":
    sys.exit(main())
