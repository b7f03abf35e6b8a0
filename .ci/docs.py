#!/usr/bin/env python3
"""Checks what users read: README.md, CONTRIBUTING.md, CHANGELOG.md and docs/; links, sentences and words of PARTS, too.

Links lead somewhere; sentences have at most 25 words; the glossary's words are used (.ci/words), in what the code
prints, too; every option, flag, metric, alert, errno, make target and error text that is named exists, and so do the
classes and files that pages on the code name; each command of README and quickstarts is run by a test; all of it has at
most 25,000 words. What is generated is left out, but for its links.
Maven, the chart and the newest release of CHANGELOG.md have one version. The table of requests to a bucket says what
was measured.
"""

import errno
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import texts

ROOT = Path(__file__).resolve().parent.parent
MAX_WORDS_OF_SENTENCE, MAX_WORDS = 25, 25_000
# Pages beside the docs: what they name is checked where they are tested.
PARTS = ("SECURITY.md", "charts/**/*.md", "csi/README.md", "fuse-core/README.md", "docs/design/*.md")
REQUESTS = "alluxio-adapter/src/test/resources/s3-requests.json"
GENERATED = re.compile(r"<!-- ([\w/ ]+): begin -->\n.*?<!-- \1: end -->", re.DOTALL)
MADE = "<!-- Made by `make docs`"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`+([^`\n]+)`+")
# Pages on the code, and what they name of it: a class, perhaps with folders before it and a member behind, or a file.
OF_CODE = ("CONTRIBUTING.md", "docs/architecture.md", "docs/design/")
CLASS = re.compile(r"((?:[\w-]+/)*[A-Z][a-z]\w*)((?:\.\w+)*)(?:\(\))?")
FILE = re.compile(r"(?:[\w.-]+/)*[\w-]+\.(?:c|go|h|java|proto|py)")
# Which tests run the commands of a page; those of make: `make test`, which begins with them.
ON_HOST = "alluxio-adapter/src/test/java/io/posixgateway/alluxio/cli/QuickstartFaultTest.java"
IN_KUBERNETES = "e2e/cases/14-page.sh"
RUNNERS = {
    "README.md": (ON_HOST, IN_KUBERNETES),
    "docs/quickstart-host.md": (ON_HOST,),
    "docs/quickstart-kubernetes.md": (IN_KUBERNETES,),
}
# Properties of Alluxio, not values of the chart.
ALLUXIO = (
    "alluxio.user.",
    "alluxio.master.",
    "alluxio.underfs.",
    "alluxio.tmp.",
    "alluxio.fuse.",
    "alluxio.zookeeper.",
)
ALLUXIO += ("alluxio.shaded.",)  # and a package
TEST = re.compile(r"(^|/)tests?/|_test\.|^e2e/|^\.ci/|^docs/")
RUN_BY_MAKE_TEST = ("make build",)
SOURCES = ("*.java", "*.go", "*.c", "*.h", "*.py", "*.sh", "*.yaml", "*.proto", "*.tpl", "*.mk", "*/bin/*", "*/sh/*")
SOURCES += ("Makefile", ".ci/*", "docker/*", "e2e/*", "*/jvm.options", "*.xml", "csi/docs/*", "docs/metrics.md")


@dataclass(frozen=True)
class Page:
    """`name`: its path in the repository; `text`: all of it."""

    name: str
    text: str

    @property
    def written(self) -> str:
        """What people wrote; lines keep their numbers."""
        if self.text.startswith(MADE):
            return ""
        return GENERATED.sub(lambda match: "\n" * match[0].count("\n"), self.text)

    def at(self, offset: int) -> str:
        return f"{self.name}:{self.text.count(chr(10), 0, offset) + 1}"


def slug(heading: str) -> str:
    """As GitHub makes an anchor of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text: str) -> set[str]:
    outside = FENCE.sub("", text)
    named = set(re.findall(r'<a (?:id|name)="([^"]+)"', outside))
    return named | {slug(match[1]) for match in re.finditer(r"^#+ (.+)$", outside, re.MULTILINE)}


def broken_links(page: Page, root: Path = ROOT) -> Iterator[str]:
    for match in LINK.finditer(FENCE.sub(lambda found: "\n" * found[0].count("\n"), page.text)):
        target, _, anchor = match[1].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = (root / page.name).parent / target if target else root / page.name
        if not path.exists():
            yield f"{page.name}: the link to {match[1]} leads nowhere"
        elif anchor and path.suffix == ".md" and anchor not in anchors(path.read_text()):
            yield f"{page.name}: {target or 'this page'} has no heading for the link #{anchor}"


def prose(text: str) -> Iterator[str]:
    """Paragraphs, items of lists and cells of tables, without code blocks; a code span or a link is one word."""
    text = re.sub(
        r"^    \S.*$|<!--.*?-->|!\[[^\]]*\]\([^)]*\)", "", FENCE.sub("", text), flags=re.MULTILINE | re.DOTALL
    )
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", CODE.sub("code", text))
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        starts = not line.strip() or re.match(r"\s*([*+-]|\d+\.|#+|\|)\s?", line)
        if starts and block:
            yield " ".join(block)
            block = []
        if line.startswith("#"):
            yield line
        elif line.startswith("|"):
            yield from (cell.strip() for cell in line.strip("| ").split("|"))
        elif line.strip():
            block.append(line.strip())


def long_sentences(page: Page) -> Iterator[str]:
    if page.name == "CHANGELOG.md":
        return
    for block in prose(page.written):
        for sentence in re.split(r"(?<=[.!?:;])(?=[\s)*]|$)", block):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > MAX_WORDS_OF_SENTENCE:
                yield f"{page.name}: {len(words)} words, {MAX_WORDS_OF_SENTENCE} are allowed: {' '.join(words[:9])} …"


@dataclass(frozen=True)
class Word:
    """`old`: the pattern of a house word; `new`: the field's; `scopes`: where it counts."""

    old: re.Pattern
    new: str
    scopes: tuple[str, ...] = ("docs", "code", "csi")

    def found(self, where: str, text: str) -> Iterator[str]:
        for match in self.old.finditer(text):
            yield f"{where}: '{match[0]}': the glossary says {self.new}"


def glossary() -> list[Word]:
    lines = [line for line in (ROOT / ".ci" / "words").read_text().splitlines() if line and not line.startswith("#")]
    columns = [line.split("\t") for line in lines]
    return [
        Word(re.compile(rf"\b(?:{old})\b", re.IGNORECASE), new, *(tuple(scope.split()) for scope in scopes))
        for old, new, *scopes in columns
    ]


def house_words(page: Page, words: list[Word]) -> Iterator[str]:
    text = CODE.sub("", FENCE.sub("", page.written))
    for word in words if page.name != "CHANGELOG.md" else ():
        if "docs" in word.scopes:
            yield from word.found(page.name, text)


def house_words_in_code(some: Iterable[texts.Text], words: list[Word]) -> Iterator[str]:
    for text in some:
        for word in words:
            if text.scope in word.scopes:
                yield from word.found(text.where, text.text)


def joined(source: str) -> str:
    """Texts are split over lines and joined again by + in Java and Go."""
    return re.sub(r'"\s*\+\s*"', "", source).replace('\\"', '"')


class Names:
    """What the sources know."""

    def __init__(self, root: Path = ROOT):
        listed = subprocess.run(
            ["git", "ls-files", "--", *SOURCES], cwd=root, check=True, capture_output=True, text=True
        )
        files = [root / name for name in listed.stdout.split() if not name.startswith(".ci/docs")]
        files += [root / "charts/posix-gateway/values.yaml"]
        everything = "\n".join(path.read_text(errors="replace") for path in files if path.is_file())
        self.text = joined(everything)
        programs = [path for path in files if path.is_file() and not TEST.search(str(path.relative_to(root)))]
        self.printed = joined("\n".join(path.read_text(errors="replace") for path in programs))
        self.words = set(re.findall(r"[A-Za-z][\w.-]*\w", everything))
        chart = (root / "charts/posix-gateway/README.md").read_text()
        self.values = set(re.findall(r"^\| `([\w.]+)` \|", chart, re.MULTILINE))
        self.targets = set(re.findall(r"^([\w.-]+):(?!=)", everything, re.MULTILINE))

    def has_value(self, name: str) -> bool:
        """A value of the chart, what holds it, or a key below one."""
        return any(
            f"{one}.".startswith(f"{other}.") for each in self.values for one, other in ((each, name), (name, each))
        )

    def has_text(self, shown: str) -> bool:
        """An error text as it is printed; … stands for what differs."""
        return all(part.strip() in self.printed for part in re.split("…", shown) if part.strip())


def unknown_names(page: Page, names: Names) -> Iterator[str]:
    spans = [match[1] for match in CODE.finditer(page.written)] + [match[2] for match in FENCE.finditer(page.written)]
    for span in spans if page.name != "CHANGELOG.md" else ():
        if page.name.startswith(OF_CODE) and FILE.fullmatch(span):
            continue  # of missing_classes
        for flag in re.findall(r"posix-gateway[ \w/.:-]* (--[a-z][a-z-]+)", span):
            if flag not in names.text:
                yield f"{page.name}: no command has the flag {flag}"
        value = re.fullmatch(
            r"((?:node|controller|alluxio|monitoring|csiDriver|keeper|image)\.[a-z][\w.]*)(?:[:=].*)?", span
        )
        if value and not span.startswith(ALLUXIO) and not names.has_value(value[1]):
            yield f"{page.name}: the chart has no value {value[1]}"
        for name in re.findall(r"\bmake ([a-z][a-z0-9-]*)", span):
            if name not in names.targets:
                yield f"{page.name}: make has no target {name}"
        if re.fullmatch(r"E[A-Z0-9]{3,}", span) and not hasattr(errno, span):
            yield f"{page.name}: {span} is no errno"
        for name in re.findall(r"(?<![\w./<-])(?:[a-z]+_[a-z_]+|PosixGateway[A-Z]\w+)(?![\w/(*-])", span):
            if name not in names.words:
                yield f"{page.name}: nothing in the sources is named {name}"


def missing_classes(page: Page, files: list[str], root: Path = ROOT) -> Iterator[str]:
    """Of pages on the code. A member is a word of its class."""
    for match in CODE.finditer(page.written) if page.name.startswith(OF_CODE) else ():
        named = CLASS.fullmatch(match[1])
        wanted = f"{named[1]}.java" if named else match[1] if FILE.fullmatch(match[1]) else None
        found = [name for name in files if f"/{name}".endswith(f"/{wanted}")]
        if wanted and not found:
            yield f"{page.at(match.start())}: the tree has no {wanted}"
        source = "".join((root / name).read_text() for name in found) if named and named[2] else ""
        for member in named[2].split(".")[1:] if source else ():
            if not re.search(rf"\b{member}\b", source):
                yield f"{page.at(match.start())}: {named[1]} has no {member}"


def unknown_texts(page: Page, names: Names) -> Iterator[str]:
    """Of docs/troubleshooting.md: symptoms that are error texts stand in a code span behind "> "."""
    for match in re.finditer(r"^> `([^`\n]+)`$", page.text, re.MULTILINE):
        if not names.has_text(match[1]):
            yield f"{page.at(match.start())}: nothing prints this text: {match[1]}"


def commands(page: Page) -> list[str]:
    return [line for match in FENCE.finditer(page.text) if match[1] == "sh" for line in match[2].splitlines() if line]


def commands_not_run(page: Page) -> Iterator[str]:
    for runner in RUNNERS.get(page.name, ()):
        if page.name not in (ROOT / runner).read_text():
            yield f"{page.name}: {runner} does not run its commands"
    for command in commands(page) if page.name in RUNNERS else ():
        kubernetes = command.startswith(("helm ", "kubectl "))
        wanted = IN_KUBERNETES if kubernetes else ON_HOST
        if command.startswith("make ") and command not in RUN_BY_MAKE_TEST:
            yield f"{page.name}: no test runs: {command}"
        elif not command.startswith("make ") and wanted not in RUNNERS[page.name]:
            yield f"{page.name}: no test runs: {command}"


def differing_versions(root: Path = ROOT) -> Iterator[str]:
    """The version is in each pom.xml (its first), twice in Chart.yaml, and with its date in CHANGELOG.md."""
    listed = subprocess.run(["git", "ls-files", "--", "*pom.xml"], cwd=root, check=True, capture_output=True, text=True)
    patterns = dict.fromkeys(listed.stdout.split(), r"<version>(.*?)</version>")
    chart = "charts/posix-gateway/Chart.yaml"
    patterns |= {chart: r"^version: *(\S+)$", f"{chart} ": r"^appVersion: *(\S+)$"}
    patterns["CHANGELOG.md"] = r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$"
    found = {}
    for name, pattern in patterns.items():
        match = re.search(pattern, (root / name.strip()).read_text(), re.MULTILINE)
        found[name] = match[1] if match else "none"
    if len(set(found.values())) > 1:
        yield "versions differ: " + ", ".join(f"{name.strip()} has {version}" for name, version in found.items())


def request_table(rows: list[dict]) -> str:
    """What operations cost a bucket, as S3CallsIT writes it."""
    columns = list(rows[0])[1:]
    head = ["of 1 KiB, in a directory that this mount knows", *(name.replace("GET", "GET, HEAD") for name in columns)]
    lines = [f"| {' | '.join(head)} |", "|---|" + "---|" * len(columns)]
    lines += [f"| {' | '.join(str(cell) for cell in row.values())} |" for row in rows]
    return "\n".join(lines) + "\n"


def differing_requests(root: Path = ROOT) -> Iterator[str]:
    table = request_table(json.loads((root / REQUESTS).read_text()))
    if f"<!-- S3 requests: of S3CallsIT -->\n{table}<!-- end -->\n" not in (root / "docs/semantics.md").read_text():
        yield (
            f"docs/semantics.md: the table of S3 requests does not say what was measured ({REQUESTS}): "
            "make s3-test TEST=S3CallsIT ARGS=-Dpgw.docs.write=true writes both"
        )


def pages(root: Path = ROOT) -> list[Page]:
    some = [root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md", *sorted((root / "docs").glob("*.md"))]
    return [Page(str(path.relative_to(root)), path.read_text()) for path in some]


def tracked(root: Path = ROOT) -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True)
    return listed.stdout.split()


def parts(root: Path = ROOT) -> list[Page]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *(f":(glob){part}" for part in PARTS)], cwd=root, check=True, capture_output=True
    )
    return [Page(name, (root / name).read_text()) for name in listed.stdout.decode().split()]


def count(some: list[Page]) -> int:
    """Words that people wrote, of README and docs."""
    return sum(len(page.written.split()) for page in some if page.name != "CHANGELOG.md")


def wrong(some: list[Page], names: Names) -> Iterator[str]:
    words, files = glossary(), tracked()
    yield from house_words_in_code(texts.texts(), words)
    yield from differing_versions()
    yield from differing_requests()
    for page in [*some, *parts()]:
        yield from broken_links(page)
        yield from long_sentences(page)
        yield from house_words(page, words)
        yield from missing_classes(page, files)
        if page in some or page.name.startswith(OF_CODE):
            yield from unknown_names(page, names)
    for page in some:
        yield from unknown_texts(page, names)
        yield from commands_not_run(page)
    if (total := count(some)) > MAX_WORDS:
        yield f"README and docs have {total} words; {MAX_WORDS} are allowed: shorten them"


def main() -> int:
    some = pages()
    found = list(wrong(some, Names()))
    for line in found:
        print(line)
    if sys.argv[1:] == ["--count"]:
        print(count(some), "words")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
