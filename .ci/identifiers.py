#!/usr/bin/env python3
"""Complains of identifiers that use a house word where the field has one of its own: .ci/identifiers lists both."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# Comments, text blocks, strings and characters are skipped; what is left are identifiers.
TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|([A-Za-z_$][\w$]*)', re.DOTALL
)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z]+")
MAX_ALLOWED = 30


class Term(NamedTuple):
    words: tuple[str, ...]
    instead: str
    allowed: frozenset[str]


def read(lines: list[str]) -> list[Term]:
    """Terms in lower case; one without a lower-case letter, as MOST, counts in constants alone."""
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    terms = [Term(tuple(row[0].split()), row[1], frozenset(row[2].split() if len(row) > 2 else ())) for row in rows]
    allowed = sum(len(term.allowed) for term in terms)
    if allowed > MAX_ALLOWED:
        sys.exit(f".ci/identifiers allows {allowed} exceptions; {MAX_ALLOWED} are allowed")
    return terms


def uses(identifier: str, term: Term) -> bool:
    words = WORD.findall(identifier)
    wanted = list(term.words)
    if not term.words[0].isupper():
        words, wanted = [word.lower() for word in words], [word.lower() for word in wanted]
    return any(words[i : i + len(wanted)] == wanted for i in range(len(words)))


def complaints(text: str, terms: list[Term]) -> Iterator[str]:
    for identifier in sorted({match[1] for match in TOKEN.finditer(text) if match[1]}):
        for term in terms:
            if identifier not in term.allowed and uses(identifier, term):
                yield f"{identifier}: say {term.instead} instead of {' '.join(term.words)}"


def main() -> None:
    terms = read((ROOT / ".ci" / "identifiers").read_text().splitlines())
    files = subprocess.check_output(["git", "ls-files", "--", "*.java"], cwd=ROOT, text=True).splitlines()
    failed = False
    for file in files:
        path = ROOT / file
        for complaint in complaints(path.read_text(), terms) if path.is_file() else ():
            print(f"{file}: {complaint}")
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
