"""Result files of all benchmarks: read, checked against their schema, compared with one another.

python results.py check FILE...
python results.py compare A.json B.json    B ÷ A of every load, and whether their rounds overlap
"""

import json
import statistics
import sys
from pathlib import Path

import jsonschema

SCHEMA = Path(__file__).resolve().parent / "results.schema.json"
LESS_IS_BETTER = ("ms", "µs", "%", "bytes", "MB", "threads")


def read(path: Path) -> dict:
    """A result file; one that does not fit the schema is refused."""
    results = json.loads(path.read_text())
    jsonschema.validate(results, json.loads(SCHEMA.read_text()))
    return results


def compact(results: dict) -> str:
    """As text with a sample a line."""
    samples = ",\n".join(json.dumps(sample, ensure_ascii=False) for sample in results["samples"])
    others = {key: value for key, value in results.items() if key != "samples"}
    return json.dumps(others, ensure_ascii=False)[:-1] + f', "samples": [\n{samples}\n]}}\n'


def by_load(results: dict) -> dict[tuple[str, str], list[dict]]:
    seen: dict = {}
    for sample in results["samples"]:
        seen.setdefault((sample["load"], sample["contender"]), []).append(sample)
    return seen


def verdict(before: list[float], after: list[float], unit: str) -> str:
    """Said only where no round of the one reaches into the rounds of the other."""
    higher, lower = min(after) > max(before), max(after) < min(before)
    if not higher and not lower:
        return "overlap"
    return "better" if higher != (unit in LESS_IS_BETTER) else "worse"


def compare(first: dict, second: dict) -> list[str]:
    """A line for each load and contender that both have."""
    lines = []
    ones, others = by_load(first), by_load(second)
    for key in (key for key in ones if key in others):
        before, after = ([sample["value"] for sample in seen[key]] for seen in (ones, others))
        unit = ones[key][0]["unit"]
        middles = statistics.median(before), statistics.median(after)
        ratio = f"{middles[1] / middles[0]:6.2f}" if middles[0] else "     –"
        load, contender = key
        lines.append(
            f"{contender:18} {load:50} {middles[0]:12,.1f} {middles[1]:12,.1f} {unit:10} {ratio}  "
            f"{verdict(before, after, unit)}"
        )
    return lines


def main() -> int:
    what, paths = sys.argv[1] if len(sys.argv) > 1 else "", [Path(name) for name in sys.argv[2:]]
    if what == "check" and paths:
        for path in paths:
            print(f"{path}: {len(read(path)['samples'])} figures")
        return 0
    if what != "compare" or len(paths) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    first, second = (read(path) for path in paths)
    for path, results in zip(paths, (first, second), strict=True):
        facts = results["environment"]
        machine = f"Linux {facts['kernel']}, {facts['cpus']} CPUs ({facts['cpu']})"
        print(f"{path}: commit {facts['commit']}, {facts['date']}, {machine}")
    print("\n".join(compare(first, second)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
