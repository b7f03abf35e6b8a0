"""What Alluxio's master answers: calls a second by callers, and its CPU time a call. The callers share its CPUs."""

import re
import subprocess

from contenders import java_of_tests
from parts import Site

HEAP = "512m"


def listening(port: str) -> int:
    """The process that does so."""
    command = ["ss", "-tlnpH", f"sport = :{port}"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"pid=(\d+)", said)
    if not found:
        raise RuntimeError(f"nobody listens on port {port}: {said}")
    return int(found[1])


def master(site: Site) -> None:
    """By the client that the gateway has, without a file system and without a cache."""
    masters = site.mount.way.masters
    about = [masters, listening(masters.rsplit(":", 1)[1]), "/svhn/f0", "/listed", site.scale.seconds]
    for seen in site.run(java_of_tests(HEAP, "bench.MasterCalls", *about)):
        more = {"master_cpu_us": seen["master_cpu_us"]}
        site.keep(f"master: {seen['what']}, {seen['callers']} callers", seen["per_s"], "calls/s", **more)
