"""Which parts and which contenders are measured together, and what each part reads."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bypass_parts import blocks_of_64_mib, one_block, opens
from contenders import Contender
from paper_parts import figure15, imagenet, parallel
from parts import TRANSFERRED, Site, big, coco, create, metadata, million, remote, svhn
from shapes import bandwidth, random_large, random_small, sequential


@dataclass(frozen=True)
class Part:
    """`reads`: the data sets; `far`: short circuit is off; `alone`: the null file system's, and nobody else's."""

    run: Callable[[Site], None]
    reads: tuple[str, ...] = ()
    far: bool = False
    alone: bool = False

    @property
    def name(self) -> str:
        return self.run.__name__

    def takes(self, contender: Contender) -> bool:
        if contender.kind == "null":
            return self.alone
        return not self.alone and not (self.far and contender.kind == "tmpfs")


PARTS = {
    part.name: part
    for part in (
        Part(svhn, ("svhn",)),
        Part(coco, ("coco",)),
        Part(big, ("one-block", "many-blocks")),
        Part(create),
        Part(metadata, ("listed",)),
        Part(remote, ("svhn", "coco", "many-blocks"), far=True),
        Part(million, ("million",)),
        Part(figure15, ("svhn", "coco")),
        Part(imagenet, ("pictures",)),
        Part(parallel, ("records",)),
        Part(sequential, ("shapes",), far=True),
        Part(random_small, ("shapes",)),
        Part(random_large, ("shapes",), far=True),
        Part(bandwidth, alone=True),
        Part(one_block, tuple(TRANSFERRED)),
        Part(blocks_of_64_mib, ("many-blocks",)),
        Part(opens, ("svhn", "128MiB")),
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
]
USUAL = ["tmpfs", "alluxiofuse", "alluxiofuse-tuned", "gateway"]
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

    def __post_init__(self) -> None:
        assert set(self.parts) <= set(PARTS)


GROUPS = {
    "alluxio": Group(
        "the gateway, AlluxioFuse and tmpfs", ["svhn", "coco", "big", "create", "metadata", "remote"], USUAL, 5, 9
    ),
    "figure15": Group("reading by 1 to 64 threads", ["figure15"], PAPER, 3, 4),
    "train": Group("training", ["imagenet", "parallel"], PAPER, 3, 4),
    "shapes": Group(
        "the shapes of JuiceFS's tests",
        ["sequential", "random_small", "random_large", "bandwidth"],
        ["tmpfs", "alluxiofuse", *AHEAD, *NULLS],
        3,
        4,
    ),
    "bypass": Group(
        "reading without FUSE", ["one_block", "blocks_of_64_mib", "opens", "svhn", "parallel"], BYPASS, 3, 60
    ),
}


def visits(parts: list[str], contender: Contender) -> Iterator[tuple[bool, list[str]]]:
    """Parts that share a mount of this contender: (short circuit off?, parts)."""
    for far in (False, True):
        some = [name for name in parts if PARTS[name].far == far and PARTS[name].takes(contender)]
        if some:
            yield far, some
