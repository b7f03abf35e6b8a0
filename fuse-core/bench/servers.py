"""What bench-core measures: servers that mount the same null file system, and a mount of one for some time.

All answer alike: attributes and entries are valid for an hour, files are opened with direct I/O, a close sends no
FLUSH, a read fills a buffer of the server's. Truncating one file gives all files that length.
"""

import json
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILT = HERE.parent / "target" / "bench"
PEERS = HERE / "target"
FILES = 1000
FIRST_BYTES = 4096
SAMPLE_S = 0.02


@dataclass(frozen=True)
class Server:
    """Something that mounts the null file system. `command` gets the mount point and the files' length."""

    name: str
    label: str
    command: list[str]
    uring: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    main: bool = True  # takes part in the tables of rates; else only in the pair it is there for


def java_peer(main_class: str) -> list[str]:
    class_path = f"{PEERS / 'classes'}:{PEERS / 'lib'}/*"
    return ["java", "-cp", class_path, f"io.posixgateway.bench.{main_class}", "{mount}", "{bytes}"]


def ours(transport: str) -> list[str]:
    gateway = str(ROOT / "bin" / "posix-gateway")
    options = ["--files", str(FILES), "--bytes", "{bytes}", "--transport", transport, "-o", "allow_other"]
    return [gateway, "testfs", "null", "{mount}", *options, "--foreground"]


UNCOUNTED = {"POSIX_GATEWAY_JAVA_OPTS": "-Dposixgateway.metrics=off"}
SERVERS = [
    Server("c-libfuse", "C, libfuse 2.9", [str(BUILT / "floor_libfuse"), "{mount}", "{bytes}"]),
    Server("c-devfuse", "C, /dev/fuse", [str(BUILT / "floor_device"), "devfuse", "{mount}", "{bytes}"]),
    Server("c-uring", "C, io_uring", [str(BUILT / "floor_device"), "uring", "{mount}", "{bytes}"], uring=True),
    Server("libfuse", "Java, libfuse", ours("libfuse")),
    Server("devfuse", "Java, devfuse", ours("devfuse")),
    Server("uring", "Java, uring", ours("uring"), uring=True),
    Server("jnr", "JNR-FUSE 0.5.8", java_peer("JnrNull")),
    Server("jnifuse", "Alluxio jnifuse 2.9.3", java_peer("JniFuseNull")),
    Server("uring-uncounted", "Java, uring, no metrics", ours("uring"), True, UNCOUNTED, main=False),
]


@dataclass(frozen=True)
class Point:
    """One load: a figure's name, and what is done by how many; `turn`: of those that a round measures several times."""

    figure: str
    mode: str
    block: int
    threads: int
    turn: int = 0


class Mounted:
    """A server and its mount, for the time of a `with`."""

    def __init__(self, server: Server):
        self.server = server
        self.mount = tempfile.mkdtemp(prefix="pgw-bench-")
        self.log = tempfile.TemporaryFile()
        self.file_bytes = FIRST_BYTES
        command = [part.format(mount=self.mount, bytes=FIRST_BYTES) for part in server.command]
        environment = {**os.environ, **server.environment}
        self.process = subprocess.Popen(
            command, stdout=self.log, stderr=self.log, start_new_session=True, env=environment
        )

    def __enter__(self) -> "Mounted":
        deadline = time.monotonic() + 60
        while not os.path.ismount(self.mount):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.log.seek(0)
                said = self.log.read().decode(errors="replace")
                self.__exit__()
                raise RuntimeError(f"{self.server.name} did not mount: {said[-2000:]}")
            time.sleep(0.02)
        return self

    def __exit__(self, *_unused) -> None:
        subprocess.run(["umount", "-l", self.mount], stderr=subprocess.DEVNULL, check=False)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self.log.close()
        os.rmdir(self.mount)

    def set_file_bytes(self, count: int) -> None:
        if count != self.file_bytes:
            for number in range(FILES):
                os.truncate(f"{self.mount}/f{number}", count)
            self.file_bytes = count

    def thread_numbers(self) -> set[str]:
        return set(os.listdir(f"/proc/{self.process.pid}/task"))

    def load(self, point: Point, seconds: float, watch: bool = False) -> dict:
        """What the load saw; `watch`: with the server's threads over time, which costs it something."""
        self.set_file_bytes(point.block)
        command = [BUILT / "load", point.mode, self.mount, FILES, point.block, point.threads, seconds]
        began_cpu = self.cpu_seconds()
        running = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        threads = self.watch_threads(running) if watch else None
        if not watch:
            time.sleep(seconds * 0.8)
        count = len(self.thread_numbers())
        said, _ = running.communicate(timeout=seconds + 120)
        if running.returncode != 0:
            raise RuntimeError(f"the load failed on {self.server.name}: {said}")
        seen = {**json.loads(said), "server_threads": count}
        if seen["errors"]:
            raise RuntimeError(f"{self.server.name}, {point}: {seen['errors']} wrong or failed files")
        spent = self.cpu_seconds() - began_cpu + seen["cpu_s"]
        seen["cpu_us_per_file"] = round(spent * 1e6 / (seen["files_per_s"] * seen["took_s"]), 2)
        return seen if threads is None else {**seen, "threads_over_time": threads}

    def cpu_seconds(self) -> float:
        """What the server has used so far, in user space and in the kernel."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def watch_threads(self, running: subprocess.Popen) -> list[dict]:
        """Samples the threads until the load ends; one that lives shorter than a sample is not seen."""
        samples: list[dict] = []
        known = self.thread_numbers()
        created = destroyed = 0
        began = time.monotonic()
        while running.poll() is None:
            now = self.thread_numbers()
            created += len(now - known)
            destroyed += len(known - now)
            known = now
            at = round(time.monotonic() - began, 3)
            samples.append({"at_s": at, "alive": len(now), "created": created, "destroyed": destroyed})
            time.sleep(SAMPLE_S)
        return samples
