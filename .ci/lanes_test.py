"""Lanes of make targets, in a folder of its own: what is printed, what it ends with, and what a signal leaves."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import slowest

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_SECONDS = 60
SUREFIRE = "[INFO] Tests run: {}, Failures: {}, Errors: 0, Skipped: 1, Time elapsed: {} s -- in io.{}"


class Lanes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / ".ci").mkdir()
        for name in ("lanes.py", "slowest.py", "budgets"):
            shutil.copy(HERE / name, self.root / ".ci")

    def start(self, makefile, *arguments):
        (self.root / "Makefile").write_text(makefile)
        command = [sys.executable, "-B", self.root / ".ci/lanes.py", *arguments]
        environment = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
        return subprocess.Popen(
            command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.root, env=environment
        )

    def lanes(self, makefile, *arguments):
        process = self.start(makefile, *arguments)
        output, _ = process.communicate(timeout=LIMIT_SECONDS)
        return process.returncode, output

    def wait_for(self, name):
        until = time.monotonic() + LIMIT_SECONDS
        while not (self.root / name).exists():
            self.assertLess(time.monotonic(), until, f"no {name}")
            time.sleep(0.01)

    def test_lanes_run_beside_each_other(self):
        # Each waits for the other one.
        waits = "touch {0}.up; until [ -e {1}.up ]; do sleep 0.01; done"
        makefile = f"a:\n\t@{waits.format('a', 'b')}\nb:\n\t@{waits.format('b', 'a')}\n"
        self.assertEqual(self.lanes(makefile, "x", "one=a", "two=b")[0], 0)

    def test_the_last_lanes_begin_beside_each_other_when_all_else_has_ended(self):
        waits = "[ -e a.over -a -e b.over ]; touch {0}.up; until [ -e {1}.up ]; do sleep 0.01; done"
        makefile = (
            "a:\n\t@sleep 0.2; touch a.over\nb:\n\t@touch b.over\n"
            f"c:\n\t@set -e; {waits.format('c', 'd')}\nd:\n\t@set -e; {waits.format('d', 'c')}\n"
        )
        self.assertEqual(self.lanes(makefile, "x", "one=a", "two=b", "--last", "one=c", "two=d")[0], 0)

    def test_the_lane_that_ends_first_takes_what_is_shared_and_each_target_runs_once(self):
        # The long one ends when the others have run, so the other lane has to take them.
        makefile = (
            "long:\n\t@until [ -e s1.runs -a -e s2.runs ]; do sleep 0.01; done\nshort:\n\t@:\n"
            "s1 s2 s3 last:\n\t@echo x >>$@.runs\n"
        )
        shared = ("--shared", "s1,s2", "--last", "one=last", "--last-shared", "s3")
        status, output = self.lanes(makefile, "x", "one=long", "two=short", *shared)
        self.assertEqual(status, 0, output)
        for name in ("s1", "s2", "s3", "last"):
            self.assertEqual((self.root / f"{name}.runs").read_text(), "x\n")

    def test_a_failure_hides_nothing(self):
        makefile = (
            "a:\n\t@echo '--- PASS: TestA (0.10s)'; echo why; exit 3\nb:\n\t@echo '--- PASS: TestB (0.10s)'\n"
            "c:\n\t@echo '--- FAIL: TestC (0.10s)'; exit 1\nlast:\n\t@echo '[  PASSED  ] 4 test(s).'\n"
        )
        status, output = self.lanes(makefile, "--tests", "x", "one=a,b", "two=c", "--last", "one=last")
        self.assertEqual(status, 1)
        for line in (
            "==> a FAILED (make ended with 2) in 0:00",
            "==> b passed in 0:00",
            "why",
            "[  PASSED  ] 4 test(s).",
        ):
            self.assertIn(line, output.splitlines())
        # The first failed without a test that did: that counts as one.
        self.assertEqual(output.splitlines()[-1], "6 passed, 2 failed, 0 skipped")

    def test_all_that_passes_ends_well(self):
        status, output = self.lanes("a:\n\t@echo a: SKIPPED: no root\nb:\n\t@:\n", "--tests", "x", "one=a", "two=b")
        self.assertEqual((status, output.splitlines()[-1]), (0, "1 passed, 0 failed, 1 skipped"))

    def test_what_a_target_leaves_behind_does_not_hold_it(self):
        process = self.start("a:\n\t@sleep 1000 & echo $$! >child\n", "x", "one=a")
        self.assertEqual(process.wait(LIMIT_SECONDS), 0)
        os.kill(int((self.root / "child").read_text()), signal.SIGKILL)
        process.communicate()

    def test_a_signal_ends_all_and_what_comes_next_does_not_begin(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for path in self.root.glob("*.up"):
                path.unlink()
            makefile = (
                "a:\n\t@trap 'touch cleaned.up; exit 1' TERM; touch is.up; while :; do sleep 0.01; done\n"
                "b:\n\t@touch begun.too\n"
            )
            process = self.start(makefile, "--tests", "x", "one=a,b", "--last", "one=b")
            self.wait_for("is.up")
            process.send_signal(number)
            output, _ = process.communicate(timeout=LIMIT_SECONDS)
            self.assertEqual(process.returncode, 128 + number, output)
            self.assertTrue((self.root / "cleaned.up").exists(), output)
            self.assertFalse((self.root / "begun.too").exists(), output)


class Counts(unittest.TestCase):
    def of(self, *lines, passed=True):
        return slowest.count(lines, passed)

    def test_each_tool(self):
        for lines, count in (
            ((SUREFIRE.format(7, 0, 1, "A"), "[ERROR] Tests run: 7, Failures: 1, Errors: 1, Skipped: 2"), (3, 2, 2)),
            (("[WARNING] Tests run: 7, Failures: 0, Errors: 0, Skipped: 0, Flakes: 1",), (7, 0, 0)),
            (
                ("--- PASS: A (0.00s)", "    --- PASS: A/one (0.00s)", "--- SKIP: B (0.00s)", "--- FAIL: C (1.00s)"),
                (1, 1, 1),
            ),
            (("[  PASSED  ] 4 test(s).", "[  FAILED  ] 2 test(s), listed below:"), (4, 2, 0)),
            (("Tests:       1 failed, 9 passed, 10 total",), (9, 1, 0)),
            (("Ran 9 tests in 0.100s", "FAILED (failures=1, errors=2, skipped=3)"), (3, 3, 3)),
            (("Ran 9 tests in 0.100s", "OK"), (9, 0, 0)),
            (("docker/test: SKIPPED: no root",), (0, 0, 1)),
            (("well",), (1, 0, 0)),
        ):
            self.assertEqual(self.of(*lines), slowest.Count(*count), lines)

    def test_the_second_try_counts(self):
        first = ("--- PASS: A (0.00s)", "--- FAIL: B (0.00s)", slowest.AGAIN + "go test")
        self.assertEqual(self.of(*first, "--- PASS: A (0.00s)", "--- PASS: B (0.00s)"), slowest.Count(2, 0, 0))

    def test_a_target_that_fails_counts_as_a_failure(self):
        self.assertEqual(self.of("--- PASS: A (0.00s)", passed=False), slowest.Count(1, 1, 0))


class Budgets(unittest.TestCase):
    # From second 100 on it is quiet; before, some task waits all the time.
    WAITS = [(at, min(at, 100)) for at in range(0, 201)]

    def test_a_class_above_its_budget_is_found(self):
        classes = [(140, 21, "Slow"), (140, 20, "Allowed"), (140, 30, "Excepted")]
        over = slowest.over_budget(classes, self.WAITS, {"Excepted": 30}, 20)
        self.assertEqual(over, [("Slow", 21, 20)])

    def test_what_waited_for_others_does_not_count(self):
        self.assertEqual(slowest.over_budget([(100, 90, "Slowed")], self.WAITS, {}, 20), [])
        self.assertEqual(slowest.quiet_seconds(self.WAITS, 115, 30), 15)

    def test_without_the_figures_nothing_is_judged(self):
        self.assertEqual(slowest.over_budget([(100, 90, "Slow")], [], {}, 20), [])
        self.assertIsNone(slowest.quiet_seconds([(90, 0), (100, 0)], 100, 20))

    def test_the_file(self):
        budgets, default = slowest.read_budgets((HERE / "budgets").read_text())
        self.assertGreater(default, 0)
        self.assertEqual(slowest.read_budgets("# x\ndefault 20 all\nio.A 40 why so\n"), ({"io.A": 40}, 20))
        with self.assertRaisesRegex(SystemExit, "budgets:1: give a class"):
            slowest.read_budgets("io.A 40\n")


if __name__ == "__main__":
    unittest.main()
