"""The texts of the code that users meet: literals of Java, Go and C, alerts, dashboards, the chart's values.

A literal is a text when it has two words or more, or is a name such as a_b of an option or a metric; not the earlier
names that the docs list. One that is put together by + counts as one. Comments are none.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODE = ("*/src/main/*.java", "csi/*.go", "fuse-core/src/main/c/*.c", "docker/*.c")
NO_TEXTS = re.compile(r"_test\.go$|/test/|test/|\.pb\.go$|/bench/|gatewaytest|fusetest|/embedded/")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# A literal is kept, so that // in it begins no comment.
COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\')|//[^\n]*|/\*.*?\*/', re.DOTALL)
NAME = re.compile(r"[a-z]+(?:_[a-z]+)+")
JOIN = re.compile(r'"\s*\+\s*"')


def earlier_names(*pages: str) -> frozenset[str]:
    """Of options and metrics, without what a metric's type and project add."""
    found = re.findall(r"Earlier name: `?(\w+)", "\n".join((ROOT / page).read_text() for page in pages))
    return frozenset(re.sub(r"^posix_gateway_|_total$", "", name) for name in found)


EARLIER = earlier_names("docs/configuration.md", "docs/metrics.md")


@dataclass(frozen=True)
class Text:
    """`where`: file and line; `scope`: code, or csi, as .ci/words has them."""

    where: str
    scope: str
    text: str


def literals(name: str, source: str) -> Iterator[Text]:
    bare = COMMENT.sub(lambda match: match[1] or "\n" * match[0].count("\n"), source)
    joined = JOIN.sub(lambda match: "\0" * match[0].count("\n"), bare)
    for match in LITERAL.finditer(joined):
        text = match[1].replace("\0", "")
        if NAME.fullmatch(text) and text not in EARLIER:
            text = text.replace("_", " ")
        if re.search(r"\w\W* \W*\w", text):
            before = joined[: match.start()]
            line = before.count("\n") + before.count("\0") + 1
            yield Text(f"{name}:{line}", "csi" if name.startswith("csi/") else "code", text)


def titles(name: str, node: object) -> Iterator[Text]:
    """What a dashboard shows."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("title", "description", "legendFormat") and isinstance(value, str):
                yield Text(name, "code", value)
            else:
                yield from titles(name, value)
    elif isinstance(node, list):
        for value in node:
            yield from titles(name, value)


def lines(name: str, scope: str, source: str, pattern: str) -> Iterator[Text]:
    for match in re.finditer(pattern, source, re.MULTILINE):
        yield Text(f"{name}:{source.count(chr(10), 0, match.start()) + 1}", scope, match[1])


def texts(root: Path = ROOT) -> Iterator[Text]:
    listed = subprocess.run(["git", "ls-files", "--", *CODE], cwd=root, check=True, capture_output=True, text=True)
    for name in listed.stdout.split():
        if not NO_TEXTS.search(name):
            yield from literals(name, (root / name).read_text())
    chart = "charts/posix-gateway/"
    for path in sorted((root / chart / "dashboards").glob("*.json")):
        yield from titles(chart + "dashboards/" + path.name, json.loads(path.read_text()))
    alerts = (root / chart / "files/alerts.yaml").read_text()
    yield from lines(chart + "files/alerts.yaml", "code", alerts, r"^ +(?:summary|description): (.*)$")
    values = (root / chart / "values.yaml").read_text()
    yield from lines(chart + "values.yaml", "csi", values, r"^ *# -- (.*)$")
    notes = (root / chart / "templates/NOTES.txt").read_text()
    yield from lines(chart + "templates/NOTES.txt", "csi", notes, r"^(.+)$")
