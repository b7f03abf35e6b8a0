"""What volumes cost a gateway that serves many of them, as on a node: sessions of a keeper, one process."""

import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contenders import BUILT, GATEWAY_JARS, HOST_CLASSES, ROOT, footprint_of
from parts import Site
from scaling_parts import live_heap_of

VOLUMES = (1, 10, 50, 100)
QUICK_VOLUMES = (1, 5)
KNOWING = (1, 10, 50)


class Gateway:
    """`serve` and its keeper, in a Java process that ends with this one (VolumesHost)."""

    def __init__(self, folder: Path, masters: str, file: str):
        self.said = folder / "said"
        self.process = subprocess.Popen(
            ["java", "-Xmx256m", "-cp", f"{HOST_CLASSES}:{GATEWAY_JARS}/*:{BUILT / 'lib'}/*"]
            + ["io.posixgateway.alluxio.bench.VolumesHost", str(folder), masters, file],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said.open("w"),
            text=True,
            start_new_session=True,
            cwd=ROOT,
        )

    def __enter__(self) -> "Gateway":
        self.pid = int(self.answer("READY")[0])
        return self

    def answer(self, expected: str) -> list[str]:
        for line in self.process.stdout:
            first, *words = line.split() or [""]
            if first == expected:
                return words
        raise RuntimeError(f"VolumesHost ended: {self.said.read_text()[-3000:]}")

    def attach(self, volumes: int) -> list[float]:
        """Milliseconds of each that was attached until there are so many."""
        self.process.stdin.write(f"{volumes}\n")
        self.process.stdin.flush()
        return [float(word) for word in self.answer("OK")]

    def know(self) -> int:
        """Lists all volumes with their attributes; how many names that were, all together."""
        self.process.stdin.write("know\n")
        self.process.stdin.flush()
        return int(self.answer("OK")[0])

    def __exit__(self, *_unused) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def keep_memory(site: Site, pid: int, who: str) -> None:
    seen = footprint_of(pid)
    site.keep(f"{who}: threads", seen["threads"], "threads")
    site.keep(f"{who}: resident memory", seen["rss_mb"], "MB")
    site.keep(f"{who}: heap", live_heap_of(pid) / 1e6, "MB")


def volumes(site: Site) -> None:
    """Heap, memory and threads of the process, and how long it took to attach the last ones."""
    with gateway(site, "/svhn/f0") as serving:
        for count in QUICK_VOLUMES if site.scale.is_quick else VOLUMES:
            attached = serving.attach(count)
            site.keep(f"{count} volumes: attach a volume", statistics.median(attached), "ms")
            keep_memory(site, serving.pid, f"{count} volumes")


def known(site: Site) -> None:
    """The same when each volume was listed: the volumes share what the process has for names."""
    for count in QUICK_VOLUMES if site.scale.is_quick else KNOWING:
        with gateway(site, "/listed/f1") as serving:
            serving.attach(count)
            names = serving.know()
            keep_memory(site, serving.pid, f"{count} volumes, {names:,} names listed")


@contextmanager
def gateway(site: Site, file: str) -> Iterator[Gateway]:
    folder = Path(tempfile.mkdtemp(prefix="pgw-v-"))
    try:
        with Gateway(folder, site.mount.way.masters, file) as serving:
            yield serving
    finally:
        shutil.rmtree(folder, ignore_errors=True)
