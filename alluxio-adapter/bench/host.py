"""An embedded Alluxio and the files in it."""

import shutil
import subprocess
from pathlib import Path

from contenders import GATEWAY, HOST_CLASSES, SETS, Way, cpu_seconds_of
from delays import HERE, THERE, Delays
from paper_parts import PYTHON, TRAIN
from parts import LOAD, TRANSFERRED, Dataset, Scale

WORKER_BYTES = 8 << 30
NOT_KEPT = "alluxio.user.file.readtype.default=NO_CACHE"


class AlluxioHost:
    """The embedded Alluxio, in a Java process that ends with this one; `delayed`: what goes to it can be."""

    def __init__(self, blocks: Path, heap_mb: int, delayed: bool = False, workers: int = 1, under_store: str = "LOCAL"):
        self.under_store = under_store
        self.delays = Delays() if delayed else None
        properties = self.delays.properties() if self.delays else []
        jars = GATEWAY.resolve().parent.parent / "lib"
        self.blocks = blocks
        self.process = subprocess.Popen(
            ["java", "-Xmx512m", *("--add-opens=java.base/java.nio=ALL-UNNAMED",), "-cp", f"{HOST_CLASSES}:{jars}/*"]
            + ["io.posixgateway.alluxio.bench.AlluxioHost", str(blocks), str(workers), str(WORKER_BYTES)]
            + [str(heap_mb), under_store, *properties],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(blocks.parent / "host.log", "w"),
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> "AlluxioHost":
        said = self.answer("READY")
        self.masters, self.ufs = said[1], Path(said[2])
        self.delayed_masters = self.delays.lead_to(self.masters) if self.delays else ""
        return self

    def way(self, remote: bool) -> Way:
        """Through the delays, if there are any. Whoever has the worker's name is on its host."""
        if self.under_store != "LOCAL":
            return Way(self.masters, remote, write_type="CACHE_THROUGH")
        if not self.delays:
            return Way(self.masters, remote)
        return Way(self.delayed_masters, remote, HERE if remote else THERE, (NOT_KEPT,))

    def cpu_seconds(self) -> float:
        """What Alluxio's servers have used so far, in user space and in the kernel."""
        threads = Path(f"/proc/{self.process.pid}/task")
        servers = " ".join(each.read_text() for each in threads.glob("*/children")).split()
        return sum(cpu_seconds_of(int(server)) for server in servers)

    def answer(self, expected: str) -> list[str]:
        for line in self.process.stdout:
            words = line.split()
            if words and words[0] == expected:
                return words
            if words and words[0] == "FAILED":
                raise RuntimeError(f"Alluxio: {line}")
        raise RuntimeError(f"Alluxio ended: {(self.blocks.parent / 'host.log').read_text()[-3000:]}")

    def tell(self, *words) -> int:
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return int(self.answer("OK")[1])

    def __exit__(self, *_unused) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.delays:
            self.delays.close()


class Filling:
    """Makes the data sets in `work/files`, and puts them into Alluxio."""

    def __init__(self, host: AlluxioHost, work: Path, scale: Scale, sets: dict[str, Dataset]):
        self.host = host
        self.work = work
        self.files = work / "files"
        self.scale = scale
        self.sets = sets
        self.files.mkdir()

    def fill(self, wanted: set[str]) -> None:
        (self.files / "ready").mkdir()
        self.host.tell("put", self.files / "ready", "/ready", 1 << 20)
        for name in sorted(wanted):
            if name in self.sets:
                self.data_set(self.sets[name])
            elif name in ("pictures", "records"):
                self.to_train_on(name)
            else:
                self.listed(name)

    def data_set(self, data: Dataset) -> None:
        (self.work / f"{data.name}.sizes").write_text("".join(f"{size}\n" for size in data.sizes))
        with (self.work / SETS).open("a") as sets:
            sets.write(f"{data.name}:{data.first_id}:{self.work / data.name}.sizes:{self.files / data.name}\n")
        folder = self.files / data.name
        folder.mkdir()
        self.make_files(data, folder)
        if data.bucket:
            return
        if data.persisted:
            shutil.copytree(folder, self.host.ufs / data.name)
            self.host.tell("list", f"/{data.name}")
            return
        self.host.tell("put", folder, f"/{data.name}", data.block_bytes)
        if data.name in TRANSFERRED:
            self.read_block_file(folder / "f0")

    def put_into_bucket(self, data: Dataset, path: str) -> None:
        """As objects that no worker has a block of."""
        self.host.tell("put", self.files / data.name, path, data.block_bytes, "THROUGH")

    def read_block_file(self, file: Path) -> None:
        """Who reads the file on the tmpfs reads what a program with the bypass library reads: the file's only block."""
        size = file.stat().st_size
        blocks = (each for each in self.host.blocks.rglob("*") if each.is_file() and each.stat().st_size == size)
        block = next(blocks)
        file.unlink()
        file.hardlink_to(block)

    def make_files(self, data: Dataset, folder: Path) -> None:
        for other in self.sets.values():
            there = self.files / other.name / "f0"
            same = (data.first_id, data.sizes) == (other.first_id, other.sizes)
            if same and there.exists():  # the same big file, in blocks of another size
                (folder / "f0").hardlink_to(there)
                return
        command = [LOAD, "fill", *map(str, data.arguments(self.files, self.work))]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def to_train_on(self, name: str) -> None:
        folder, count = self.files / name, getattr(self.scale, name)
        folder.mkdir()
        command = [PYTHON, TRAIN / "pictures.py", name, folder, count, self.work / f"{name}.json"]
        subprocess.run(list(map(str, command)), check=True)
        self.host.tell("put", folder, f"/{name}", 16 << 20)
        for each in sorted(folder.iterdir()):
            self.host.tell("put", each, f"/{name}/{each.name}", 16 << 20)

    def listed(self, name: str) -> None:
        """Many small files that Alluxio knows from its under file system."""
        count = getattr(self.scale, f"{name}_files")
        (self.work / f"{name}.sizes").write_text("".join(f"{index % 4}\n" for index in range(count)))
        for folder in (self.files / name, self.host.ufs / name):
            folder.mkdir()
            for index in range(count):
                (folder / f"f{index}").write_bytes(b"abc"[: index % 4])
        self.host.tell("list", f"/{name}")
