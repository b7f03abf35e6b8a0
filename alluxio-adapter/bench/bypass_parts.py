"""The loads of the libplfs paper: reads of 1 KiB to 1 MiB of files of 128 MiB to 2 GiB, by one thread and by four."""

import subprocess
import time
from pathlib import Path

from parts import LOAD, TRANSFERRED, Dataset, Site, mb_per_s

PROGRAM = LOAD.parent / "transfers"
TRANSFERS_KIB = (1, 4, 16, 64, 256, 1024)
QUICK_KIB = (1, 64, 1024)
THREADS = (1, 4)
MOST_PASSES = 40
OWN_NUMBERS = 4096  # the library's descriptors
BYPASSED_WITHIN_S = 20


def read_once(site: Site, place: list, how: str) -> float:
    """MB/s of passes from the beginning to the end, each with nothing of the file in FUSE's page cache."""
    total = {"bytes": 0, "seconds": 0.0}
    for _ in range(MOST_PASSES):
        site.load("drop", place[0])
        seen = site.run([PROGRAM, *place, how])
        total = {key: total[key] + seen[key] for key in total}
        if total["seconds"] >= site.scale.seconds / 2:
            break
    return mb_per_s(total)


def pieces(site: Site) -> list[tuple[str, int, int]]:
    """Of each load of a file: its name, the bytes of a transfer, the threads."""
    return [
        (f"{kib} KiB, {threads} thread{'s' if threads > 1 else ''}", kib << 10, threads)
        for kib in (QUICK_KIB if site.scale.is_quick else TRANSFERS_KIB)
        for threads in THREADS
    ]


def transfers(site: Site, data: Dataset, label: str) -> None:
    content = site.only_file(data)
    direct = site.mount.contender.reads == "direct"
    check_bypass(site, content[0])
    for name, size, threads in pieces(site):
        place = [*content, size, threads, site.scale.seconds]
        site.keep(f"{label}, {name}", read_once(site, place, "direct" if direct else "once"), "MB/s")
    if direct:
        return
    site.load("sequential", *content, 1)
    for name, size, threads in pieces(site):
        seen = site.run([PROGRAM, *content, size, threads, site.scale.seconds, "again"])
        site.keep(f"{label}, {name}, again", mb_per_s(seen), "MB/s")


def check_bypass(site: Site, file: Path) -> None:
    """Ends the benchmark if programs with the library still read through FUSE when the gateway has got going."""
    deadline = time.monotonic() + BYPASSED_WITHIN_S
    while site.mount.contender.reads == "bypass" and not is_bypassed(site, file):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{site.mount.contender.name}: {file} is read through FUSE: {site.mount.said()[-3000:]}")
        time.sleep(0.2)


def is_bypassed(site: Site, file: Path) -> bool:
    """A program with the library holds block files while it has the file open, in numbers from 4096 on."""
    command = ["bash", "-c", 'exec 5<"$0"; ls "/proc/$$/fd"; true', str(file)]
    done = subprocess.run(command, env=site.mount.environment(), capture_output=True, text=True, check=True)
    return any(int(number) >= OWN_NUMBERS for number in done.stdout.split())


def one_block(site: Site) -> None:
    for name in ["128MiB"] if site.scale.is_quick else TRANSFERRED:
        transfers(site, site.sets[name], name.replace("MiB", " MiB").replace("GiB", " GiB"))


def blocks_of_64_mib(site: Site) -> None:
    transfers(site, site.sets["many-blocks"], "blocks of 64 MiB")


def opens(site: Site) -> None:
    """Small files, and one that is bypassed."""
    for name, label in (("svhn", "opens of small files"), ("128MiB", "opens of a large file")):
        count = len(site.sets[name].sizes)
        command = [PROGRAM, "opens", site.mount.root / name, count]
        while site.run([*command, 1.0])["done"] < count:  # the first open of a file asks Alluxio
            pass
        seen = site.run([*command, site.scale.seconds])
        site.keep(label, seen["done"] / seen["seconds"], "files/s")
