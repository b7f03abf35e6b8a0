"""What make flaky leaves behind when a run is ended: nothing."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import flaky

HERE = pathlib.Path(__file__).resolve().parent
# Mounts something that nobody serves, as a test does whose JVM is killed, and hangs.
PROGRAM = """
import ctypes, os, signal, sys, tempfile, time
point = tempfile.mkdtemp()
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
if ctypes.CDLL(None).mount(b"flaky-test", point.encode(), b"fuse", 0, options) != 0:
    sys.exit(3)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(point, flush=True)
time.sleep(1000)
"""
# As main does, with that program for a test.
DRIVER = """
import pathlib, signal, sys
import flaky
flaky.GRACE_SECONDS = 1
signal.signal(signal.SIGTERM, flaky.leave)
flaky.run("/", [sys.executable, "-c", sys.argv[1]], pathlib.Path(sys.argv[2]))
"""


def may_mount():
    return os.geteuid() == 0 and os.access("/dev/fuse", os.W_OK)


def mounted(point):
    return any(line.split()[4] == point for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines())


@unittest.skipUnless(may_mount(), "only root can mount, and /dev/fuse is needed")
class LeftBehind(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name) / "1"

    def said(self):
        try:
            return (self.place / "output").read_text().strip()
        except FileNotFoundError:
            return ""

    def check_that_nothing_is_left(self):
        self.assertTrue(self.said().startswith("/"), self.said())
        self.assertFalse(mounted(self.said()))
        self.assertFalse(pathlib.Path(self.said()).parent.exists())

    def test_run_that_takes_too_long(self):
        for limit in (1, 10, 60):  # as a busy machine may need to get so far
            with (
                mock.patch.multiple(flaky, LIMIT_SECONDS=limit, GRACE_SECONDS=1),
                mock.patch("builtins.print") as printed,
            ):
                why = flaky.run("/", [sys.executable, "-c", PROGRAM], self.place)
            if self.said():
                break
        self.assertIn(f"not over after {limit} s", why)
        self.assertIn("taken down", printed.call_args.args[0])
        self.check_that_nothing_is_left()

    def test_run_that_is_ended(self):
        command = [sys.executable, "-c", DRIVER, PROGRAM, str(self.place)]
        driver = subprocess.Popen(command, cwd=HERE, stdout=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while not self.said() and driver.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        driver.send_signal(signal.SIGTERM)
        self.assertEqual(128 + signal.SIGTERM, driver.wait(60))
        self.check_that_nothing_is_left()


if __name__ == "__main__":
    unittest.main()
