#!/usr/bin/env python3
"""Puts known faults (mutants) into the code, one at a time, and tells which of them the tests catch.

A mutant is a patch .ci/mutants/NN-name.patch: lines that name its area, the fault, what a user would notice and the
tests that should catch it (Java classes, go:./package below csi/, c:name of a C test), an empty line, and the output of
`git diff -U1`, so that it outlives edits nearby. To add one: change the code, write such a file, undo the change.

A run works in a temporary clone of a commit. It builds once and runs the named tests without a mutant: what fails then
proves nothing, and does not count. For each mutant it applies, compiles, tests and reverts.
  caught   a named test failed, hung, or lost its JVM
  MISSED   all named tests passed: the tests are too weak, or others have to be named
Anything else is told in words: the patch does not apply or does not compile, or no named test could prove anything.
  make mutants ONLY=03,07         two of them; without ONLY: all
  make mutants ONLY=07 TESTS=all  with every Java, Go and C test: does any of them catch it?
  make mutants TESTS=CachesIT,go:./internal/driver  with these in the place of the named ones
  make mutants COMMIT=v1.0        against another commit, to compare what its tests are worth
"""

import argparse
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAVEN = ["mvn", "-q", "--batch-mode", "-Dquick"]
C = "fuse-core/src/main/c"
BUILD_LIMIT_S, LEAST_LIMIT_S = 3600, 300


def mutants(only, tests):
    wanted = {int(number) for number in only.replace(",", " ").split()}
    found = []
    for path in sorted((ROOT / ".ci/mutants").glob("[0-9]*.patch")):
        head = dict(line.split(": ", 1) for line in path.read_text().split("\n\n")[0].splitlines())
        named = "* go:./internal/... c:*" if tests == "all" else tests or head["tests"]
        if not wanted or int(path.name[:2]) in wanted:
            found.append({"name": path.stem, **head, "tests": named.replace(",", " ").split()})
    return found or sys.exit("no mutant has such a number; they are in .ci/mutants")


def end_group(process):
    """Ends what it started, but for what left its process group, as the guard of a mount does."""
    for number, pause_s in ((signal.SIGTERM, 0.5 if process.poll() is not None else 5), (signal.SIGKILL, 0)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
            time.sleep(pause_s)
    process.wait()


class Workshop:
    """A clone in which mutants are made and tested."""

    def __init__(self, folder, commit, log):
        self.folder, self.log = folder, log
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(folder)], check=True)
        subprocess.run(["git", "checkout", "-q", "--detach", commit], cwd=folder, check=True)

    def run(self, *command, limit_s=BUILD_LIMIT_S, below="."):
        """Its exit status, None when it hung, and what it said."""
        with open(self.log, "ab+") as log:
            began = log.tell()
            how = {"cwd": self.folder / below, "stdin": subprocess.DEVNULL, "start_new_session": True}
            process = subprocess.Popen(command, stdout=log, stderr=log, **how)
            try:
                status = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                end_group(process)
            log.seek(began)
            return status, log.read().decode(errors="replace")

    def applies(self, patch):
        clean = "git reset -q --hard && git clean -fdq"
        ways = ("git apply", "git apply --3way", "patch -p1 --fuzz=3 --batch -i")
        return any(self.run("sh", "-c", f"{clean} && {way} {shlex.quote(str(patch))}")[0] == 0 for way in ways)

    def builds(self, tests):
        """Compiles what the tests need, and the tests; only what runs as a process of its own needs the package."""
        ok = True
        if java := [test for test in tests if ":" not in test]:
            found = [str(file) for test in java for file in self.folder.glob(f"*/src/test/**/{test}.java")]
            apart = any(re.search(r"/(service|cli)/|FaultTest|\*", file) for file in [*found, *java])
            ok = self.run(*MAVEN, "-DskipTests", "package" if apart else "test-compile")[0] == 0
        for below, build, _ in (self.other(test) for test in tests if ":" in test):
            ok = ok and self.run(*build, below=below)[0] == 0
        return ok

    def other(self, test):
        """Of Go or C: the folder it is run in, the command that compiles it and those that run it."""
        if test.startswith("go:"):
            run = ["go", "test", "-race", test[3:]]
            return "csi", [*run, "-run", "^$"], [[*run, "-count=1"]]
        sources = (self.folder / C / "test").glob("*_test.c" if test == "c:*" else f"{test[2:]}.c")
        binaries = [f"../../../target/c/plain/{source.stem}" for source in sources]
        return C, ["make", "-s", "all", *binaries], [[binary] for binary in binaries]

    def test(self, tests, limit_s=BUILD_LIMIT_S):
        """What failed, and the seconds of each test class, Go package or C test that ran."""
        failed, ran = [], {}
        if java := [test for test in tests if ":" not in test]:
            self.test_java(java, limit_s, failed, ran)
        for test in (test for test in tests if ":" in test):
            below, _, commands = self.other(test)
            for command in commands:
                began = time.monotonic()
                status, said = self.run(*command, limit_s=limit_s, below=below)
                if status != 0:
                    bad = re.findall(r"^(?:--- FAIL:|\[  FAILED  \]) (\w+)(?: \(|$)", said, re.MULTILINE)
                    failed += sorted(set(bad)) or [f"{test} {'hung' if status is None else 'died'}"]
                ran[test] = ran.get(test, 0) + time.monotonic() - began
        return failed, ran

    def test_java(self, classes, limit_s, failed, ran):
        for reports in self.folder.glob("*/target/surefire-reports"):
            shutil.rmtree(reports)
        which = [] if classes == ["*"] else ["-Dtest=" + ",".join(classes), "-Dsurefire.failIfNoSpecifiedTests=false"]
        status, said = self.run(*MAVEN, "-Dmaven.test.failure.ignore", "test", *which, limit_s=limit_s)
        if status is None:
            return failed.append(f"hung: {' '.join(classes)}")
        for report in self.folder.glob("*/target/surefire-reports/TEST-*.xml"):
            suite = ElementTree.parse(report).getroot()
            name = suite.get("name").rpartition(".")[2]
            cases = [case for case in suite.iter("testcase") if case.find("skipped") is None]
            bad = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
            failed += [f"{name}.{case.get('name') or 'all'}" for case in bad]
            ran |= {name: float(suite.get("time").replace(",", ""))} if cases else {}
        if "forked VM" in said:
            failed.append("JVM died: " + ", ".join(name for name in classes if name not in ran))


def judge(shop, mutant, failed_before, seconds):
    """The mutant's result and what told."""
    proving = [name for name in mutant["tests"] if name in seconds or "*" in name or "..." in name]
    if not proving or not shop.applies(ROOT / ".ci/mutants" / f"{mutant['name']}.patch"):
        return "does not apply" if proving else "no named test runs without it", []
    if not shop.builds(proving):
        return "does not compile", []
    usual_s = sum(seconds.values()) if "*" in proving else sum(seconds.get(name, 0) for name in proving)
    failed, ran = shop.test(proving, max(LEAST_LIMIT_S, 5 * usual_s))
    failed = [bad for bad in failed if bad not in failed_before]
    missed = "MISSED" if set(proving) & set(seconds) <= set(ran) else "the tests did not run"
    return "caught" if failed else missed, failed


def work(shop, given, found):
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=shop.folder, text=True).strip()
    print(f"building {commit[:9]} in {shop.folder}; what is run says is in {shop.log}", flush=True)
    names = sorted({test for mutant in found for test in mutant["tests"]})
    if shop.run("make", "-s", "build")[0] != 0 or not shop.builds(names):
        sys.exit(f"the commit does not build; see {shop.log}")
    print(f"testing without a mutant: {' '.join(names)}", flush=True)
    failed_before, seconds = shop.test(names)
    print("".join(f"  fails without a mutant: {bad}\n" for bad in failed_before), end="", flush=True)
    results = []
    for mutant in found:
        began = time.monotonic()
        result, failed = judge(shop, mutant, failed_before, seconds)
        results.append({**mutant, "result": result, "failed": failed, "seconds": round(time.monotonic() - began)})
        print(f"{len(results)}/{len(found)} {mutant['name']}: {result} ({results[-1]['seconds']} s)", flush=True)
        report = {"commit": commit, "failed_without_a_mutant": failed_before, "mutants": results}
        given.json.write_text(json.dumps(report, indent=1) + "\n")
    for one in results:
        print(f"{one['name']:45}  {one['area']:9}  {one['result']:6}  {(one['failed'] or [''])[0]}")
    print(f"{sum(one['result'] == 'caught' for one in results)} of {len(results)} caught; {given.json}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="NN,NN", help="the numbers of the mutants; default: all")
    parser.add_argument("--tests", default="", help="all, or a list of tests in the place of those that are named")
    parser.add_argument("--commit", default="HEAD", help="what to put the mutants into; default: HEAD")
    parser.add_argument("--json", default=ROOT / "target/mutants.json", type=Path, help="default: %(default)s")
    given = parser.parse_args()
    found = mutants(given.only, given.tests)
    log = given.json.with_suffix(".log")
    log.parent.mkdir(exist_ok=True)
    log.write_text("")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    try:
        work(Workshop(folder / "clone", given.commit, log), given, found)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
