"""The benchmarks of fuse-core: reads, writes and thread counts of the JNI-FUSE paper, on one machine, in one run.

Every server mounts a null file system (files f0, f1, ... of one length, direct I/O, attributes and entries cached for
an hour) and gets the same load. Servers take turns within a round, in an order drawn anew each round; the result of a
point is the median of its rounds. Writes results.json, results.md and plots.
"""

import argparse
import json
import os
import platform
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILT = HERE.parent / "target" / "bench"
PEERS = HERE / "target"
ENABLE_URING = Path("/sys/module/fuse/parameters/enable_uring")
FILES = 1000


@dataclass(frozen=True)
class Server:
    """Something that mounts the null file system. `command` gets the mount point and the files' length."""

    name: str
    label: str
    command: list[str]
    uring: bool = False
    all_x: bool = True  # every byte is 'x', which the load then checks


def java_peer(main_class: str) -> list[str]:
    class_path = f"{PEERS / 'classes'}:{PEERS / 'lib'}/*"
    return ["java", "-cp", class_path, f"io.posixgateway.bench.{main_class}", "{mount}", "{bytes}"]


def ours(transport: str) -> list[str]:
    gateway = str(ROOT / "bin" / "posix-gateway")
    options = ["--files", str(FILES), "--bytes", "{bytes}", "--transport", transport, "-o", "allow_other"]
    return [gateway, "testfs", "null", "{mount}", *options, "--foreground"]


SERVERS = [
    Server("c-libfuse", "C, libfuse 2.9", [str(BUILT / "floor_libfuse"), "{mount}", "{bytes}"]),
    Server("c-devfuse", "C, /dev/fuse", [str(BUILT / "floor_device"), "devfuse", "{mount}", "{bytes}"]),
    Server("c-uring", "C, io_uring", [str(BUILT / "floor_device"), "uring", "{mount}", "{bytes}"], uring=True),
    Server("libfuse", "Java, libfuse", ours("libfuse"), all_x=False),
    Server("devfuse", "Java, devfuse", ours("devfuse"), all_x=False),
    Server("uring", "Java, uring", ours("uring"), uring=True, all_x=False),
    Server("jnr", "JNR-FUSE 0.5.8", java_peer("JnrNull")),
    Server("jnifuse", "Alluxio jnifuse 2.9.3", java_peer("JniFuseNull")),
]


@dataclass(frozen=True)
class Point:
    """One load: a figure's name, and what is done by how many."""

    figure: str
    mode: str
    block: int
    threads: int


class Mounted:
    """A server and its mount, for the time of a `with`."""

    def __init__(self, server: Server, file_bytes: int):
        self.server = server
        self.mount = tempfile.mkdtemp(prefix="pgw-bench-")
        self.log = tempfile.TemporaryFile()
        command = [part.format(mount=self.mount, bytes=file_bytes) for part in server.command]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, start_new_session=True)

    def __enter__(self) -> "Mounted":
        deadline = time.monotonic() + 30
        while not os.path.ismount(self.mount):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.log.seek(0)
                said = self.log.read().decode(errors="replace")
                self.__exit__()
                raise RuntimeError(f"{self.server.name} did not mount: {said[-2000:]}")
            time.sleep(0.02)
        return self

    def __exit__(self, *_unused) -> None:
        subprocess.run(["umount", "-l", self.mount], stderr=subprocess.DEVNULL, check=False)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self.log.close()
        os.rmdir(self.mount)

    def threads(self) -> int:
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("Threads:"):
                return int(line.split()[1])
        return 0

    def load(self, point: Point, seconds: float) -> dict:
        command = [BUILT / "load", point.mode, self.mount, FILES, point.block, point.threads, seconds]
        environment = {**os.environ, "LOAD_CHECK_X": "1"} if self.server.all_x else None
        running = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True, env=environment)
        time.sleep(seconds * 0.8)
        threads = self.threads()
        said, _ = running.communicate(timeout=seconds + 120)
        if running.returncode != 0:
            raise RuntimeError(f"the load failed on {self.server.name}: {said}")
        return {**json.loads(said), "server_threads": threads}


def points_of(quick: bool) -> list[Point]:
    threads = [1, 8] if quick else [1, 8, 32, 128]
    sizes = [] if quick else [1 << shift for shift in range(10, 21)]
    points = [Point("reads", "read", block, count) for block in (4096, 131072) for count in threads]
    points += [Point("sizes", "read", block, 8) for block in sizes if block not in (4096, 131072)]
    points += [Point("writes", "write", 4096, count) for count in threads]
    return points


def run_round(
    servers: list[Server], points: list[Point], seconds: float, results: dict, shuffle: random.Random
) -> None:
    for server in shuffle.sample(servers, len(servers)):
        for block in sorted({point.block for point in points}):
            with Mounted(server, block) as mounted:
                mounted.load(Point("warm-up", "read", block, 8), max(0.5, seconds))
                for point in (point for point in points if point.block == block):
                    seen = mounted.load(point, seconds)
                    if seen["errors"]:
                        raise RuntimeError(f"{server.name}, {point}: {seen['errors']} wrong or failed files")
                    results.setdefault((server.name, point), []).append(seen)


def environment_of(rounds: int, seconds: float) -> dict:
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    model = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "cpu": model[0].split(":")[1].strip() if model else "unknown",
        "commit": commit.stdout.strip() or "unknown",
        "rounds": rounds,
        "seconds": seconds,
        "load_average_before": os.getloadavg()[0],
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def summary(results: dict) -> list[dict]:
    rows = []
    for (server, point), seen in results.items():
        rates = [each["files_per_s"] for each in seen]
        rows.append(
            {
                "server": server,
                "figure": point.figure,
                "mode": point.mode,
                "block": point.block,
                "threads": point.threads,
                "files_per_s": statistics.median(rates),
                "spread": [min(rates), max(rates)],
                "p99_us": statistics.median(each["p99_us"] for each in seen),
                "server_threads": max(each["server_threads"] for each in seen),
                "values": rates,
            }
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one short round of few points: does it all run?")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each load")
    parser.add_argument("--servers", help="names, comma separated: " + ",".join(server.name for server in SERVERS))
    parser.add_argument("--out", type=Path, default=BUILT / "results", help="folder of results.json, results.md, *.png")
    options = parser.parse_args()
    rounds, seconds = (1, 0.4) if options.quick else (options.rounds, options.seconds)
    names = options.servers.split(",") if options.servers else [server.name for server in SERVERS]
    unknown = set(names) - {server.name for server in SERVERS}
    if unknown:
        parser.error(f"no such server: {', '.join(sorted(unknown))}")
    servers = [server for server in SERVERS if server.name in names]
    if not ENABLE_URING.exists() or ENABLE_URING.read_text().strip() != "Y":
        print(f"leaving out io_uring: {ENABLE_URING} is not Y (echo Y > {ENABLE_URING})")
        servers = [server for server in servers if not server.uring]
    points = points_of(options.quick)
    results: dict = {}
    facts = environment_of(rounds, seconds)
    began = time.monotonic()
    for number in range(1, rounds + 1):
        run_round(servers, points, seconds, results, random.Random(number))
        left = (time.monotonic() - began) / number * (rounds - number)
        print(f"round {number} of {rounds} done, about {left / 60:.0f} min left", flush=True)
    write_results(options.out, facts, summary(results))
    return 0


def write_results(out: Path, facts: dict, rows: list[dict]) -> None:
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / "results.json").write_text(json.dumps({"environment": facts, "points": rows}, indent=1) + "\n")
    from report import write_report

    write_report(out, facts, rows, {server.name: server.label for server in SERVERS})
    print(f"results: {out}/results.json, {out}/results.md")


if __name__ == "__main__":
    sys.exit(main())
