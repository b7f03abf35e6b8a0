"""Packs the benchmarks with all they need, for a machine without Java, compiler or network.

python pack.py ARCHIVE.tar.gz

There: unpack it, and ./run core|alluxio|figure15|train|shapes [OPTIONS]. It needs Linux on the same processor with a C
library not older than this machine's, root, and a Python with matplotlib; `train` PyTorch, torchvision and Pillow too,
`shapes` fio. Results lie in `results/`; `make bench-compare` and publish.py take them.
"""

import json
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from contenders import ROOT

sys.path.insert(0, str(ROOT / "fuse-core" / "bench"))
from machine import commit_of  # noqa: E402  what all benchmarks record

NAME = "posix-gateway-bench"
BUILT = (
    "alluxio-adapter/target/dist",
    "alluxio-adapter/target/test-classes/io/posixgateway/alluxio/bench",
    "alluxio-adapter/alluxio-server/target/lib",
    "alluxio-adapter/bench",
    "fuse-core/bench",
    "fuse-core/target/bench",
)
LEFT_OUT = shutil.ignore_patterns("src", "results", "quick", "__pycache__", "generated-sources", "maven-*", "*.jsa")
MODULES = (
    "java.base,java.compiler,java.desktop,java.instrument,java.logging,java.management,java.naming,java.net.http,"
    "java.rmi,java.scripting,java.security.jgss,java.security.sasl,java.sql,java.transaction.xa,java.xml,"
    "jdk.attach,jdk.crypto.ec,jdk.httpserver,jdk.jcmd,jdk.management,jdk.naming.dns,jdk.net,jdk.security.auth,"
    "jdk.unsupported,jdk.zipfs"
)
LIBFUSE = "libfuse.so.2"
RUN = """#!/bin/sh
# ./run core|alluxio|figure15|train|shapes [OPTIONS]; PYTHON: which, if not python3
set -eu
here=$(dirname -- "$(readlink -f -- "$0")")
export JAVA_HOME="$here/runtime" PATH="$here/runtime/bin:$PATH"
export LD_LIBRARY_PATH="$here/native${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
group=${1:?which: core, alluxio, figure15, train or shapes}
shift
case $group in
core) set -- "$here/fuse-core/bench/bench_core.py" "$@" ;;
*) set -- "$here/alluxio-adapter/bench/bench_alluxio.py" --group "$group" "$@" ;;
esac
exec "${PYTHON:-python3}" "$@" --out "$here/results/$group"
"""


def library(name: str) -> Path:
    """Where the loader finds it on this machine."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    found = [line.split(" => ")[1] for line in known.splitlines() if line.split()[:1] == [name]]
    if not found:
        raise SystemExit(f"{name} is not on this machine: make setup")
    return Path(found[0]).resolve()


def gather(folder: Path) -> None:
    for place in BUILT:
        if not (ROOT / place).exists():
            raise SystemExit(f"{ROOT / place} is not built: make bench-peers")
        shutil.copytree(ROOT / place, folder / place, ignore=LEFT_OUT, symlinks=True)
    (folder / "bin").symlink_to("alluxio-adapter/target/dist/bin")
    (folder / "native").mkdir()
    shutil.copy(library(LIBFUSE), folder / "native" / LIBFUSE)
    jlink = ["jlink", "--add-modules", MODULES, "--strip-debug", "--no-header-files", "--no-man-pages"]
    subprocess.run([*jlink, "--output", str(folder / "runtime")], check=True)
    (folder / "packed.json").write_text(json.dumps({"commit": commit_of(ROOT), "machine": platform.machine()}) + "\n")
    (folder / "run").write_text(RUN)
    (folder / "run").chmod(0o755)


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    archive = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="pgw-pack-") as work:
        folder = Path(work) / NAME
        folder.mkdir()
        gather(folder)
        with tarfile.open(archive, "w:gz", compresslevel=6) as file:
            file.add(folder, NAME)
    print(f"{archive}: {archive.stat().st_size >> 20} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
