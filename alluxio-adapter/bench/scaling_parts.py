"""What grows with what: heap by cached names and by open files, threads and memory by readers."""

import os
import re
import resource
import subprocess

from contenders import java_of_tests
from parts import Site

NAMES = (1_000, 10_000, 100_000, 1_000_000, 5_000_000)
QUICK_NAMES = (1_000, 100_000)
TABLES_HEAP = "3g"
OPEN_FILES = (1_000, 10_000)
READERS = (1, 8, 32, 128)
MANY_READERS = 64


def live_heap_bytes(site: Site) -> int:
    """Of a server in Java; 0 for tmpfs."""
    return live_heap_of(site.mount.process.pid) if site.mount.process else 0


def live_heap_of(pid: int) -> int:
    """Bytes, after a collection."""
    command = ["jcmd", str(pid)]
    subprocess.run([*command, "GC.run"], check=True, capture_output=True)
    said = subprocess.run([*command, "GC.heap_info"], check=True, capture_output=True, text=True).stdout
    return int(re.search(r"used (\d+)K", said)[1]) << 10


def entries(site: Site) -> None:
    """Names that are listed with their attributes, and kept."""
    for name, count in (("listed", site.scale.listed_files), ("million", site.scale.million_files)):
        before = live_heap_bytes(site)
        subprocess.run(["/bin/ls", "-l", str(site.mount.root / name)], check=True, stdout=subprocess.DEVNULL)
        each = (live_heap_bytes(site) - before) / count
        site.keep(f"heap of each of {count:,} names", max(0, each), "bytes")


def tables(site: Site) -> None:
    """The tables of a mount alone, in a JVM like its own, with made-up names: more than a master has room for here."""
    counts = QUICK_NAMES if site.scale.is_quick else NAMES
    seen = site.run(java_of_tests(TABLES_HEAP, "meta.CachedNames", *counts))
    for count in counts:
        site.keep(f"tables alone: heap of each of {count:,} names", seen[str(count)], "bytes")


def open_files(site: Site) -> None:
    """Files that are open at the same time, for reading."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(OPEN_FILES) + 1000,) * 2)
    folder, files = site.mount.root / "svhn", len(site.sets["svhn"].sizes)
    site.load("check", *site.sets["svhn"].arguments(site.mount.root, site.work), 4)
    for count in OPEN_FILES:
        before = live_heap_bytes(site)
        descriptors = [os.open(folder / f"f{index % files}", os.O_RDONLY) for index in range(count)]
        try:
            each = (live_heap_bytes(site) - before) / count
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        site.keep(f"heap of each of {count:,} open files", max(0, each), "bytes")


def keep_footprint(site: Site, who: str) -> None:
    """What the server was made of, at most, while they read."""
    seen = site.footprint()
    if seen:
        site.keep(f"threads with {who}", seen["threads"], "threads")
        site.keep(f"resident memory with {who}", seen["rss_mb"], "MB")


def readers(site: Site) -> None:
    """Small files, first from the worker, then in the kernel's pages, by more and more readers: how many, by what."""
    place = site.sets["svhn"].arguments(site.mount.root, site.work)
    site.files(f"small files, first epoch, {MANY_READERS} readers", "epochs", *place, MANY_READERS, 1, 0)
    keep_footprint(site, f"{MANY_READERS} readers, first epoch")
    site.load("epochs", *place, 8, 2, site.scale.seconds)
    for count in READERS:
        site.files(f"small files by {count} readers", "epochs", *place, count, 1, site.scale.figure_seconds)
        keep_footprint(site, f"{count} readers")


def far_readers(site: Site) -> None:
    """Small files that come from the worker over the network: how many, and by what."""
    place = site.sets["svhn"].arguments(site.mount.root, site.work)
    site.files(f"remote: small files, first epoch, {MANY_READERS} readers", "epochs", *place, MANY_READERS, 1, 0)
    keep_footprint(site, f"{MANY_READERS} readers, remote, first epoch")
    site.load("check", *place, 4)
