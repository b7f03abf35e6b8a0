"""Which parts and which contenders are measured together, and what each part reads."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bypass_parts import blocks_of_64_mib, one_block, opens
from contenders import Contender
from latency_parts import far_worker, near_worker
from master_parts import master
from paper_parts import figure15, imagenet, parallel
from parts import TRANSFERRED, TRIPS_MS, WARM, Site, big, coco, create, metadata, million, remote, svhn
from s3_parts import s3_create, s3_read, s3_replace
from scaling_parts import entries, far_readers, open_files, readers, tables
from shapes import bandwidth, mapped, random_large, random_small, sequential
from volumes_parts import known, volumes

FIO, TORCH = ("fio",), ("torch",)
MANY = ("alluxiofuse-many", "gateway-many")  # with room for more names than a million
SIZED = ("sized-here", "sized-128")
NO_OPEN = "gateway-no-open"  # a mount of datasets: of use where files are read again
READ_ONLY = "gateway-read-only"  # the kernel may read block files by itself
FOR_SOME = (*MANY, *SIZED, NO_OPEN, READ_ONLY)  # who take only what names them


@dataclass(frozen=True)
class Part:
    """`reads`: the data sets; `far`: short circuit is off; `alone`: the null file system's, and nobody else's;
    `by`: only these contenders'; `also`: theirs too, who are FOR_SOME; `uses`: of versions.py."""

    run: Callable[[Site], None]
    reads: tuple[str, ...] = ()
    far: bool = False
    alone: bool = False
    by: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.run.__name__

    def takes(self, contender: Contender) -> bool:
        if self.by or contender.name in FOR_SOME:
            return contender.name in self.by + self.also
        if contender.kind == "null":
            return self.alone
        if contender.kind == "floor":
            return self.name in ("svhn", "coco", "big")
        return not self.alone and not (self.far and contender.kind == "tmpfs")


def trips(*kinds: str) -> Iterator[str]:
    """The data sets of each round trip."""
    return (f"{kind}-{which}" for kind in kinds for which in (WARM, *TRIPS_MS))


PARTS = {
    part.name: part
    for part in (
        Part(svhn, ("svhn",), also=(NO_OPEN, READ_ONLY)),
        Part(coco, ("coco",), also=(NO_OPEN, READ_ONLY)),
        Part(big, ("one-block", "many-blocks"), also=(READ_ONLY,)),
        Part(mapped, ("one-block", "many-blocks"), also=(READ_ONLY,), uses=FIO),
        Part(create),
        Part(metadata, ("listed",), also=(NO_OPEN,)),
        Part(remote, ("svhn", "coco", "many-blocks"), far=True),
        Part(million, ("million",)),
        Part(figure15, ("svhn", "coco"), also=(NO_OPEN,)),
        Part(imagenet, ("pictures",), also=(NO_OPEN,), uses=TORCH),
        Part(parallel, ("records",), also=(NO_OPEN,), uses=TORCH),
        Part(sequential, ("shapes",), far=True, uses=FIO),
        Part(random_small, ("shapes",), uses=FIO),
        Part(random_large, ("shapes",), far=True, uses=FIO),
        Part(bandwidth, alone=True, uses=FIO),
        Part(one_block, tuple(TRANSFERRED)),
        Part(blocks_of_64_mib, ("many-blocks",)),
        Part(opens, ("svhn", "128MiB")),
        Part(entries, ("listed", "million"), by=MANY),
        Part(tables, by=("gateway",)),
        Part(open_files, ("svhn",)),
        Part(readers, ("svhn",), also=SIZED),
        Part(far_readers, ("svhn",), far=True),
        Part(volumes, ("svhn",), by=("gateway",)),
        Part(known, ("listed",), by=("gateway",)),
        Part(master, ("svhn", "listed"), by=("gateway",)),
        Part(near_worker, ("long", *trips("small", "names"))),
        Part(far_worker, ("long", "ufs-long", *trips("small", "ufs-small")), far=True),
        Part(s3_create),
        Part(s3_replace),
        Part(s3_read, ("bucket",)),
    )
}
PAPER = [
    "tmpfs",
    "alluxio-jnr",
    "alluxiofuse",
    "alluxiofuse-tuned",
    "gateway-uring",
    "gateway-devfuse",
    "gateway-libfuse",
    NO_OPEN,
]
USUAL = [
    "tmpfs",
    "floor-uring",
    "floor-devfuse",
    "alluxiofuse",
    "alluxiofuse-tuned",
    "gateway",
    "gateway-devfuse",
    READ_ONLY,
    NO_OPEN,
]
AHEAD = ["gateway", "gateway-ahead-1m", "gateway-ahead-64m", "gateway-no-prefetch"]
BYPASS = [
    "tmpfs",
    *(f"{way}-{transport}" for transport in ("devfuse", "libfuse") for way in ("cached", "direct", "bypass")),
]
NULLS = ["null-uring", "null-devfuse", "null-libfuse"]


@dataclass(frozen=True)
class Group:
    """One result file: what is in it when nothing else is asked for, and how often it is measured."""

    title: str
    parts: list[str]
    contenders: list[str]
    rounds: int
    minutes_a_round: float  # on two CPUs, until a run knows better
    workers: int = 1
    under_store: str = "LOCAL"  # or S3: a bucket, and files are written through to it
    delayed: bool = False  # a program is on the way to each of Alluxio's servers
    pages: str = ""  # as huge=within_size: files and blocks lie on a tmpfs of their own, mounted so

    def __post_init__(self) -> None:
        assert set(self.parts) <= set(PARTS)


GROUPS = {
    "alluxio": Group(
        "the gateway, AlluxioFuse and tmpfs",
        ["svhn", "coco", "big", "mapped", "create", "metadata", "remote"],
        USUAL,
        5,
        10,
    ),
    "workers": Group(
        "the same with two workers",
        ["svhn", "coco", "remote"],
        ["tmpfs", "alluxiofuse", "alluxiofuse-tuned", "gateway"],
        3,
        5,
        workers=2,
    ),
    "figure15": Group("reading by 1 to 64 threads", ["figure15"], [*PAPER, "alluxiofuse-default"], 3, 5),
    "train": Group("training", ["imagenet", "parallel"], PAPER, 3, 4),
    "shapes": Group(
        "the shapes of JuiceFS's tests",
        ["sequential", "random_small", "random_large", "bandwidth"],
        ["tmpfs", "alluxiofuse", *AHEAD, *NULLS],
        3,
        4,
    ),
    "scaling": Group(
        "what grows with what",
        # `open_files` reads what `readers` are to be the first to read.
        ["entries", "tables", "readers", "open_files", "far_readers", "volumes", "known", "master", "million"],
        [*MANY, "alluxiofuse-tuned", "gateway", *SIZED],
        3,
        10,
    ),
    "s3": Group(
        "small files in a bucket",
        ["s3_create", "s3_replace", "s3_read"],
        ["alluxiofuse", "alluxiofuse-tuned", "gateway"],
        3,
        2,
        under_store="S3",
    ),
    "latency": Group(
        "what a round trip costs", ["near_worker", "far_worker"], ["alluxiofuse-tuned", "gateway"], 3, 2, delayed=True
    ),
    "bypass": Group(
        "reading without FUSE",
        ["one_block", "blocks_of_64_mib", "opens", "svhn", "parallel"],
        BYPASS,
        3,
        30,
        pages="huge=within_size",
    ),
}


def visits(parts: list[str], contender: Contender) -> Iterator[tuple[bool, list[str]]]:
    """Parts that share a mount of this contender: (short circuit off?, parts)."""
    for far in (False, True):
        some = [name for name in parts if PARTS[name].far == far and PARTS[name].takes(contender)]
        if some:
            yield far, some
