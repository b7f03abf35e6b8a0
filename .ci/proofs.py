#!/usr/bin/env python3
"""Which tests prove each line of docs/semantics.md: .ci/proofs names them, docs/semantics-proofs.md is made from it.

proofs.py --write    makes the appendix; tests that docs/semantics.md names itself are moved to .ci/proofs first
proofs.py            has every line its proof, does each test exist, and is the appendix up to date?
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE, APPENDIX, SOURCE = ROOT / "docs/semantics.md", ROOT / "docs/semantics-proofs.md", ROOT / ".ci/proofs"
TESTS = ("fuse-core/src/test", "alluxio-adapter/src/test")
TEST = re.compile(r"(?:void|def) (\w+)\(")
LINKED = re.compile(r"\[\w+\]\(semantics-proofs\.md#([\w-]+)\)")
HEAD = """<!-- Made by `make docs` from .ci/proofs; do not edit. -->

# Semantics: proofs

The tests that prove each line of [semantics](semantics.md), on a real Alluxio through a real mount. Names in lower case
with underscores are cases of the conformance suite; the others are methods of Java tests.

| line | proven by |
|---|---|
"""


def rows(text: str) -> list[tuple[int, list[str]]]:
    """Rows of the tables whose last column is the proof: their line, and their cells."""
    found, inside = [], False
    for at, line in enumerate(text.splitlines()):
        if not line.startswith("|"):
            inside = False
        elif line.endswith("| proof |"):
            inside = True
        elif inside and not line.startswith("|---"):
            found.append((at, [cell.strip() for cell in line.strip()[1:-1].split(" | ")]))
    return found


def slug(cells: list[str]) -> str:
    words = re.findall(r"[a-z0-9]+", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(cells)).lower())
    return "-".join(words[:7])


def unused(name: str, known: dict[str, list[str]]) -> str:
    return name if name not in known else next(each for n in range(2, 100) if (each := f"{name}-{n}") not in known)


def proofs() -> dict[str, list[str]]:
    lines = [line for line in SOURCE.read_text().splitlines() if line and not line.startswith("#")]
    return {name: tests.split() for name, tests in (line.split("\t") for line in lines)}


def tests_by_name() -> dict[str, str]:
    """The file of each test."""
    found: dict[str, str] = {}
    for folder in TESTS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".java", ".py"):
                for match in TEST.finditer(path.read_text()):
                    found.setdefault(match[1], str(path.relative_to(ROOT)))
    return found


def absorb(known: dict[str, list[str]]) -> None:
    """Moves the tests that lines name themselves into .ci/proofs."""
    text = PAGE.read_text()
    lines, subject = text.splitlines(), ""
    for at, cells in rows(text):
        subject = cells[0] or subject
        tests = re.findall(r"`(\w+)`", cells[-1])
        if LINKED.search(cells[-1]) or not tests:
            continue
        named = unused(slug([subject, *cells[1:-1]] if cells[0] == "" else cells[:-1]), known)
        known[named] = tests
        lines[at] = f"| {' | '.join(cells[:-1])} | [proof](semantics-proofs.md#{named}) |"
    PAGE.write_text("\n".join(lines) + "\n")
    comment = "# The tests that prove each line of docs/semantics.md: its name there, a tab, the tests.\n"
    SOURCE.write_text(comment + "".join(f"{name}\t{' '.join(tests)}\n" for name, tests in known.items()))


def appendix(known: dict[str, list[str]], files: dict[str, str]) -> str:
    linked = [match[1] for _, cells in rows(PAGE.read_text()) if (match := LINKED.search(cells[-1]))]
    lines = []
    for name in dict.fromkeys(name for name in linked if name in known):
        links = ", ".join(f"[{test}](../{files[test]})" for test in known[name] if test in files)
        lines.append(f'| <a id="{name}"></a>{name} | {links} |\n')
    return HEAD + "".join(lines)


def wrong(known: dict[str, list[str]], files: dict[str, str]) -> list[str]:
    said, linked = [], set()
    for at, cells in rows(PAGE.read_text()):
        match = LINKED.search(cells[-1])
        if not match:
            said.append(f"docs/semantics.md:{at + 1}: no proof: name its tests in the last column, then make docs")
        elif match[1] not in known:
            said.append(f"docs/semantics.md:{at + 1}: .ci/proofs has no {match[1]}")
        else:
            linked.add(match[1])
    said += [f".ci/proofs: no line of docs/semantics.md is named {name}" for name in known if name not in linked]
    said += [
        f".ci/proofs: {name}: there is no test {test}"
        for name, some in known.items()
        for test in some
        if test not in files
    ]
    if not said and APPENDIX.read_text() != appendix(known, files):
        said.append("docs/semantics-proofs.md is out of date: make docs")
    return said


def main() -> int:
    if sys.argv[1:] == ["--write"]:
        known = proofs() if SOURCE.exists() else {}
        absorb(known)
        APPENDIX.write_text(appendix(known, tests_by_name()))
        return 0
    said = wrong(proofs(), tests_by_name())
    for line in said:
        print(line)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
