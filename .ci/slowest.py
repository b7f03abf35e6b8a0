#!/usr/bin/env python3
"""What the tests of a run took: counts, the slowest tests, and the classes above their budget.

    slowest.py FOLDER     prints it again for a run of lanes.py, whose folder is target/lanes/NAME

A class (of Java; of Go a package, of C a program) has a budget, by .ci/budgets, in quiet seconds: those in which no
task of the machine waited for a processor or a disk. The kernel counts the others (/proc/pressure), and what the
hypervisor took (steal). So a class that sleeps or waits for a timeout is over its budget on a machine with nothing
else to do, and no load, of this run or of others, brings one over it by chance. Where the kernel does not count,
nothing is judged.
"""

import bisect
import dataclasses
import glob
import os
import pathlib
import re
import sys
import threading
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUDGETS = ROOT / ".ci/budgets"
SHOWN = 20
STACK_LINES = 40
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")

# How each tool says that a class, a package or a program has ended.
CLASS_ENDED = [
    re.compile(r"Tests run: .*Time elapsed: (?P<seconds>[\d.]+) s.* -- in (?P<name>\S+)"),
    re.compile(r"^(?:ok|FAIL)\s+(?P<name>\S+)\s+(?P<seconds>[\d.]+)s$"),
    re.compile(r"^(?P<name>\w+_test \(\w+\)): (?P<seconds>[\d.]+) s$"),
]
SUREFIRE = re.compile(
    r"^(?:\[\w+\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(?:, Flakes: \d+)?$"
)
GO = re.compile(r"^--- (PASS|FAIL|SKIP): (\S+) \(([\d.]+)s\)$")
CMOCKA = re.compile(r"^\[ +(PASSED|FAILED|SKIPPED) +\] (\d+) test\(s\)")
HELM = re.compile(r"^Tests:\s+(?:(\d+) failed, )?(?:\d+ errored, )?(\d+) passed, ")
PYTHON_RAN = re.compile(r"^Ran (\d+) tests? in ")
PYTHON_ENDED = re.compile(r"^(?:OK|FAILED)(?: \((.*)\))?$")
SKIPPED = re.compile(r"^\S+: SKIPPED: ")
CLOSING = re.compile(
    r"^(?:ok|FAIL)\s+\S+/|^\[=+\] \d+ test|^Test Suites:|^Charts:|^bypass library:|^  SUCCESS|^==> passed at|: ok$"
)
AGAIN = "==> failed, tried once more: "


def ended_class(line):
    """(name, seconds) of what ended by this line of a tool; None for other lines."""
    for pattern in CLASS_ENDED:
        match = pattern.search(line)
        if match:
            return match["name"], float(match["seconds"])
    return None


def is_closing(line):
    patterns = (SUREFIRE, CMOCKA, HELM, PYTHON_RAN, PYTHON_ENDED, SKIPPED, CLOSING)
    return any(pattern.search(line) for pattern in patterns)


@dataclasses.dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, passed=0, failed=0, skipped=0):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped

    def read(self, line):
        match = SUREFIRE.match(line)
        if match:
            ran, failures, errors, skipped = map(int, match.groups())
            self.add(ran - failures - errors - skipped, failures + errors, skipped)
        match = GO.match(line)
        if match:
            self.add(*(match[1] == outcome for outcome in ("PASS", "FAIL", "SKIP")))
        match = CMOCKA.match(line)
        if match:
            self.add(**{match[1].lower(): int(match[2])})
        match = HELM.match(line)
        if match:
            self.add(int(match[2]), int(match[1] or 0))
        self.read_unittest(line)
        if SKIPPED.match(line):
            self.add(skipped=1)

    def read_unittest(self, line):
        match = PYTHON_RAN.match(line)
        if match:
            self.add(int(match[1]))
        match = PYTHON_ENDED.match(line)
        if match:
            outcomes = dict(part.split("=") for part in (match[1] or "").split(", ") if "=" in part)
            failed = int(outcomes.get("failures", 0)) + int(outcomes.get("errors", 0))
            skipped = int(outcomes.get("skipped", 0))
            self.add(-failed - skipped, failed, skipped)


def count(lines, passed):
    """The tests of one target. Of two tries the second one counts; a target that counts none is one test itself."""
    begin = max((at for at, line in enumerate(lines) if line.startswith(AGAIN)), default=0)
    total = Count()
    for line in lines[begin:]:
        total.read(line)
    if passed and total == Count():
        total.add(passed=1)
    if not passed and total.failed == 0:
        total.add(failed=1)
    return total


class Record:
    """Notes for later, in files of the folder: which class ended when, and how long tasks of the machine waited."""

    def __init__(self, folder):
        self.classes = open(folder / "classes", "w", buffering=1)
        self.lock = threading.Lock()
        self.waits = open(folder / "waits", "w", buffering=1)
        threading.Thread(target=self.watch, daemon=True).start()

    def ended(self, name, seconds):
        with self.lock:
            print(time.time(), seconds, name, file=self.classes)

    def watch(self):
        while (waited := waited_seconds()) is not None:
            print(time.time(), waited, file=self.waits)
            time.sleep(0.5)


def waited_seconds():
    """Since the start of the machine: the time in which a task waited for a processor or a disk. None: not counted."""
    try:
        total = 0.0
        for resource in ("cpu", "io"):
            some = pathlib.Path(f"/proc/pressure/{resource}").read_text().splitlines()[0]
            total += int(some.rpartition("total=")[2]) / 1e6
        steal = int(pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[8])
        return total + steal / CLOCK_TICKS
    except (OSError, ValueError, IndexError):
        return None


def quiet_seconds(waits, end, seconds):
    """Of the seconds before `end`, those in which nothing waited; waits: [(time, waited)...]. None: not known."""
    times = [at for at, _ in waits]
    first, last = bisect.bisect_right(times, end - seconds) - 1, bisect.bisect_left(times, end)
    if first < 0 or not waits:
        return None
    last = min(last, len(waits) - 1)
    return max(0.0, seconds - (waits[last][1] - waits[first][1]))


def numbers_of(path):
    rows = [line.split(" ", 2) for line in path.read_text().splitlines()] if path.exists() else []
    return [(float(row[0]), float(row[1]), *row[2:]) for row in rows]


def read_budgets(text):
    """({pattern: seconds}, default) of the lines `CLASS SECONDS REASON`."""
    budgets = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split(None, 2)
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 3 or not re.fullmatch(r"\d+", words[1]):
            raise SystemExit(f".ci/budgets:{number}: give a class, its seconds and the reason, not: {line}")
        budgets[words[0]] = int(words[1])
    return budgets, budgets.pop("default")


def over_budget(classes, waits, budgets, default):
    """[(name, quiet seconds, budget)...] of the classes [(end, seconds, name)...]."""
    over = []
    for end, seconds, name in classes:
        budget = budgets.get(name, default)
        quiet = quiet_seconds(waits, end, seconds)
        if quiet is not None and quiet > budget:
            over.append((name, quiet, budget))
    return over


def of_reports():
    """[(seconds, test)...] of Surefire's reports; what a class took besides its tests is one of its own."""
    tests = []
    for path in reports():
        suite = xml.etree.ElementTree.parse(path).getroot()
        rest = number(suite.get("time"))
        for case in suite.iter("testcase"):
            rest -= number(case.get("time"))
            tests.append((number(case.get("time")), f"{case.get('classname')}.{case.get('name')}"))
        tests.append((rest, f"{suite.get('name')}: set-up and clean-up"))
    return tests


def reports():
    return glob.glob(f"{ROOT}/**/target/surefire-reports/TEST-*.xml", recursive=True)


def number(text):
    return float((text or "0").replace(",", ""))


def of_log(lines):
    """[(seconds, test)...] of a log: tests of Go, and programs of C."""
    matches = [GO.match(line) for line in lines]
    tests = [(float(match[3]), match[2]) for match in matches if match]
    programs = [CLASS_ENDED[2].match(line) for line in lines]
    return tests + [(float(match["seconds"]), match["name"]) for match in programs if match]


def failures_told(lines):
    """Of a log with failures of Surefire: what its reports say of each, the beginning of its stack too."""
    told = []
    if not any(SUREFIRE.match(line) for line in lines):
        return told
    for path in reports():
        for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
            for failure in (*case.iter("failure"), *case.iter("error")):
                text = (failure.text or "").strip().splitlines()[:STACK_LINES]
                told += [f"    FAILED {case.get('classname')}.{case.get('name')}", *(f"      {line}" for line in text)]
    return told


def summarize(folder, outcomes):
    """Prints all of it, of {target: (passed, log)...}; False if a class is over its budget."""
    total, tests = Count(), of_reports()
    for passed, log in outcomes.values():
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        one = count(lines, passed)
        total.add(one.passed, one.failed, one.skipped)
        tests += of_log(lines)
    print(f"==> the slowest of {len(tests)}")
    for seconds, name in sorted(tests, reverse=True)[:SHOWN]:
        print(f"  {seconds:7.1f} s  {name}")
    over = over_budget(numbers_of(folder / "classes"), numbers_of(folder / "waits"), *read_budgets(BUDGETS.read_text()))
    for name, quiet, budget in over:
        print(
            f"over its budget: {name}: {quiet:.1f} s without waiting for others; {budget} s are allowed (.ci/budgets)"
        )
    total.add(failed=len(over))
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return not over


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    place = pathlib.Path(sys.argv[1])
    logs = {path.stem: path for path in place.glob("*.log")}
    sys.exit(not summarize(place, {name: (True, log) for name, log in logs.items()}))
