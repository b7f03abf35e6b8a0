"""For the README: some lines of bench-alluxio, those that are not won among them."""

from contenders import CONTENDERS
from report_alluxio import LABELS, medians, number
from targets_alluxio import FLOOR, NO_OPEN, PLAIN, TUNED, ratio

OURS = "gateway"
OF_DATASETS = ("svhn, later epochs, 8 readers", "coco, later epochs, 8 readers")  # told of a mount with no_open, too
LINES = {
    "svhn, first epoch, 1 reader": "small files for the first time, 1 reader",
    "svhn, later epochs, 8 readers": "small files again, 8 readers",
    "coco, later epochs, 8 readers": "pictures again, 8 readers",
    "one-block, first read, 4 readers": "1 GiB of one block for the first time, 4 readers",
    "many-blocks, first read, 4 readers": "1 GiB of blocks of 64 MiB for the first time, 4 readers",
    "ls -l, first": "`ls -l` of 100,000 files",
    "find -type f": "`find` of 100,000 files that were listed before",
    "remote: coco, first epoch, 8 readers": "pictures over loopback (short circuit off), 8 readers",
    "remote: many-blocks, first read, 1 readers": "1 GiB over loopback (short circuit off), 1 reader",
    "remote: many-blocks, read again, 1 readers": "the same again, 1 reader",
    "create 19 KB, 8 writers": "new files, 8 writers",
}


OVER_URING = (
    " The gateway serves over io_uring here, which the kernel has switched off by default; volumes in Kubernetes use "
    "`/dev/fuse` unless they say `transport: uring`: [bench-alluxio](docs/benchmarks.md#bench-alluxio) has both."
)


def options_of(*names: str) -> list[str]:
    """How the others were mounted."""
    others = [each for name in names for each in CONTENDERS if each.name == name]
    return [
        f"{each.label} is mounted with `-o {each.options}`, `{each.heap}`, "
        + ", ".join(f"`{line}`" for line in each.properties)
        + "."
        for each in others
    ]


def headlines(results: dict) -> str:
    table, facts = medians(results["samples"]), results["environment"]
    lines = [
        f"Medians, of the ratios of each round, too, on {facts['cpus']} CPUs ({facts['cpu']}), which Alluxio and the "
        f"readers share; commit {facts['commit']}."
        + (OVER_URING if "transport uring" in facts["sessions"][OURS] else ""),
        "",
        *options_of(PLAIN, TUNED),
        "",
        f"| | gateway | {LABELS[PLAIN]} | tuned | gateway ÷ these |",
        "|---|---|---|---|---|",
    ]
    for load, words in LINES.items():
        row = table[load]
        lines.append(line(row, OURS, words))
        if load in OF_DATASETS and NO_OPEN in row:
            lines.append(line(row, NO_OPEN, f"{words}, mounted with `no_open`"))
    lines += beside_tmpfs(table)
    return "\n".join(lines) + "\n"


def line(row: dict, ours: str, words: str) -> str:
    values = (f"{number(row[name]['median'])} {row[name]['unit']}" for name in (ours, PLAIN, TUNED))
    beside = (number(ratio(row, ours, other)) for other in (PLAIN, TUNED))
    return f"| {words} | {' | '.join(values)} | {', '.join(beside)} |"


def beside_tmpfs(table: dict) -> list[str]:
    """How far from a local file system what is read again is; nothing where no_open was not measured."""
    told = []
    for load in OF_DATASETS:
        ratios = [ratio(table[load], ours, FLOOR) for ours in (OURS, NO_OPEN)]
        if None not in ratios:
            told.append(f"{LINES[load]} {number(ratios[0])}, with `no_open` {number(ratios[1])}")
    return ["", f"Beside the same files on tmpfs: {'; '.join(told)}."] if told else []
