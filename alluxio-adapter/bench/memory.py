"""Where a benchmark keeps its files and the worker's blocks: a folder of a tmpfs, or a tmpfs of its own."""

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWNS = 0x20000


def keep_mounts_private() -> None:
    """What is mounted from now on is there for this process and its children, and gone with them, however they end."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare: a tmpfs with huge pages takes root")
    subprocess.run(["mount", "--make-rslave", "/"], check=True)


@contextmanager
def memory(tmpfs: Path, pages: str) -> Iterator[Path]:
    """A folder of that tmpfs until the end of a `with`; with `pages`, a tmpfs mounted so in its place."""
    folder = Path(tempfile.mkdtemp(prefix="pgw-bench-", dir=tmpfs))
    try:
        if pages:
            keep_mounts_private()
            subprocess.run(["mount", "-t", "tmpfs", "-o", pages, "pgw-bench", folder], check=True)
        yield folder
    finally:
        if os.path.ismount(folder):
            subprocess.run(["umount", "-l", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)
