"""Makes the chart's README table and values.schema.json from the comments of values.yaml.

Above each value stands `# -- what it does`, and, where the default does not tell the whole type, `# @schema {JSON}`.
A map whose comment has no `@schema` is a group: its keys are documented one by one, and no others are allowed.

    values_docs.py write CHART    writes both files
    values_docs.py check CHART    ends with 1 and a difference when one of them is not up to date
"""

import difflib
import json
import pathlib
import re
import sys

import yaml

BEGIN, END = "<!-- values: begin -->", "<!-- values: end -->"
TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
KEY = re.compile(r"^(?P<indent> *)(?P<key>[A-Za-z][A-Za-z0-9]*):(?:\s|$)")


class Comment:
    """What stands above a value."""

    def __init__(self):
        self.text = ""
        self.schema = None

    def add(self, line):
        content = line.lstrip("# ").strip()
        if content.startswith("-- "):
            self.text = content[3:]
        elif content.startswith("@schema "):
            self.schema = json.loads(content[len("@schema ") :])


def read_comments(text):
    """Path of a value, as a tuple of keys, to its Comment."""
    comments, path, pending = {}, [], Comment()
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            pending.add(line)
        elif match := KEY.match(line):
            depth = len(match["indent"]) // 2
            path = path[:depth] + [match["key"]]
            if pending.text or tuple(path[:-1]) not in comments:
                comments[tuple(path)] = pending
            pending = Comment()
    return comments


def leaves(values, comments, path=()):
    """Yields (path, value, comment) of each documented value, in order."""
    for key, value in values.items():
        here = (*path, key)
        comment = comments.get(here, Comment())
        if comment.text:
            yield here, value, comment
        elif isinstance(value, dict) and value:
            yield from leaves(value, comments, here)
        else:
            raise SystemExit(f"values.yaml: {'.'.join(here)} has no comment; put `# -- what it does` above it")


def leaf_schema(path, value, comment):
    schema = dict(comment.schema or {})
    if "$ref" not in schema:
        if isinstance(value, (dict, list)) and not schema:
            raise SystemExit(
                f"values.yaml: {'.'.join(path)} is a map or a list; put `# @schema` with its type above it"
            )
        schema.setdefault("type", TYPES[type(value)])
    return {**schema, "description": comment.text}


def group():
    return {"type": "object", "additionalProperties": False, "properties": {}}


def make_schema(values, comments, definitions):
    root = {"$schema": "http://json-schema.org/draft-07/schema#", **group()}
    # Helm hands these to every chart that is part of another.
    root["properties"]["global"] = {"type": "object", "description": "Values of the parent chart."}
    for path, value, comment in leaves(values, comments):
        place = root
        for key in path[:-1]:
            place = place["properties"].setdefault(key, group())
        place["properties"][path[-1]] = leaf_schema(path, value, comment)
    root["$defs"] = definitions
    return json.dumps(root, indent=2) + "\n"


def make_table(values, comments):
    rows = ["| value | default | what it does |", "|---|---|---|"]
    for path, value, comment in leaves(values, comments):
        default = json.dumps(value).replace("|", "\\|")
        rows.append(f"| `{'.'.join(path)}` | `{default}` | {comment.text.replace('|', chr(92) + '|')} |")
    return "\n".join(rows)


def with_table(readme, table):
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def wanted(chart):
    """The two files as they must be."""
    text = (chart / "values.yaml").read_text()
    values, comments = yaml.safe_load(text), read_comments(text)
    definitions = json.loads((pathlib.Path(__file__).parent / "definitions.json").read_text())
    readme = chart / "README.md"
    return {
        chart / "values.schema.json": make_schema(values, comments, definitions),
        readme: with_table(readme.read_text(), make_table(values, comments)),
    }


def main(mode, folder):
    stale = False
    for path, content in wanted(pathlib.Path(folder)).items():
        present = path.read_text() if path.exists() else ""
        if mode == "write":
            path.write_text(content)
        elif present != content:
            stale = True
            difference = difflib.unified_diff(
                present.splitlines(), content.splitlines(), str(path), "generated", lineterm=""
            )
            print("\n".join(difference))
    if stale:
        raise SystemExit("not up to date with values.yaml; run: make charts-docs")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("write", "check"):
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
