"""What a round trip to Alluxio costs, by the way that bytes and names come: with the worker on this host, and far away.

Near, only the master is a round trip away; far, the worker is too, and short circuit is off. Files of the under file
system are not kept by the worker (NO_CACHE), so that it reads them there each time.
"""

import random
import time
from collections.abc import Callable

from bypass_parts import PROGRAM
from parts import FAR_NAMES, TRIPS_MS, WARM, Site, mb_per_s, timed

PIECE_BYTES, BUFFER_BYTES = 64 << 10, 128 << 10
NOT_TRUSTED_S = 1.5  # more than open_trust

Figures = dict[str, tuple[float, str]]


def each(site: Site, data: str) -> float:
    """Seconds that one reader takes for a file of the set, open to close."""
    seen = site.load("epochs", *site.sets[data].arguments(site.mount.root, site.work), 1, 1, 0)
    return seen["seconds"] / seen["done"]


def sequential(site: Site, data: str) -> float:
    """MB/s of one reader, to the end of the file or as long as there is time; nothing is in the page cache."""
    place = site.only_file(site.sets[data])
    site.load("drop", place[0])
    return mb_per_s(site.run([PROGRAM, *place, BUFFER_BYTES, 1, site.scale.trip_seconds, "once"]))


def in_pieces(site: Site, data: str) -> float:
    """Seconds that a read of 64 KiB takes, at places in a mixed order."""
    place = site.only_file(site.sets[data])
    site.load("drop", place[0])
    seen = site.load("pieces", *place, PIECE_BYTES, site.scale.trip_seconds)
    return seen["seconds"] / seen["done"]


def listed(site: Site, data: str) -> float:
    """Seconds of `ls -l`."""
    seconds, lines = timed(["/bin/ls", "-l", str(site.mount.root / data)])
    if lines != FAR_NAMES + 1:
        raise RuntimeError(f"{site.mount.contender.name}: {data} shows {lines} lines, not {FAR_NAMES + 1}")
    return seconds


def stat_each(site: Site, data: str) -> float:
    seen = site.load("stat", site.mount.root / data, 0, site.work / f"{data}.sizes", 1)
    return seen["seconds"] / seen["done"]


def to_the_master(site: Site, which: object) -> Figures:
    """The worker is on this host."""
    seen = {"small file, first": (each(site, f"small-{which}") * 1e3, "ms")}
    seen["small file, again"] = (each(site, f"small-{which}") * 1e6, "µs")
    time.sleep(NOT_TRUSTED_S)
    seen["small file, again after 1.5 s"] = (each(site, f"small-{which}") * 1e3, "ms")
    seen["long file, first"] = (sequential(site, "long"), "MB/s")
    seen["long file, 64 KiB at random"] = (in_pieces(site, "long") * 1e3, "ms")
    seen[f"ls -l of {FAR_NAMES:,} names, first"] = (listed(site, f"names-{which}") * 1e3, "ms")
    seen["stat of a listed name"] = (stat_each(site, f"names-{which}") * 1e6, "µs")
    return seen


def to_both(site: Site, which: object) -> Figures:
    seen = {"small file, first": (each(site, f"small-{which}") * 1e3, "ms")}
    seen["small file, again"] = (each(site, f"small-{which}") * 1e6, "µs")
    seen["long file, first"] = (sequential(site, "long"), "MB/s")
    seen["long file, 64 KiB at random"] = (in_pieces(site, "long") * 1e3, "ms")
    seen["under file system: small file, first"] = (each(site, f"ufs-small-{which}") * 1e3, "ms")
    seen["under file system: long file, first"] = (sequential(site, "ufs-long"), "MB/s")
    return seen


def by_round_trip(site: Site, where: str, seen_at: Callable[[Site, object], Figures]) -> None:
    """First with no delay, so that what is kept meets compiled code; then in an order drawn anew."""
    trips = random.Random(site.round).sample(TRIPS_MS, len(TRIPS_MS))
    found = {}
    try:
        for trip in (WARM, *trips):
            delay = 0 if trip == WARM else trip
            site.delays.set(delay, delay if where == "far" else 0)
            found[trip] = seen_at(site, trip)
    finally:
        site.delays.set(0, 0)
    for what in found[WARM]:
        for trip in TRIPS_MS:
            site.keep(f"{where}: {what}, {trip} ms", *found[trip][what])


def check(site: Site, names: list[str]) -> None:
    for name in names:
        site.load("check", *site.sets[name].arguments(site.mount.root, site.work), 4)


def near_worker(site: Site) -> None:
    by_round_trip(site, "near", to_the_master)
    check(site, ["long", *(f"small-{trip}" for trip in TRIPS_MS)])


def far_worker(site: Site) -> None:
    by_round_trip(site, "far", to_both)
    check(site, ["long", "ufs-long", *(f"{kind}-{trip}" for kind in ("small", "ufs-small") for trip in TRIPS_MS)])
