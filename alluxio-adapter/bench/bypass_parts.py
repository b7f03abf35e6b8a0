"""The loads of the libplfs paper: reads of 1 KiB to 1 MiB of files of 128 MiB to 2 GiB, by one thread and by four."""

from parts import LOAD, TRANSFERRED, Dataset, Site

PROGRAM = LOAD.parent / "transfers"
TRANSFERS_KIB = (1, 4, 16, 64, 256, 1024)
QUICK_KIB = (1, 64, 1024)
THREADS = (1, 4)
MOST_PASSES = 40


def whole(site: Site) -> bool:
    return site.scale.big_bytes >= 1 << 30


def read_once(site: Site, file: str, place: list, how: str) -> float:
    """MB/s of passes from the beginning to the end, each with nothing of the file in FUSE's page cache."""
    read, seconds = 0, 0.0
    for _ in range(MOST_PASSES):
        site.load("drop", file)
        seen = site.run([PROGRAM, *place, how])
        read, seconds = read + seen["bytes"], seconds + seen["seconds"]
        if seconds >= site.scale.seconds / 2:
            break
    return read / seconds / 1e6


def read_again(site: Site, place: list) -> float:
    seen = site.run([PROGRAM, *place, "again"])
    return seen["bytes"] / seen["seconds"] / 1e6


def transfers(site: Site, data: Dataset, label: str) -> None:
    file = site.mount.root / data.name / "f0"
    direct = site.mount.contender.reads == "direct"
    for kib in TRANSFERS_KIB if whole(site) else QUICK_KIB:
        for threads in THREADS:
            place = [file, data.first_id, data.sizes[0], kib << 10, threads, site.scale.seconds]
            load = f"{label}, {kib} KiB, {threads} thread{'s' if threads > 1 else ''}"
            site.keep(load, read_once(site, file, place, "direct" if direct else "once"), "MB/s")
            if not direct:
                site.keep(f"{load}, again", read_again(site, place), "MB/s")


def one_block(site: Site) -> None:
    for name in TRANSFERRED if whole(site) else ["128MiB"]:
        transfers(site, site.sets[name], name.replace("MiB", " MiB").replace("GiB", " GiB"))


def blocks_of_64_mib(site: Site) -> None:
    transfers(site, site.sets["many-blocks"], "blocks of 64 MiB")


def opens(site: Site) -> None:
    """Small files, and one that is bypassed."""
    for name, label in (("svhn", "opens of small files"), ("128MiB", "opens of a large file")):
        command = [PROGRAM, "opens", site.mount.root / name, len(site.sets[name].sizes)]
        site.run([*command, 1.0])
        seen = site.run([*command, site.scale.seconds])
        site.keep(label, seen["done"] / seen["seconds"], "files/s")
