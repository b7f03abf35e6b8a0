"""All benchmarks, one after the other, and the page that tells what they saw.

Every stage keeps what it measured, so this can be cut at any time, by --minutes or otherwise: the next start goes on.
When all is there, docs/benchmarks.md is written. --quick asks only whether all of it runs, and writes no page.
"""

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from contenders import ROOT
from groups import GROUPS

UNFINISHED = 75
CORE_MINUTES = 6.0  # a round
HERE = Path(__file__).resolve().parent


@dataclass
class Stage:
    """A result file and the command that makes it; `minutes`: what is left of it, by the last word of experience."""

    name: str
    command: list[str]
    folder: Path
    minutes: float


def stages(quick: bool, names: list[str], fresh: bool) -> list[Stage]:
    more = [*(["--quick"] if quick else []), *(["--fresh"] if fresh else [])]
    core = ROOT / "fuse-core" / "target" / "bench" / ("quick" if quick else "results")
    script = [sys.executable, str(ROOT / "fuse-core" / "bench" / "bench_core.py"), "--out", str(core), *more]
    every = [Stage("core", script, core, 3 if quick else 5 * CORE_MINUTES)]
    for name, group in GROUPS.items():
        folder = HERE / "target" / ("quick" if quick else "results") / name
        command = [sys.executable, str(HERE / "bench_alluxio.py"), "--group", name, "--out", str(folder), *more]
        every.append(Stage(name, command, folder, 3 if quick else group.rounds * group.minutes_a_round))
    return [stage for stage in every if stage.name in names]


def run(wanted: list[Stage], minutes: float) -> list[str]:
    """Runs them until the time is over; the names of those that are not finished."""
    end = time.monotonic() + minutes * 60 if minutes else None
    unfinished = []
    for at, stage in enumerate(wanted):
        left = (end - time.monotonic()) / 60 if end else None
        rest = sum(each.minutes for each in wanted[at:])
        print(f"==> {stage.name} ({at + 1} of {len(wanted)}); at most about {rest:.0f} min are left", flush=True)
        if left is not None and left < 1:
            unfinished.append(stage.name)
            continue
        limit = ["--minutes", f"{left:.2f}"] if left is not None else []
        code = subprocess.run([*stage.command, *limit], check=False).returncode
        if code == UNFINISHED:
            unfinished.append(stage.name)
        elif code != 0:
            raise SystemExit(f"{stage.name} failed with {code}")
    return unfinished


def main() -> int:
    known = ["core", *GROUPS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a short round of each: does it all run?")
    parser.add_argument("--minutes", type=float, default=0, help="stop then; the next start goes on")
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier start measured")
    parser.add_argument("--only", default=",".join(known), help=f"of {','.join(known)}")
    options = parser.parse_args()
    names = options.only.split(",")
    if set(names) - set(known):
        parser.error(f"unknown: {', '.join(sorted(set(names) - set(known)))}; known are {', '.join(known)}")
    wanted = stages(options.quick, names, options.fresh)
    unfinished = run(wanted, options.minutes)
    if unfinished:
        print(f"not finished: {', '.join(unfinished)}; start it again to go on")
        return UNFINISHED
    if options.quick:
        checked = [str(stage.folder / "results.json") for stage in wanted]
        return subprocess.run([sys.executable, str(HERE / "results.py"), "check", *checked], check=False).returncode
    folders = [str(stage.folder) for stage in wanted]
    return subprocess.run([sys.executable, str(HERE / "publish.py"), *folders], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
