"""The benchmarks on a real Alluxio: this project's mount beside its peers and tmpfs, in one run, taking turns.

Starts an embedded Alluxio with its blocks on tmpfs, fills it with files of known content, and then, round by round and
in an order drawn anew, mounts each contender and runs the parts. Everything that is read is checked: a wrong byte ends
the run. A figure is the median of its rounds. What was measured is kept: a run that was cut short, by --minutes or
otherwise, goes on where it ended. Writes results.json, results.md and plots.
"""

import argparse
import json
import os
import random
import signal
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

from contenders import CONTENDERS, ROOT, Contender, Mount
from groups import GROUPS, PARTS, visits
from host import AlluxioHost, Filling
from memory import memory
from parts import Scale, Site, datasets
from report_alluxio import write_report
from versions import versions_of

sys.path.insert(0, str(ROOT / "fuse-core" / "bench"))
from machine import environment_of  # noqa: E402  one description of the machine for all benchmarks

UNFINISHED = 75


class Run:
    """Everything between the options and the report."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.scale = replace(Scale.quick() if options.quick else Scale(), **options.scale)
        self.contenders = [each for each in CONTENDERS if each.name in options.contenders]
        self.sets = datasets(self.scale)
        self.state = options.out / "results.json"
        self.facts = {
            **environment_of(self.scale.seconds),
            "versions": versions_of(name for part in options.parts for name in PARTS[part].uses),
            "rounds": options.rounds,
            "load_average_before": os.getloadavg()[0],
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "scale": vars(self.scale),
            "sessions": {},
            "pages": GROUPS[options.group].pages,
            "footprints": "while each load ran",
        }
        self.samples: list[dict] = []
        if self.state.exists() and not options.fresh:
            self.take_up(json.loads(self.state.read_text()))
        self.began = time.monotonic()

    def take_up(self, earlier: dict) -> None:
        for what in ("scale", "commit", "kernel", "cpus", "cpu", "java", "pages", "footprints"):
            if earlier["environment"].get(what, "") != self.facts.get(what, ""):
                print(f"beginning anew: {self.state} is of another {what}")
                return
        self.samples = earlier["samples"]
        self.facts = {**earlier["environment"], "rounds": self.options.rounds}
        print(f"going on with {self.state}: {len(self.samples)} figures are there (--fresh: begin anew)")

    def plan(self) -> list[tuple[int, Contender, bool, list[str]]]:
        """What is still to be done: (round, contender, short circuit off?, parts), in order."""
        done = {(sample["round"], sample["contender"], sample["part"]) for sample in self.samples}
        steps = []
        for number in range(1, self.options.rounds + 1):
            for contender in random.Random(number).sample(self.contenders, len(self.contenders)):
                left = [part for part in self.options.parts if (number, contender.name, part) not in done]
                steps += [(number, contender, far, parts) for far, parts in visits(left, contender)]
        return steps

    def heap_mb(self) -> int:
        read = {name for part in self.options.parts for name in PARTS[part].reads}
        files = self.scale.million_files if "million" in read else self.scale.listed_files
        return 512 + files // 250

    def out_of_time(self, needed: float) -> bool:
        return bool(self.options.minutes) and time.monotonic() - self.began + needed > self.options.minutes * 60

    def measure(self, host: AlluxioHost, work: Path, steps: list, filling: Filling) -> bool:
        """True when all is done; ends early where the next step would take longer than there is time."""
        began, longest = time.monotonic(), 0.0
        for at, (number, contender, far, parts) in enumerate(steps):
            if self.out_of_time(longest):
                return False
            step_began = time.monotonic()
            with Mount(contender, host.way(far), work / "files") as mount:
                self.facts["sessions"][contender.name] = mount.session
                for part in parts:
                    site = Site(mount, self.sets, work, self.scale, number, host.delays, host.cpu_seconds)
                    for data in (self.sets[name] for name in PARTS[part].reads if name in self.sets):
                        if data.bucket:
                            filling.put_into_bucket(data, site.bucket(data.name))
                    self.run_part(part, site)
            longest = max(longest, time.monotonic() - step_began)
            left = (time.monotonic() - began) / (at + 1) * (len(steps) - at - 1) / 60
            print(f"round {number} of {self.options.rounds}, {contender.name}: about {left:.1f} min left", flush=True)
        return True

    def run_part(self, part: str, site: Site) -> None:
        PARTS[part].run(site)
        self.facts["device"] = site.device or self.facts.get("device", "")
        self.facts["accelerator"] = site.accelerator or self.facts.get("accelerator", "")
        for load, seen in site.results.items():
            name = site.mount.contender.name
            self.samples.append({"round": site.round, "contender": name, "part": part, "load": load, **seen})
            print(f"  {name:18} {load:50} {seen['value']:12,.0f} {seen['unit']}", flush=True)
        self.keep()

    def keep(self) -> None:
        self.options.out.mkdir(parents=True, exist_ok=True)
        results = {"benchmark": self.options.group, "environment": self.facts, "samples": self.samples}
        self.state.write_text(json.dumps(results, indent=1) + "\n")

    def all_measured(self) -> bool:
        steps = self.plan()
        if not steps:
            return True
        wanted = {name for _, _, _, parts in steps for part in parts for name in PARTS[part].reads}
        group = GROUPS[self.options.group]
        with (
            memory(self.options.memory, self.facts["pages"]) as work,
            AlluxioHost(work / "blocks", self.heap_mb(), group.delayed, group.workers, group.under_store) as host,
        ):
            filling = Filling(host, work, self.scale, self.sets)
            filling.fill(wanted)
            host.tell("warm", "/warm", self.scale.warm_seconds)
            return self.measure(host, work, steps, filling)

    def go(self) -> int:
        finished = self.all_measured()
        write_report(self.options.out, {"environment": self.facts, "samples": self.samples}, self.options.group)
        print(f"results: {self.state}, {self.options.out / 'results.md'}")
        if not finished:
            print(f"time is over: {len(self.plan())} mounts are left; start it again to go on")
            return UNFINISHED
        return 0


def scaled(words: str) -> dict[str, float]:
    """Amounts of Scale, by name."""
    amounts = dict(word.split("=") for word in words.split(","))
    kinds = {each.name: each.type for each in fields(Scale)}
    unknown = set(amounts) - set(kinds)
    if unknown:
        raise argparse.ArgumentTypeError(f"no such amounts: {', '.join(sorted(unknown))}")
    return {name: kinds[name](amount) for name, amount in amounts.items()}


def parsed(words: list[str] | None = None) -> argparse.Namespace:
    """What the command line says, or these words."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [each.name for each in CONTENDERS]
    parser.add_argument("--group", choices=GROUPS, default="alluxio", help="what is measured, by whom; default alluxio")
    parser.add_argument("--quick", action="store_true", help="one round with less of everything: does it all run?")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--parts", help=f"instead of the group's: of {','.join(PARTS)}")
    parser.add_argument("--contenders", help=f"instead of the group's: of {','.join(known)}")
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier start measured")
    parser.add_argument("--minutes", type=float, default=0, help="stop before the mount that would take longer")
    parser.add_argument("--scale", type=scaled, default={}, help="other amounts, as pictures=3200,records=3000")
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"), help="a tmpfs with 4 GiB to spare")
    parser.add_argument("--out", type=Path, help="folder of the results; default target/results/GROUP")
    options = parser.parse_args(words)
    group = GROUPS[options.group]
    folder = "quick" if options.quick else "results"
    options.out = options.out or Path(__file__).resolve().parent / "target" / folder / options.group
    options.rounds = options.rounds or (1 if options.quick else group.rounds)
    options.parts = options.parts.split(",") if options.parts else group.parts
    options.contenders = options.contenders.split(",") if options.contenders else group.contenders
    for given, there in ((options.parts, PARTS), (options.contenders, known)):
        unknown = set(given) - set(there)
        if unknown:
            parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(there)}")
    return options


def end_as_by_hand() -> None:
    """A run that is told to end takes its mounts and servers with it, as by ^C."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))


def main() -> int:
    end_as_by_hand()
    return Run(parsed()).go()


if __name__ == "__main__":
    sys.exit(main())
