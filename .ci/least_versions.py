#!/usr/bin/env python3
"""Compares the jars that are packaged, what is packed into them, and the modules of the driver with .ci/least-versions.

A library below the least version of its line of releases is reported, with the advisories; .ci/versions-allowed excuses
one, with a reason, for as long as it is there. Needs a built tree, and no network.
"""

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docker"))

import sbom  # noqa: E402

JARS = ROOT / "alluxio-adapter/target/dist/lib"
LEAST, ALLOWED = ROOT / ".ci/least-versions", ROOT / ".ci/versions-allowed"


class Used(NamedTuple):
    ecosystem: str
    library: str
    version: str
    place: str


class Row(NamedTuple):
    ecosystem: str
    library: str
    versions: str
    checked: str
    advisories: str


class Excuse(NamedTuple):
    place: str
    library: str
    version: str
    reason: str


def rows(file: pathlib.Path, kind: type) -> list:
    """Lines of fields separated by tabs; # begins a comment."""
    lines = (line.split("\t") for line in file.read_text().splitlines() if line and not line.startswith("#"))
    return [kind(*fields) for fields in lines]


def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers: v1.2.3, 4.1.124.Final, 33.4.8-android, 0.0.0-20260101-abcdef."""
    return tuple(int(part) for part in re.match(r"v?((?:\d+\.)*\d+)", version)[1].split("."))


def is_safe(version: str, least: str) -> bool:
    """At least that of its own line of releases (the same numbers but for the last), or of the newest line."""
    used, lines = numbers(version), [numbers(each) for each in least.split()]
    return used >= lines[-1] or any(used >= line and used[: len(line) - 1] == line[:-1] for line in lines)


def packaged(jars: pathlib.Path) -> Iterator[Used]:
    for jar in sorted(jars.glob("*.jar")):
        for part in sbom.jar_components(jar):
            if part["version"]:
                yield Used("maven", f"{part.get('group', '')}:{part['name']}", part["version"], jar.name)


def modules(listing: str, go: str) -> Iterator[Used]:
    yield Used("go", "stdlib", go.removeprefix("go"), "csi/go.mod")
    for line in listing.splitlines():
        name, _, version = line.partition(" ")
        if version:
            yield Used("go", name, version.split()[-1], "csi/go.mod")


def complaints(used: Iterable[Used], least: list[Row], allowed: list[Excuse]) -> Iterator[str]:
    known = {(row.ecosystem, row.library): row for row in least}
    stale = set(allowed)
    for one in dict.fromkeys(used):
        row = known.get((one.ecosystem, one.library))
        if row is None or is_safe(one.version, row.versions):
            continue
        excuses = {each for each in allowed if (one.place, one.library, one.version) == each[:3]}
        stale -= excuses
        if not excuses:
            least_of_lines = row.versions.replace(" ", " or ")
            yield f"{one.place} has {one.library} {one.version}, below {least_of_lines}: {row.advisories}"
    for each in sorted(stale):
        yield f"{each.place} has no {each.library} {each.version}, or it is safe: take it off {ALLOWED.name}"


def main() -> int:
    if not any(JARS.glob("*.jar")):
        print(f"{sys.argv[0]}: no jars in {JARS.relative_to(ROOT)}; build them with: make build")
        return 2
    run = {"cwd": ROOT / "csi", "stdout": subprocess.PIPE, "text": True, "check": True}
    listing = subprocess.run(["go", "list", "-m", "all"], **run).stdout
    go = subprocess.run(["go", "env", "GOVERSION"], **run).stdout.strip()
    used = [*packaged(JARS), *modules(listing, go)]
    found = list(complaints(used, rows(LEAST, Row), rows(ALLOWED, Excuse)))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
