"""The loads of the JNI-FUSE paper's end-to-end figures: reading by 1 to 64 threads (15), training (16, 17)."""

import importlib.util
import sys
from pathlib import Path

from parts import Site

TRAIN = Path(__file__).resolve().parent / "train"
DEBIANS_PYTHON = "/usr/bin/python3"  # with python3-torch
PYTHON = sys.executable if importlib.util.find_spec("torch") else DEBIANS_PYTHON
READERS = (1, 2, 4, 8, 16, 32, 64)


def figure15(site: Site) -> None:
    """All metadata are in the caches that the server has, as in the paper."""
    for name in ("svhn", "coco"):
        place = site.sets[name].arguments(site.mount.root, site.work)
        site.load("epochs", *place, 8, 1, site.scale.figure_seconds)
        for count in READERS:
            site.files(f"{name}, {count} readers", "epochs", *place, count, 0, site.scale.figure_seconds)


def trained(site: Site, script: str, data: str, *more: int) -> list[dict]:
    """The epochs of one run, in a session of its own as a pod's; a wrong byte ends it."""
    place = [site.mount.root / data, site.work / f"{data}.json", site.scale.epochs]
    said = site.run([PYTHON, "-W", "ignore", TRAIN / script, *place, *more], own_session=True)
    site.device, site.accelerator = said["device"], said["accelerator"]
    return said["epochs"]


def keep_epochs(site: Site, name: str, epochs: list[dict]) -> None:
    for which, some in (("first epoch", epochs[:1]), ("later epochs", epochs[1:])):
        total = {key: sum(each[key] for each in some) for key in ("pictures", "steps", "seconds", "waited")}
        site.keep(f"{name}, {which}: speed", total["pictures"] / total["seconds"], "pictures/s")
        site.keep(f"{name}, {which}: step", total["seconds"] / total["steps"] * 1e3, "ms")
        site.keep(f"{name}, {which}: wait for data in a step", total["waited"] / total["steps"] * 1e3, "ms")
        site.keep(f"{name}, {which}: share of the wait", total["waited"] / total["seconds"] * 100, "%")


def imagenet(site: Site) -> None:
    keep_epochs(site, "pictures", trained(site, "imagenet.py", "pictures"))


def parallel(site: Site) -> None:
    for threads in (8, 32):
        keep_epochs(site, f"2 processes, {threads} threads", trained(site, "parallel.py", "records", threads))
