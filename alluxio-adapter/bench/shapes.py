"""The shapes of JuiceFS's read tests, as fio jobs (shapes/*.fio): sequential, random, FUSE alone."""

import json
import os
import resource
import subprocess
import time
from pathlib import Path

from contenders import NULL_BYTES
from parts import LOAD_LIMIT_S, Site

LOAD = "fio, the kernel's pages included"
JOBS = Path(__file__).resolve().parent / "shapes"
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def fio(site: Site, job: str, **settings) -> dict:
    """Runs a job; what fio says of its reads, what it used itself, and what the server used and received."""
    environment = {**os.environ, **{name.upper(): str(value) for name, value in settings.items()}}
    command = ["fio", "--output-format=json", str(JOBS / f"{job}.fio")]
    used, received, began = site.mount.cpu_seconds(), site.mount.received_bytes(), time.monotonic()
    load_used = loads_cpu()
    with site.watched():
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=LOAD_LIMIT_S, check=False, cwd=site.work
        )
    took = time.monotonic() - began
    load_used = loads_cpu() - load_used
    if done.returncode != 0:
        raise RuntimeError(f"{site.mount.contender.name}: {job} {settings}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
    reads = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]
    return {
        "load_cpu_s": load_used,
        "mb_per_s": reads["bw_bytes"] / 1e6,
        "per_s": reads["iops"],
        "p50_us": reads["clat_ns"]["percentile"]["50.000000"] / 1e3,
        "p99_us": reads["clat_ns"]["percentile"]["99.000000"] / 1e3,
        "server_cpus": (site.mount.cpu_seconds() - used) / took,
        "fetched_per_byte": (site.mount.received_bytes() - received) / max(1, reads["io_bytes"]),
    }


def loads_cpu() -> float:
    """Seconds that the loads so far have used, in user space and in the kernel."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def keep(site: Site, name: str, seen: dict, unit: str = "MB/s") -> None:
    value = seen["mb_per_s"] if unit == "MB/s" else seen["per_s"]
    more = {key: round(seen[key], 3) for key in ("p50_us", "p99_us", "server_cpus", "fetched_per_byte")}
    site.keep(name, value, unit, **more)


def checked(site: Site) -> None:
    """fio does not know what it should have read: every byte is compared after the loads."""
    site.load("check", *site.sets["shapes"].arguments(site.mount.root, site.work), 4)


def sequential(site: Site) -> None:
    """By size of the reads and by readers, each of a file of its own; nothing is in the page cache."""
    data = site.sets["shapes"]
    place = {"folder": site.mount.root / data.name, "bytes": data.sizes[0], "direct": 0}
    for block, jobs in ((128 * KIB, 1), (1 * MIB, 1), (4 * MIB, 1), (1 * MIB, 4), (1 * MIB, 16)):
        name = f"sequential, reads of {block // KIB} KiB, {jobs} readers"
        before = site.cpu()
        seen = fio(site, "sequential", **place, block=block, jobs=jobs)
        keep(site, name, seen)
    gib = jobs * data.sizes[0] / GIB
    site.keep_cpu(name, before, gib, "GiB")
    site.keep(f"{name}: CPU time a GiB of {LOAD}", seen["load_cpu_s"] * 1000 / gib, "ms")
    checked(site)


def mapped(site: Site) -> None:
    """A file is mapped, and read from its beginning to its end: with nothing of it in the page cache, and once more."""
    if "direct_io" in site.mount.contender.options.split(","):
        return  # the kernel maps no file of such a mount
    for name in ("one-block", "many-blocks"):
        data = site.sets[name]
        place = site.only_file(data)
        settings = {"file": place[0], "bytes": data.sizes[0]}
        for _ in range(2):  # as first_read of parts.py
            site.load("drop", place[0])
            keep(site, f"{name}, first read of a mapping", fio(site, "mapped", **settings))
        keep(site, f"{name}, a mapping read again", fio(site, "mapped", **settings))


def all_files(site: Site) -> dict:
    data = site.sets["shapes"]
    files = ":".join(f"f{number}" for number in range(len(data.sizes)))
    place = {"folder": site.mount.root / data.name, "files": files, "bytes": sum(data.sizes)}
    return {**place, "seconds": site.scale.shape_seconds}


def random_small(site: Site) -> None:
    """4 KiB: buffered and direct, one after the other, many at a time, by several readers."""
    place = {**all_files(site), "block": 4 * KIB, "timed": 1, "most": 1 << 40}
    for name, direct, engine, depth, jobs in (
        ("buffered, 1 reader", 0, "psync", 1, 1),
        ("direct, 1 reader", 1, "psync", 1, 1),
        ("direct, 1 reader, 16 at a time", 1, "libaio", 16, 1),
        ("direct, 8 readers", 1, "psync", 1, 8),
    ):
        seen = fio(site, "random", **place, direct=direct, engine=engine, depth=depth, jobs=jobs)
        keep(site, f"random 4 KiB, {name}", seen, "reads/s")
    checked(site)


def random_large(site: Site) -> None:
    """4 KiB to 4 MiB of a part of the files: with what the server fetched for each byte that was read."""
    most = sum(site.sets["shapes"].sizes) // 8
    one = {**all_files(site), "engine": "psync", "depth": 1, "jobs": 1}
    place = {**one, "timed": 0, "most": most}
    for name, direct in (("buffered", 0), ("direct", 1)):
        seen = fio(site, "random", **one, timed=1, most=1 << 40, direct=direct, block=4 * KIB)
        keep(site, f"random 4 KiB, {name}, not on this host", seen, "reads/s")
        for block in (64 * KIB, MIB, 2 * MIB, 4 * MIB):
            seen = fio(site, "random", **place, direct=direct, block=block)
            keep(site, f"random {block // KIB} KiB, {name}", seen)
    checked(site)


def bandwidth(site: Site) -> None:
    """FUSE alone: the null file system answers from memory."""
    place = {"folder": site.mount.root, "bytes": NULL_BYTES, "block": MIB, "seconds": site.scale.shape_seconds}
    for jobs in (1, 2, 3, 4, 6, 8):
        keep(site, f"bandwidth, {jobs} threads", fio(site, "bandwidth", **place, jobs=jobs))
