"""Puts results into docs/benchmarks.md (page.py), what follows from them into docs/scaling.md, and some into README.md:
what stands between a benchmark's markers is made from its result file.

python publish.py FOLDER...                  of each: results.json becomes docs/benchmarks/NAME.json, its plot beside it
python publish.py --machine NAME FOLDER...   of another machine: docs/benchmarks/MACHINE/NAME.json, in its own sections
python publish.py --again                    the pages from the kept files
python publish.py --check                    is the page what the files say, is no figure told elsewhere, and is what
                                             was measured in the history?
"""

import re
import shutil
import sys
from pathlib import Path

import commits
import headlines
import report_scaling
from contenders import ROOT
from page import KEPT, plot_of, section
from report_alluxio import medians
from results import compact, read

PAGE = ROOT / "docs" / "benchmarks.md"
ON_PAPER = ROOT / "docs" / "scaling.md"
FRONT = ROOT / "README.md"
PAGES = (PAGE, ON_PAPER, FRONT)
MAX_LINES = 300  # of the page: a table and a plot for each workload, no more
MARKED = re.compile(r"<!-- ([\w/]+): begin -->\n(.*?)<!-- \1: end -->\n", re.DOTALL)
TELLING = ["README.md", "CHANGELOG.md", "fuse-core/README.md", "docs/*.md"]
# A speed, a rate, a time, a size in memory, a comparison; "= 250 MB" ends arithmetic that is shown. Settings and what a
# test holds are none: .ci/figures-allowed.
FIGURE = re.compile(
    r"\d ?(files|reads|writes|pictures|calls)/s|\d ?[KMG]i?B/s|\d ?(µs|ns)\b|(?<!= )(?<![=\d.,])\d[\d.,]* ?[MG]B\b"
    r"|\btimes (as|faster|slower|more|less)\b|\b[Tt]wice as \w+|\b[Hh]alf (of )?(the|that) (CPU )?(time|gain|memory)"
    r"|\b(two|three|four|five|ten|hundred)fold\b"
)
ALLOWED = ROOT / ".ci" / "figures-allowed"


def told_in(page: Path, name: str) -> str:
    results = read(KEPT / f"{name}.json")
    if page == FRONT:
        return headlines.headlines(results)
    if page == PAGE and "/" in name:
        return beside(results) + section(name, results)
    return section(name, results) if page == PAGE else report_scaling.on_paper(medians(results["samples"]))


def beside(results: dict) -> str:
    """Of another machine: where its code is not that of the section on the first one, both commits."""
    first = read(KEPT / f"{results['benchmark']}.json")["environment"]["commit"]
    commit = results["environment"]["commit"]
    if commit == first:
        return ""
    return f"Of commit {commit}, not of {first} as the section on the first machine: the code may differ.\n\n"


def publish(folder: Path, machine: str) -> None:
    results = read(folder / "results.json")
    name = f"{machine}/{results['benchmark']}" if machine else results["benchmark"]
    (KEPT / machine).mkdir(parents=True, exist_ok=True)
    (KEPT / f"{name}.json").write_text(compact(results))
    for old in KEPT.glob(f"{name}-*.png"):
        old.unlink()
    plot = folder / plot_of(name).name.removeprefix(f"{results['benchmark']}-")
    if plot.exists():
        shutil.copy(plot, plot_of(name))
    for each in (kept for kept in kept_names() if kept.split("/")[-1] == results["benchmark"]):
        write_section(each)
    print(f"{PAGE}: {name} of commit {results['environment']['commit']}")


def write_section(name: str) -> None:
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    for page in PAGES:
        text = page.read_text()
        if begin in text:
            before, after = text.split(begin)[0], text.split(end)[1]
            page.write_text(f"{before}{begin}{told_in(page, name)}{end}{after}")
        elif page == PAGE:
            raise SystemExit(f"{page} has no line {begin.strip()}")


def kept_names() -> list[str]:
    return sorted(str(path.relative_to(KEPT).with_suffix("")) for path in KEPT.rglob("*.json"))


def wrong_sections(text: str, page: Path = PAGE) -> list[str]:
    """Sections that are empty, or do not say what their result file says; files that no section tells of."""
    found = {match[1]: match[2] for match in MARKED.finditer(text)}
    missing = [name for name in kept_names() if name not in found] if page == PAGE else []
    wrong = [f"docs/benchmarks/{name}.json stands in no section" for name in missing]
    for name, told in found.items():
        if not (KEPT / f"{name}.json").exists():
            wrong.append(f"{page.name}: section {name} has no docs/benchmarks/{name}.json")
        elif told != told_in(page, name):
            wrong.append(f"{page.name}: section {name} does not say what its file says: publish.py --again")
    return wrong


def told_by_hand(name: str, text: str, allowed: list[str]) -> list[str]:
    """Lines with a figure that no result file stands behind."""
    outside = MARKED.sub(lambda match: "\n" * match[0].count("\n"), text)
    lines = [(number, line) for number, line in enumerate(outside.splitlines(), 1) if FIGURE.search(line)]
    return [
        f"{name}:{number}: a figure that comes from no result file: {line.strip()}"
        for number, line in lines
        if not any(words in line for words in allowed)
    ]


def allowed_words() -> list[str]:
    """Each line of the file: words of the line that is meant, a tab, the reason."""
    lines = [line for line in ALLOWED.read_text().splitlines() if line and not line.startswith("#")]
    return [line.split("\t")[0] for line in lines]


def check() -> int:
    wrong = [line for page in PAGES for line in wrong_sections(page.read_text(), page)]
    if (lines := len(PAGE.read_text().splitlines())) > MAX_LINES:
        wrong.append(f"{PAGE.name} has {lines} lines; {MAX_LINES} are allowed: choose fewer loads in page.py")
    wrong += commits.wrong(list(KEPT.rglob("*.json")))
    for pattern in TELLING:
        for path in sorted(ROOT.glob(pattern)):
            wrong += told_by_hand(str(path.relative_to(ROOT)), path.read_text(), allowed_words())
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        return check()
    if sys.argv[1:] == ["--again"]:
        for name in kept_names():
            write_section(name)
        return 0
    machine, folders = "", sys.argv[1:]
    if folders[:1] == ["--machine"]:
        machine, folders = folders[1], folders[2:]
    if not folders or folders[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    for folder in folders:
        publish(Path(folder), machine)
    return 0


if __name__ == "__main__":
    sys.exit(main())
