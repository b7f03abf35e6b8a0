"""The loads of the libplfs paper: reads of 1 KiB to 1 MiB of files of 128 MiB to 2 GiB, by one thread and by four."""

from parts import LOAD, TRANSFERRED, Site

PROGRAM = LOAD.parent / "transfers"
TRANSFERS_KIB = (1, 4, 16, 64, 256, 1024)
THREADS = (1, 4)


def transfers(site: Site, name: str, label: str) -> None:
    """Nothing is in FUSE's page cache at first; what is read again may be."""
    data = site.sets[name]
    file = site.mount.root / name / "f0"
    for kib in TRANSFERS_KIB:
        for threads in THREADS:
            for how in ("once", "again"):
                if how == "once":
                    site.load("drop", file)
                elif site.mount.contender.reads == "direct":
                    continue
                way = "direct" if site.mount.contender.reads == "direct" else how
                place = [file, data.first_id, data.sizes[0], kib << 10, threads, site.scale.seconds, way]
                seen = site.run([PROGRAM, *place])
                first = "" if how == "once" else ", again"
                threads_are = "1 thread" if threads == 1 else f"{threads} threads"
                load = f"{label}, {kib} KiB, {threads_are}{first}"
                site.keep(load, seen["bytes"] / seen["seconds"] / 1e6, "MB/s")


def one_block(site: Site) -> None:
    for name in TRANSFERRED:
        if name == "128MiB" or site.scale.big_bytes >= 1 << 30:
            transfers(site, name, name.replace("MiB", " MiB").replace("GiB", " GiB"))


def blocks_of_64_mib(site: Site) -> None:
    transfers(site, "many-blocks", "blocks of 64 MiB")


def opens(site: Site) -> None:
    """Small files, and one that is bypassed."""
    for name, label in (("svhn", "opens of small files"), ("128MiB", "opens of a large file")):
        files = len(site.sets[name].sizes)
        command = [PROGRAM, "opens", site.mount.root / name, files]
        site.run([*command, 1.0])
        seen = site.run([*command, site.scale.seconds])
        site.keep(label, seen["done"] / seen["seconds"], "files/s")
