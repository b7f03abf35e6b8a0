"""Versions of what some parts run beside Java; they stand in the environment of a result."""

import subprocess
from collections.abc import Iterable

from paper_parts import PYTHON


def said_by(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


KNOWN = {
    "fio": lambda: said_by("fio", "--version").removeprefix("fio-"),
    "torch": lambda: said_by(PYTHON, "-c", "import torch; print(torch.__version__)"),
}


def versions_of(programs: Iterable[str]) -> dict[str, str]:
    return {name: KNOWN[name]() for name in sorted(set(programs))}
