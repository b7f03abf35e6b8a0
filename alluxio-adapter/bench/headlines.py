"""For the README: a few lines of bench-alluxio, those that are not won among them."""

from report_alluxio import LABELS, medians, number
from targets_alluxio import FLOOR, NO_OPEN, PLAIN, TUNED

OURS = "gateway"
BESIDE = (PLAIN, TUNED, FLOOR)
LINES = {
    "svhn, first epoch, 1 reader": "small files for the first time, 1 reader",
    "svhn, later epochs, 8 readers": "small files again, 8 readers",
    "many-blocks, first read, 4 readers": "1 GiB for the first time, 4 readers",
    "remote: many-blocks, first read, 1 readers": "1 GiB over loopback, 1 reader",
    "ls -l, first": "`ls -l` of 100,000 files",
    "find -type f": "`find` of 100,000 files listed before",
    "create 19 KB, 8 writers": "new files, 8 writers",
}
WITH_NO_OPEN = "svhn, later epochs, 8 readers"


def headlines(results: dict) -> str:
    table, facts = medians(results["samples"]), results["environment"]
    head = ["gateway", *(LABELS[name] for name in BESIDE)]
    lines = ["| | " + " | ".join(head) + " |", "|---|" + "---|" * len(head)]
    for load, words in LINES.items():
        lines.append(line(table[load], OURS, words))
        if load == WITH_NO_OPEN and NO_OPEN in table[load]:
            lines.append(line(table[load], NO_OPEN, f"{words}, with `no_open`"))
    measured = f"Medians on {facts['cpus']} CPUs ({facts['cpu']}), commit {facts['commit']}."
    return "\n".join([*lines, "", measured]) + "\n"


def line(row: dict, ours: str, words: str) -> str:
    cells = (f"{number(row[name]['median'])} {row[name]['unit']}" if name in row else "–" for name in (ours, *BESIDE))
    return f"| {words} | {' | '.join(cells)} |"
