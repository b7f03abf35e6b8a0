"""Puts the results of bench-core into docs/benchmarks.md, between its markers, and the plots beside it.

python publish.py [FOLDER OF RESULTS]
"""

import json
import shutil
import sys
from pathlib import Path

from servers import BUILT, ROOT

BEGIN, END = "<!-- bench-core: begin -->\n", "<!-- bench-core: end -->\n"
PAGE = ROOT / "docs" / "benchmarks.md"
PLOTS = ROOT / "docs" / "benchmarks"


def main() -> int:
    results = Path(sys.argv[1]) if len(sys.argv) > 1 else BUILT / "results"
    facts = json.loads((results / "results.json").read_text())["environment"]
    text = (results / "results.md").read_text()
    PLOTS.mkdir(exist_ok=True)
    plots = sorted(results.glob("*.png"))
    for plot in plots:
        shutil.copy(plot, PLOTS / plot.name)
    pictures = "".join(f"![{plot.stem}](benchmarks/{plot.name})\n" for plot in plots)
    page = PAGE.read_text()
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}{text}\n{pictures}{END}{after}")
    print(f"{PAGE}: results of commit {facts['commit']}, {facts['rounds']} rounds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
