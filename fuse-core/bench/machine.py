"""The machine that a benchmark runs on: asked for, and told in a line. One description for all benchmarks."""

import json
import os
import platform
import subprocess
from pathlib import Path

from servers import ROOT


def commit_of(root: Path) -> str:
    """Of the code that is measured; a package (pack.py) carries it."""
    packed = root / "packed.json"
    if packed.exists():
        return json.loads(packed.read_text())["commit"]
    git = ["git", "-C", str(root)]
    commit = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    changed = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True).stdout.strip()
    return (commit or "unknown") + (" with changes" if changed else "")


def memory_gib() -> float:
    total = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal:"))
    return round(int(total.split()[1]) / (1 << 20), 1)


def java_version() -> str:
    """Of the java that the servers run on."""
    said = subprocess.run(["java", "-version"], check=True, capture_output=True, text=True).stderr
    return said.split('"')[1]


def environment_of(seconds: float) -> dict:
    model = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "cpu": model[0].split(":")[1].strip() if model else "unknown",
        "memory_gib": memory_gib(),
        "java": java_version(),
        "commit": commit_of(ROOT),
        "seconds": seconds,
    }


def machine(facts: dict) -> str:
    """Where and of what code; older results know neither memory nor versions."""
    memory = f", {facts['memory_gib']:g} GiB" if "memory_gib" in facts else ""
    java = f", JDK {facts['java']}" if "java" in facts else ""
    others = "".join(f", {name} {version}" for name, version in facts.get("versions", {}).items())
    return (
        f"Linux {facts['kernel']}, {facts['cpus']} CPUs ({facts['cpu']}){memory}{java}{others}, "
        f"commit {facts['commit']}, {facts['date']}"
    )
