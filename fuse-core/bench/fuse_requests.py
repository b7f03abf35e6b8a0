"""Counts the requests that the kernel sends over one FUSE connection, by opcode: from the kernel's own tracepoint."""

import mmap
import os
import re
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

SENT = re.compile(r"fuse_request_send: .*\(FUSE_(\w+)\)")
KERNEL_PLACE = Path("/sys/kernel/tracing")
EVENT = Path("events") / "fuse" / "fuse_request_send"


def can_count() -> bool:
    """Whether this kernel has the tracepoint, and this user may use it."""
    try:
        with RequestCounter() as counter:
            return (counter.trace / EVENT).exists()
    except (OSError, subprocess.CalledProcessError):
        return False


class RequestCounter:
    """A trace of its own; nothing of the machine's other tracing is touched. Root only."""

    def __init__(self) -> None:
        self.own_mount: str | None = None
        root = KERNEL_PLACE
        if not (root / "events").exists():
            self.own_mount = tempfile.mkdtemp(prefix="pgw-trace-")
            subprocess.run(["mount", "-t", "tracefs", "none", self.own_mount], check=True)
            root = Path(self.own_mount)
        self.trace = root / "instances" / f"pgw-bench-{os.getpid()}"

    def __enter__(self) -> "RequestCounter":
        self.trace.mkdir()
        return self

    def __exit__(self, *_unused) -> None:
        self.trace.rmdir()
        if self.own_mount is not None:
            subprocess.run(["umount", self.own_mount], check=False)
            os.rmdir(self.own_mount)

    def count(self, mount: str, work) -> dict[str, int]:
        """What `work` makes the kernel send to this mount; RELEASE comes late and is waited for."""
        event = self.trace / EVENT
        connection = os.minor(os.stat(mount).st_dev)
        (event / "filter").write_text(f"connection == {connection}")
        (self.trace / "trace").write_text("")
        (event / "enable").write_text("1")
        try:
            work()
            seen, before = self.read(), None
            deadline = time.monotonic() + 5
            while (seen != before or seen["OPEN"] != seen["RELEASE"]) and time.monotonic() < deadline:
                time.sleep(0.05)
                seen, before = self.read(), seen
        finally:
            (event / "enable").write_text("0")
        return dict(sorted(seen.items()))

    def read(self) -> Counter:
        return Counter(SENT.findall((self.trace / "trace").read_text()))


def use_files(mount: str, count: int, block: int) -> None:
    """Reads whole, then writes, the first files, as the load does: from memory that begins at a page."""
    with mmap.mmap(-1, block) as data:
        for number in range(count):
            fd = os.open(f"{mount}/f{number}", os.O_RDONLY)
            while os.readv(fd, [data]):
                pass
            os.close(fd)
            fd = os.open(f"{mount}/f{number}", os.O_WRONLY)
            os.writev(fd, [data])
            os.close(fd)


def requests_of(mounts: dict[str, str], block: int, files: int = 20) -> dict[str, dict[str, int]]:
    """By server: what it is asked for `files` files read and written, once all is cached that may be."""
    counted = {}
    with RequestCounter() as counter:
        for name, mount in mounts.items():
            use_files(mount, files, block)
            counted[name] = counter.count(mount, lambda mount=mount: use_files(mount, files, block))
    return counted


def difference(counted: dict[str, dict[str, int]]) -> str | None:
    """None when all are asked the same; else which is not."""
    first = next(iter(counted.items()))
    for name, seen in counted.items():
        if seen != first[1]:
            return f"{name} is asked {seen}, {first[0]} is asked {first[1]}"
    return None
