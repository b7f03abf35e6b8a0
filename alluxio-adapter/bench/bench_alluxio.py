"""The benchmarks on a real Alluxio: this project's mount beside AlluxioFuse and tmpfs, in one run, taking turns.

Starts an embedded Alluxio with its blocks on tmpfs, fills it with files of known content, and then, round by round and
in an order drawn anew, mounts each contender and runs the parts. Everything that is read is checked: a wrong byte ends
the run. A figure is the median of its rounds. Writes results.json, results.md and plots; --resume goes on where an
interrupted run ended.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from contenders import CONTENDERS, GATEWAY, ROOT, USUAL, Contender, Mount
from parts import LOAD, PARTS, USUAL_PARTS, Dataset, Scale, Site, datasets, visits
from report_alluxio import write_report

sys.path.insert(0, str(ROOT / "fuse-core" / "bench"))
from bench_core import environment_of  # noqa: E402  one description of the machine for all benchmarks

HERE = Path(__file__).resolve().parent
HOST_CLASSES = HERE.parent / "target" / "test-classes"
WORKER_BYTES = 8 << 30


class AlluxioHost:
    """The embedded Alluxio, in a Java process that ends with this one."""

    def __init__(self, blocks: Path, heap_mb: int):
        jars = GATEWAY.resolve().parent.parent / "lib"
        self.blocks = blocks
        self.process = subprocess.Popen(
            ["java", "-Xmx512m", *("--add-opens=java.base/java.nio=ALL-UNNAMED",), "-cp", f"{HOST_CLASSES}:{jars}/*"]
            + ["io.posixgateway.alluxio.bench.AlluxioHost", str(blocks), "1", str(WORKER_BYTES), str(heap_mb)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(blocks.parent / "host.log", "w"),
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> "AlluxioHost":
        said = self.answer("READY")
        self.masters, self.ufs = said[1], Path(said[2])
        return self

    def answer(self, expected: str) -> list[str]:
        for line in self.process.stdout:
            words = line.split()
            if words and words[0] == expected:
                return words
            if words and words[0] == "FAILED":
                raise RuntimeError(f"Alluxio: {line}")
        raise RuntimeError(f"Alluxio ended: {(self.blocks.parent / 'host.log').read_text()[-3000:]}")

    def tell(self, *words) -> int:
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return int(self.answer("OK")[1])

    def __exit__(self, *_unused) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Run:
    """Everything between the options and the report."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.scale = Scale.quick() if options.quick else Scale()
        self.rounds = options.rounds or (1 if options.quick else 5)
        self.contenders = [each for each in CONTENDERS if each.name in options.contenders]
        self.sets = datasets(self.scale)
        self.state = options.out / "results.json"
        self.facts = {
            **environment_of(self.scale.seconds),
            "rounds": self.rounds,
            "load_average_before": os.getloadavg()[0],
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "scale": vars(self.scale),
            "sessions": {},
        }
        self.samples: list[dict] = []
        if options.resume and self.state.exists():
            self.take_up(json.loads(self.state.read_text()))
        self.began = time.monotonic()

    def take_up(self, earlier: dict) -> None:
        for what in ("scale", "commit"):
            if earlier["environment"][what] != self.facts[what]:
                sys.exit(f"--resume: the earlier run has another {what}: {earlier['environment'][what]}")
        self.samples = earlier["samples"]
        self.facts = {**earlier["environment"], "rounds": self.rounds}

    def plan(self) -> list[tuple[int, Contender, bool, list[str]]]:
        """What is still to be done: (round, contender, short circuit off?, parts), in order."""
        done = {(sample["round"], sample["contender"], sample["part"]) for sample in self.samples}
        steps = []
        for number in range(1, self.rounds + 1):
            order = random.Random(number).sample(self.contenders, len(self.contenders))
            for contender in order:
                left = [part for part in self.options.parts if (number, contender.name, part) not in done]
                if contender.kind == "tmpfs":
                    left = [part for part in left if part != "remote"]
                steps += [(number, contender, far, parts) for far, parts in visits(left)]
        return steps

    def heap_mb(self) -> int:
        files = self.scale.million_files if "million" in self.options.parts else self.scale.listed_files
        return 512 + files // 250

    def out_of_time(self) -> bool:
        return self.options.minutes and time.monotonic() - self.began > self.options.minutes * 60

    def fill(self, host: AlluxioHost, work: Path) -> None:
        for data in self.sets.values():
            (work / f"{data.name}.sizes").write_text("".join(f"{size}\n" for size in data.sizes))
            folder = work / "files" / data.name
            folder.mkdir(parents=True)
            self.make_files(data, folder, work)
            host.tell("put", folder, f"/{data.name}", data.block_bytes)
        if "metadata" in self.options.parts:
            count = self.scale.listed_files
            (work / "listed.sizes").write_text("".join(f"{index % 4}\n" for index in range(count)))
            self.fill_listed([work / "files" / "listed", host.ufs / "listed"], count)
            host.tell("list", "/listed")
        if "million" in self.options.parts:
            self.fill_listed([work / "files" / "million", host.ufs / "million"], self.scale.million_files)
            host.tell("list", "/million")

    def make_files(self, data: Dataset, folder: Path, work: Path) -> None:
        for other in self.sets.values():
            there = folder.parent / other.name / "f0"
            if data.sizes == other.sizes and there.exists():  # the same big file, in blocks of another size
                (folder / "f0").hardlink_to(there)
                return
        command = [LOAD, "fill", *map(str, data.arguments(folder.parent, work))]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    @staticmethod
    def fill_listed(folders: list[Path], count: int) -> None:
        for folder in folders:
            folder.mkdir()
            for index in range(count):
                (folder / f"f{index}").write_bytes(b"abc"[: index % 4])

    def measure(self, host: AlluxioHost, work: Path) -> bool:
        """True when all is done."""
        steps = self.plan()
        for at, (number, contender, far, parts) in enumerate(steps):
            with Mount(contender, host.masters, work / "files", far) as mount:
                self.facts["sessions"][contender.name] = mount.session
                for part in parts:
                    if self.out_of_time():
                        return False
                    self.run_part(part, Site(mount, self.sets, work, self.scale, number))
            took = time.monotonic() - self.began
            left = took / (at + 1) * (len(steps) - at - 1) / 60
            print(f"round {number} of {self.rounds}, {contender.name}: about {left:.0f} min left", flush=True)
        return True

    def run_part(self, part: str, site: Site) -> None:
        PARTS[part](site)
        for load, seen in site.results.items():
            name = site.mount.contender.name
            self.samples.append({"round": site.round, "contender": name, "part": part, "load": load, **seen})
            print(f"  {name:18} {load:45} {seen['value']:12,.0f} {seen['unit']}", flush=True)
        self.options.out.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"environment": self.facts, "samples": self.samples}, indent=1)
        self.state.write_text(text + "\n")

    def go(self) -> int:
        if not self.options.resume:
            shutil.rmtree(self.options.out, ignore_errors=True)
        work = Path(tempfile.mkdtemp(prefix="pgw-bench-", dir=self.options.memory))
        try:
            if self.plan():
                blocks = work / "blocks"
                with AlluxioHost(blocks, self.heap_mb()) as host:
                    self.fill(host, work)
                    host.tell("warm", "/warm", self.scale.warm_seconds)
                    finished = self.measure(host, work)
            else:
                finished = True
        finally:
            shutil.rmtree(work, ignore_errors=True)
        labels = {each.name: each.label for each in CONTENDERS}
        write_report(self.options.out, self.facts, self.samples, labels)
        print(f"results: {self.state}, {self.options.out / 'results.md'}")
        if not finished:
            print("time is over; the rest: the same command with --resume")
        return 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round with less of everything: does it all run?")
    parser.add_argument("--rounds", type=int, help="default 5")
    parser.add_argument("--parts", default=",".join(USUAL_PARTS), help=f"of {','.join(PARTS)}; default all but million")
    parser.add_argument(
        "--contenders",
        default=",".join(USUAL),
        help=f"of {','.join(each.name for each in CONTENDERS)}; default {','.join(USUAL)}",
    )
    parser.add_argument("--resume", action="store_true", help="go on with an earlier run of the same commit")
    parser.add_argument("--minutes", type=float, default=0, help="stop after the part that then runs")
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"), help="a tmpfs with 4 GiB to spare")
    parser.add_argument("--out", type=Path, default=HERE / "target" / "results", help="folder of the results")
    options = parser.parse_args()
    options.parts = options.parts.split(",")
    options.contenders = options.contenders.split(",")
    for given, known in ((options.parts, PARTS), (options.contenders, [each.name for each in CONTENDERS])):
        unknown = set(given) - set(known)
        if unknown:
            parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(known)}")
    return options


if __name__ == "__main__":
    sys.exit(Run(parsed()).go())
