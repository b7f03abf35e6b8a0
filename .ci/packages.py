#!/usr/bin/env python3
"""Complains of classes used from a package above: .ci/packages lists the adapter's packages from top to bottom."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from identifiers import TOKEN

ROOT = Path(__file__).resolve().parent.parent
BASE = "io.posixgateway.alluxio"
SOURCES = "alluxio-adapter/src/main/java/" + BASE.replace(".", "/") + "/"
# A class by its full name, in an import or anywhere in code.
NAME = re.compile(r"(?<![\w.])[a-z]\w*(?:\.[a-z]\w*)*\.[A-Z]\w*(?:\.\w+)*")


class Package(NamedTuple):
    """Its place from the top, and what only it may import."""

    place: int
    own: tuple[str, ...]


def read(lines: list[str]) -> dict[str, Package]:
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {row[0]: Package(place, tuple(row[2:])) for place, row in enumerate(rows)}


def package_of(name: str) -> str | None:
    """The package of an imported class or member, below BASE; None: of something else."""
    if not name.startswith(BASE + "."):
        return None
    parts = name.removeprefix(BASE + ".").split(".")
    return ".".join(part for part in parts[: next(i for i, part in enumerate(parts) if part[0].isupper())])


def code_of(text: str) -> str:
    """Without comments and strings."""
    return TOKEN.sub(lambda match: match[0] if match[1] else " ", text)


def complaints(package: str, text: str, packages: dict[str, Package]) -> Iterator[str]:
    if package not in packages:
        yield f"package {package} is not listed in .ci/packages"
        return
    for name in dict.fromkeys(NAME.findall(code_of(text))):
        imported = package_of(name)
        if imported is not None and imported not in packages:
            yield f"package {imported} is not listed in .ci/packages"
        elif imported not in (None, package) and packages[imported].place < packages[package].place:
            yield f"{name}: {package} lies below {imported}"
        for owner, entry in packages.items():
            if owner != package and name.startswith(entry.own):
                yield f"{name}: only {owner} may import it"


def main() -> None:
    packages = read((ROOT / ".ci" / "packages").read_text().splitlines())
    files = subprocess.check_output(["git", "ls-files", "--", SOURCES + "**.java"], cwd=ROOT, text=True).splitlines()
    failed = not files
    for file in filter(lambda file: (ROOT / file).is_file(), files):
        package = ".".join(file.removeprefix(SOURCES).split("/")[:-1])
        for complaint in complaints(package, (ROOT / file).read_text(), packages):
            print(f"{file}: {complaint}")
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
