"""What is measured: each part is a group of loads on a mount that begins with the part's own data untouched."""

import json
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from contenders import Mount
from delays import Delays
from footprints import Watch

LOAD = Path(__file__).resolve().parent / "target" / "load"
LOAD_LIMIT_S = 1200
SHAPE_FILES = 16
TRIPS_MS = (0, 1, 5, 20)
WARM, WARM_MORE = "warm", 5  # before them, the same without delay, of more files
FAR_NAMES = 1000
TRANSFERRED = {"128MiB": 128, "512MiB": 512, "2GiB": 2048}  # files of one block


@dataclass(frozen=True)
class Dataset:
    """Files f0, f1, ...: their sizes, and the id of the first, from which the content follows."""

    name: str
    first_id: int
    sizes: tuple[int, ...]
    block_bytes: int
    persisted: bool = False  # in the under file system, and in no worker
    bucket: bool = False  # the same, put there anew for each mount, in a folder of its own

    def arguments(self, root: Path, work: Path) -> list:
        return [root / self.name, self.first_id, work / f"{self.name}.sizes"]


@dataclass
class Scale:
    """How much of everything."""

    small_files: int = 3000
    large_files: int = 600
    big_bytes: int = 1 << 30
    listed_files: int = 100_000
    million_files: int = 1_000_000
    seconds: float = 3.0
    create_seconds: float = 6.0
    warm_seconds: int = 40
    figure_seconds: float = 1.0
    pictures: int = 640
    records: int = 1000
    epochs: int = 3
    shape_bytes: int = 64 << 20
    shape_seconds: int = 2
    trip_seconds: float = 1.0
    trip_files: int = 20
    trip_bytes: int = 64 << 20
    bucket_files: int = 1000

    @property
    def is_quick(self) -> bool:
        return self.big_bytes < 1 << 30

    @staticmethod
    def quick() -> "Scale":
        return Scale(
            1000, 200, 256 << 20, 10_000, 100_000, 1.0, 2.0, 10, 0.3, 160, 300, 2, 16 << 20, 1, 0.3, 5, 16 << 20, 200
        )


def spread_sizes(seed: int, count: int, mean: int) -> tuple[int, ...]:
    """Log-normal sizes, as of pictures, of that mean."""
    draw = random.Random(seed)
    return tuple(max(100, int(mean * draw.lognormvariate(-0.125, 0.5))) for _ in range(count))


def far_sets(scale: Scale) -> Iterator[Dataset]:
    """For each round trip small files and names that nobody has seen, and for all of them a long file."""
    for at, which in enumerate((WARM, *TRIPS_MS)):
        small = (19_000,) * (scale.trip_files * (WARM_MORE if which == WARM else 1))
        yield Dataset(f"small-{which}", 7_000_000 + 1000 * at, small, 16 << 20)
        yield Dataset(f"ufs-small-{which}", 7_100_000 + 1000 * at, small, 16 << 20, True)
        yield Dataset(f"names-{which}", 7_200_000 + FAR_NAMES * at, (3,) * FAR_NAMES, 16 << 20, True)
    yield Dataset("long", 7_300_000, (scale.trip_bytes,), 64 << 20)
    yield Dataset("ufs-long", 7_300_001, (scale.trip_bytes,), 16 << 20, True)


def datasets(scale: Scale) -> dict[str, Dataset]:
    small = 16 << 20
    every = [
        Dataset("svhn", 1_000_000, spread_sizes(1, scale.small_files, 19_000), small),
        Dataset("coco", 2_000_000, spread_sizes(2, scale.large_files, 160_000), small),
        Dataset("one-block", 3_000_000, (scale.big_bytes,), 2 << 30),
        Dataset("many-blocks", 3_000_000, (scale.big_bytes,), 64 << 20),
        *(
            Dataset(name, 6_000_000, ((128 if scale.is_quick else mib) << 20,), 4 << 30)
            for name, mib in TRANSFERRED.items()
        ),
        Dataset("shapes", 4_000_000, (scale.shape_bytes,) * SHAPE_FILES, 64 << 20),
        *far_sets(scale),
        Dataset("bucket", 8_000_000, spread_sizes(3, scale.bucket_files, 19_000), small, bucket=True),
    ]
    return {each.name: each for each in every}


def mb_per_s(seen: dict) -> float:
    return seen["bytes"] / seen["seconds"] / 1e6


@dataclass
class Site:
    """Where a part runs: a mount, the data sets, and what is filled in while it runs."""

    mount: Mount
    sets: dict[str, Dataset]
    work: Path
    scale: Scale
    round: int
    delays: Delays | None = None
    servers_cpu: Callable[[], float] = lambda: 0.0  # seconds that Alluxio's servers have used so far
    results: dict[str, dict] = field(default_factory=dict)
    device: str = ""
    accelerator: str = ""
    watch: Watch | None = None  # of the program that ran last

    def bucket(self, data: str) -> Path:
        """Where the files of a set are that is put there for this mount alone."""
        return Path(f"/{data}-{self.mount.contender.name}-{self.round}")

    def only_file(self, data: Dataset) -> list:
        """Path, id and length of the file of a set that has one."""
        return [self.mount.root / data.name / "f0", data.first_id, data.sizes[0]]

    def load(self, *arguments) -> dict:
        """Runs the load; a wrong byte or a failed call ends the benchmark."""
        return self.run([LOAD, *arguments])

    def watched(self) -> Watch:
        """To be entered while a program uses the mount: `keep` then tells what the server was made of meanwhile."""
        self.watch = Watch(self.mount.footprint)
        return self.watch

    def footprint(self) -> dict:
        """The most threads and resident MB while the program ran that ran last; without one, and if more, now."""
        now = self.mount.footprint()
        most = self.watch.most if self.watch else {}
        return {name: max(value, most.get(name, value)) for name, value in now.items()}

    def run(self, words: list, own_session: bool = False) -> dict:
        """What a program of this mount's users says in its last line; in a session of its own it is as if in a pod."""
        command = list(map(str, words))
        with self.watched():
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=LOAD_LIMIT_S,
                check=False,
                start_new_session=own_session,
                env=self.mount.environment(),
            )
        if done.returncode != 0:
            who = self.mount.contender.name
            raise RuntimeError(f"{who}: {' '.join(command)} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}

    def keep(self, name: str, value: float, unit: str, **more: float) -> None:
        self.results[name] = {"value": value, "unit": unit, **self.footprint(), **more}

    def files(self, name: str, *arguments) -> None:
        seen = self.load(*arguments)
        self.keep(name, seen["done"] / seen["seconds"], "files/s")

    def bytes(self, name: str, *arguments) -> None:
        self.keep(name, mb_per_s(self.load(*arguments)), "MB/s")

    def cpu(self) -> tuple[float, float]:
        """Seconds that the mount's server, and Alluxio's, have used so far."""
        return self.mount.cpu_seconds(), self.servers_cpu()

    def keep_cpu(self, name: str, began: tuple[float, float], count: float, what: str) -> None:
        """What each has used since then for one of `count`."""
        if not self.mount.process:
            return
        for who, before, after in zip(("the mount's server", "Alluxio's servers"), began, self.cpu(), strict=True):
            self.keep(f"{name}: CPU time a {what} of {who}", (after - before) * 1000 / count, "ms")


def small_files(site: Site, name: str, readers: tuple[int, ...]) -> None:
    place = site.sets[name].arguments(site.mount.root, site.work)
    seconds = site.scale.seconds
    site.files(f"{name}, first epoch, 1 reader", "epochs", *place, 1, 1, 0)
    site.load("epochs", *place, 8, 2, seconds)
    for count in readers:
        site.files(f"{name}, later epochs, {count} readers", "epochs", *place, count, 1, seconds)
    site.load("check", *place, 4)


def svhn(site: Site) -> None:
    small_files(site, "svhn", (1, 8, 64))


def coco(site: Site) -> None:
    small_files(site, "coco", (1, 8, 64))


def first_read(site: Site, name: str, place: list) -> None:
    """Twice, and the second counts: a virtual machine gets memory it has not used lately from its host, slowly."""
    for count in (1, 4):
        row = f"{name}, first read, {count} readers"
        for _ in range(2):
            site.load("drop", place[0])
            before = site.cpu()
            site.bytes(row, "sequential", *place, count)
        if site.mount.way.remote and count == 1:
            site.keep_cpu(row, before, place[2] / (1 << 30), "GiB")


def read_again(site: Site, name: str, place: list) -> None:
    for count in (1, 4):
        site.bytes(f"{name}, read again, {count} readers", "sequential", *place, count)


def big(site: Site) -> None:
    for name in ("one-block", "many-blocks"):
        data = site.sets[name]
        place = site.only_file(data)
        first_read(site, name, place)
        read_again(site, name, place)
        for count in (1, 4):
            seen = site.load("random", *place, count, site.scale.seconds)
            site.keep(f"{name}, random 4 KiB, {count} readers", seen["done"] / seen["seconds"], "reads/s")
        site.load("check", *data.arguments(site.mount.root, site.work), 1)


def create(site: Site) -> None:
    created(site, "create 19 KB, 8 writers")


def created(site: Site, name: str) -> None:
    """As later epochs: of a mount that has done it before."""
    for files in ("warm", "new"):
        folder = site.mount.root / f"{files}-{site.mount.contender.name}-{site.round}-{time.time_ns()}"
        os.mkdir(folder)
        before = site.cpu()
        seen = site.load("create", folder, 5_000_000, 19_000, 8, site.scale.create_seconds, 20_000)
    site.keep(name, seen["done"] / seen["seconds"], "files/s")
    site.keep_cpu(name, before, seen["done"], "file")
    check_created(site, folder, 5_000_000, seen["done"])


def check_created(site: Site, folder: Path, first_id: int, count: int) -> None:
    """Every byte of the files of 19 KB that were made here."""
    sizes = site.work / "created.sizes"
    sizes.write_text("19000\n" * count)
    site.load("check", folder, first_id, sizes, 4)


def timed(command: list[str]) -> tuple[float, int]:
    """Seconds, and lines of output."""
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, check=True, timeout=LOAD_LIMIT_S, env={"LC_ALL": "C"})
    return time.monotonic() - began, done.stdout.count(b"\n")


def metadata(site: Site) -> None:
    """`ls -l`, `find` and stats of a folder of many files that nobody has listed on this mount."""
    folder = site.mount.root / "listed"
    count = site.scale.listed_files
    for name, command, lines in (
        ("ls -l, first", ["/bin/ls", "-l", str(folder)], count + 1),
        ("ls -l, again", ["/bin/ls", "-l", str(folder)], count + 1),
        ("find -type f", ["/usr/bin/find", str(folder), "-type", "f"], count),
    ):
        seconds, seen = timed(command)
        if seen != lines:
            raise RuntimeError(f"{site.mount.contender.name}: {name} shows {seen} lines, not {lines}")
        site.keep(name, count / seconds, "files/s")
    site.files("stat, 8 threads", "stat", folder, 0, site.work / "listed.sizes", 8)


def first_name(folder: Path) -> float:
    """Seconds until the first name of a listing is there."""
    began = time.monotonic()
    with os.scandir(folder) as entries:
        next(entries)
    return time.monotonic() - began


def million(site: Site) -> None:
    """A folder of a million files (100,000 with --quick): when its listing begins, how long it takes, what it costs."""
    folder = site.mount.root / "million"
    count = site.scale.million_files
    site.keep("million: first name of the listing", first_name(folder) * 1000, "ms")
    for name, command in (
        ("million: find", ["/usr/bin/find", str(folder), "-type", "f"]),
        ("million: ls -l", ["/bin/ls", "-l", str(folder)]),
    ):
        seconds, seen = timed(command)
        if seen < count:
            raise RuntimeError(f"{site.mount.contender.name}: {name} shows {seen} lines for {count} files")
        site.keep(name, count / seconds, "files/s")


def remote(site: Site) -> None:
    """No short circuit: all data come from the worker over the network."""
    place = site.sets["svhn"].arguments(site.mount.root, site.work)
    site.files("remote: svhn, first epoch, 1 reader", "epochs", *place, 1, 1, 0)
    site.load("check", *place, 4)
    place = site.sets["coco"].arguments(site.mount.root, site.work)
    site.files("remote: coco, first epoch, 8 readers", "epochs", *place, 8, 1, 0)
    site.load("check", *place, 4)
    place = site.only_file(site.sets["many-blocks"])
    first_read(site, "remote: many-blocks", place)
    read_again(site, "remote: many-blocks", place)
