#!/usr/bin/env python3
"""Runs lanes of make targets side by side, then others, and says at the end what passed and what failed.

    lanes.py [--tests] NAME LANE=TARGET,TARGET... [LANE=...] [--shared TARGET,...]
             [--last LANE=TARGET,... [LANE=...] [--last-shared TARGET,...]]

The targets of a lane run one after another, each to its end, whatever failed before. A lane that has ended its own
takes the next of the shared targets. The lanes after --last begin when all others have ended. What a target prints goes
to target/lanes/NAME/TARGET.log; while it runs, one line is printed for each class or package that ends and for each
failure; when it ends, the closing lines of its tools, and after a failure the end of its log as well.

--tests: the targets are tests. The reports of Surefire are begun anew, and at the end stand the slowest tests, the
classes above their budget, and, alone on the last line, how many tests passed and failed (see slowest.py).

Ended by a signal, it ends what it started: whole process groups, by SIGTERM, after GRACE_SECONDS by SIGKILL.
"""

import argparse
import collections
import glob
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import slowest

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Less than what `timeout --kill-after` grants in .ci/run.
GRACE_SECONDS = 20
TAIL_LINES = 200
# The first lines of what failed, of each kind of tool; printed as they come.
FAILURE = re.compile(r"^(\[ERROR\]|--- FAIL|FAIL\b|panic:|\[  FAILED  \]|WARNING: DATA RACE|==\d+==ERROR|.*Error \d+$)")
SKIPPED = re.compile(r".*: SKIPPED: ")
COLOUR = re.compile(r"\x1b\[[\d;]*m")
# What Maven says after each failure, whatever it was.
ADVICE = re.compile(r"^\[ERROR\] *($|-> |\[Help|See |To see |Re-run |For more )")


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def environment():
    """For a make of its own: without the job slots of the make that runs this program."""
    flags = os.environ.get("MAKEFLAGS", "").split(" ")
    kept = [flag for flag in flags if not re.match(r"-j\d*$|--jobserver", flag)]
    return {**os.environ, "MAKEFLAGS": " ".join(kept)}


class Target:
    """One make target: its process, its log, its outcome."""

    def __init__(self, lane, name, run):
        self.lane, self.name, self.run = lane, name, run
        self.log = run.folder / f"{name}.log"
        self.ended = self.process = None
        self.seconds = 0.0

    def perform(self):
        begin = time.monotonic()
        # BUILT is empty: what these targets need has been built.
        command = ["make", "-s", "--no-print-directory", "BUILT=", self.name]
        with self.run.starting:
            if self.run.interrupted:
                return
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        reader = threading.Thread(target=self.read, daemon=True)
        reader.start()
        self.ended = self.process.wait()
        reader.join(2)  # longer only if something that it left behind holds the pipe
        self.seconds = time.monotonic() - begin
        if not self.run.interrupted:
            self.run.say(self.closing())

    def read(self):
        with open(self.log, "w") as log:
            for coloured in self.process.stdout:
                line = COLOUR.sub("", coloured)
                log.write(line)
                log.flush()
                self.progress(line.rstrip())

    def progress(self, line):
        one = slowest.ended_class(line)
        if one:
            failed = FAILURE.match(line) or "<<< " in line
            self.run.note_class(self, *one, " FAILED" if failed else "")
        elif (line.startswith("==> ") or FAILURE.match(line) or SKIPPED.match(line)) and not ADVICE.match(line):
            self.run.progress(self, line)

    def closing(self):
        """What is printed when it has ended."""
        outcome = "passed" if self.ended == 0 else f"FAILED (make ended with {self.ended})"
        lines = self.log.read_text(errors="replace").splitlines()
        shown = [line for line in lines if slowest.is_closing(line)]
        if self.ended != 0:
            shown = [f"    … {self.log.relative_to(ROOT)}", *lines[-TAIL_LINES:], *slowest.failures_told(lines)]
        return "\n".join([f"==> {self.name} {outcome} in {clock(self.seconds)}", *shown])


class Run:
    def __init__(self, name, tests):
        self.tests, self.begin = tests, time.time()
        self.folder = ROOT / "target/lanes" / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if tests:
            for reports in glob.glob(f"{ROOT}/**/target/surefire-reports", recursive=True):
                shutil.rmtree(reports)
        self.targets = []
        self.starting = threading.Lock()
        self.interrupted = False
        self.printing = threading.Lock()
        self.record = slowest.Record(self.folder)

    def say(self, text):
        with self.printing:
            print(text, flush=True)

    def progress(self, target, text):
        self.say(f"{clock(time.time() - self.begin):>6} {target.lane:6} {text}")

    def note_class(self, target, name, seconds, remark):
        self.record.ended(name, seconds)
        if self.tests:
            self.progress(target, f"{seconds:7.1f} s  {name}{remark}")

    def lane(self, lane, names, shared):
        """Runs one lane to its end, in a thread of its own; then what is left in `shared`, a deque for all lanes."""

        def perform():
            for name in names:
                self.perform(lane, name)
            while shared:
                try:
                    name = shared.popleft()
                except IndexError:  # another lane was faster
                    return
                self.perform(lane, name)

        thread = threading.Thread(target=perform, name=lane)
        thread.start()
        return thread

    def perform(self, lane, name):
        target = Target(lane, name, self)
        self.targets.append(target)
        target.perform()

    def interrupt(self, number):
        """Ends everything. The main thread calls it, once."""
        with self.starting:
            self.interrupted = True
        running = [one.process for one in self.targets if one.process and one.process.poll() is None]
        self.say(f"==> ended by {signal.Signals(number).name}: waits for {len(running)} to end")
        for process in running:
            os.killpg(process.pid, signal.SIGTERM)
        until = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < until and any(group_lives(process.pid) for process in running):
            time.sleep(0.1)
        for process in running:
            if group_lives(process.pid):
                os.killpg(process.pid, signal.SIGKILL)


def split(names):
    return [one for one in names.split(",") if one]


def group_lives(group):
    try:
        os.killpg(group, 0)
        return True
    except ProcessLookupError:
        return False


def wait(threads, signals):
    """Until all have ended; the number of a signal that came before, else None."""
    while any(thread.is_alive() for thread in threads):
        try:
            return signals.get(timeout=0.2)
        except queue.Empty:
            pass
    return None


def finish(run):
    """The summary; the exit status."""
    print(f"==> {clock(time.time() - run.begin)} in all")
    for target in run.targets:
        outcome = "passed" if target.ended == 0 else "FAILED"
        print(f"    {target.lane:6} {outcome}  {clock(target.seconds):>6}  {target.name}")
    failed = any(target.ended != 0 for target in run.targets)
    if run.tests:
        outcomes = {target.name: (target.ended == 0, target.log) for target in run.targets}
        failed |= not slowest.summarize(run.folder, outcomes)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("name")
    parser.add_argument("lanes", nargs="+")
    parser.add_argument("--shared", default="", metavar="TARGET,...")
    parser.add_argument("--last", nargs="+", default=[], metavar="lane")
    parser.add_argument("--last-shared", default="", metavar="TARGET,...")
    options = parser.parse_args()
    signals = queue.Queue()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: signals.put(number))
    run = Run(options.name, options.tests)
    for stage, shared in ((options.lanes, split(options.shared)), (options.last, split(options.last_shared))):
        rest = collections.deque(shared)
        lanes = [lane.split("=", 1) for lane in stage]
        threads = [run.lane(lane, split(names), rest) for lane, names in lanes]
        number = wait(threads, signals)
        if number:
            run.interrupt(number)
            return 128 + number
    return finish(run)


if __name__ == "__main__":
    sys.exit(main())
