"""What volumes cost a gateway that serves many of them, as on a node: sessions of a keeper, one process."""

import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from contenders import BUILT, GATEWAY_JARS, HOST_CLASSES, ROOT, footprint_of
from parts import Site
from scaling_parts import live_heap_of

VOLUMES = (1, 10, 50, 100)
QUICK_VOLUMES = (1, 5)


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

    def __exit__(self, *_unused) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def volumes(site: Site) -> None:
    """Heap, memory and threads of the process, and how long it took to attach the last ones."""
    folder = Path(tempfile.mkdtemp(prefix="pgw-v-"))
    try:
        with Gateway(folder, site.mount.way.masters, "/svhn/f0") as gateway:
            for count in QUICK_VOLUMES if site.scale.is_quick else VOLUMES:
                attached = gateway.attach(count)
                seen = footprint_of(gateway.pid)
                for what, value, unit in (
                    ("attach a volume", statistics.median(attached), "ms"),
                    ("threads", seen["threads"], "threads"),
                    ("resident memory", seen["rss_mb"], "MB"),
                    ("heap", live_heap_of(gateway.pid) / 1e6, "MB"),
                ):
                    site.keep(f"{count} volumes: {what}", value, unit)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
