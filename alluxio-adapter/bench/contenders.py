"""Who is measured: this project's mount, AlluxioFuse as it comes and tuned, Alluxio on JNR-FUSE, tmpfs as the floor."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GATEWAY = ROOT / "bin" / "posix-gateway"
BUILT = Path(__file__).resolve().parent / "target"
HOST_CLASSES = ROOT / "alluxio-adapter" / "target" / "test-classes"
GATEWAY_JARS = ROOT / "alluxio-adapter" / "target" / "dist" / "lib"
SERVER_JARS = ROOT / "alluxio-adapter" / "alluxio-server" / "target" / "lib"
OPENS = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.lang", "java.nio", "sun.nio.ch", "java.util")
]
MOUNT_LIMIT_S = 120
NULL_FILES, NULL_BYTES = 64, 1 << 30
SETS = "sets"  # in the work folder: of each data set its name, first id, file of sizes and folder, for the floors


@dataclass(frozen=True)
class Contender:
    """A name, what it is, and the options of its mount."""

    name: str
    label: str
    kind: str  # tmpfs, alluxiofuse, jnr, gateway; null, this project's null file system; floor, in C: without Alluxio
    options: str = ""
    properties: tuple[str, ...] = ()
    heap: str = "-Xmx1g"
    reads: str = ""  # bypass: programs have the library; direct: transfers are O_DIRECT
    java_options: str = ""  # of the gateway's JVM, beside its own


METADATA_CACHE = ("alluxio.user.metadata.cache.enabled=true",)
CONTENDERS = [
    Contender("tmpfs", "tmpfs", "tmpfs"),
    Contender("floor-uring", "C from memory, io_uring", "floor", "uring"),
    Contender("floor-devfuse", "C from memory, /dev/fuse", "floor", "devfuse"),
    Contender("alluxiofuse", "AlluxioFuse 2.9.3", "alluxiofuse", "direct_io", METADATA_CACHE),
    Contender(
        "alluxiofuse-default", "AlluxioFuse 2.9.3 by itself", "alluxiofuse", "attr_timeout=600,entry_timeout=600"
    ),
    Contender(
        "alluxiofuse-tuned",
        "AlluxioFuse 2.9.3 tuned",
        "alluxiofuse",
        "kernel_cache,attr_timeout=7200,entry_timeout=7200",
        (
            *METADATA_CACHE,
            "alluxio.user.metadata.cache.expiration.time=2h",
            "alluxio.user.metadata.cache.max.size=1000000",
        ),
        "-Xmx4g",
    ),
    Contender(
        "alluxiofuse-many",
        "AlluxioFuse 2.9.3 tuned, for more names",
        "alluxiofuse",
        "kernel_cache,attr_timeout=7200,entry_timeout=7200",
        (
            *METADATA_CACHE,
            "alluxio.user.metadata.cache.expiration.time=2h",
            "alluxio.user.metadata.cache.max.size=10000000",
        ),
        "-Xmx6g",
    ),
    Contender("alluxio-jnr", "Alluxio on JNR-FUSE 0.5.8", "jnr", "direct_io", METADATA_CACHE),
    Contender("gateway", "gateway", "gateway"),
    Contender("gateway-many", "gateway, for more names", "gateway", "cache_entries=10000000", heap="-Xmx2g"),
    Contender("sized-here", "gateway, devfuse, sized by its CPUs", "gateway", "transport=devfuse"),
    Contender(
        "sized-128",
        "gateway, devfuse, sized as on 128 CPUs",
        "gateway",
        "transport=devfuse,max_threads=128",
        java_options="-XX:ActiveProcessorCount=128",
    ),
    Contender("gateway-read-only", "gateway, ro", "gateway", "ro"),
    Contender("gateway-immutable", "gateway, consistency=immutable", "gateway", "consistency=immutable"),
    Contender("gateway-no-open", "gateway, no_open", "gateway", "ro,consistency=immutable,no_open"),
    Contender("gateway-ttl", "gateway, consistency=ttl", "gateway", "consistency=ttl,metadata_ttl=2h"),
    Contender("gateway-uring", "gateway, transport=uring", "gateway", "transport=uring"),
    Contender("gateway-devfuse", "gateway, transport=devfuse", "gateway", "transport=devfuse"),
    Contender("gateway-libfuse", "gateway, transport=libfuse", "gateway", "transport=libfuse"),
    Contender("gateway-ahead-1m", "gateway, read_ahead=1M", "gateway", "read_ahead=1M"),
    Contender("gateway-ahead-64m", "gateway, read_ahead=64M", "gateway", "read_ahead=64M,buffer_size=1G"),
    Contender("gateway-no-prefetch", "gateway, prefetch=off", "gateway", "prefetch=off"),
    *(
        Contender(
            f"{way}-{transport}", f"{label}, {transport}", "gateway", f"transport={transport},{options}", reads=way
        )
        for transport in ("devfuse", "libfuse")
        for way, label, options in (
            ("cached", "FUSE with page cache", "passthrough=off"),
            ("direct", "FUSE, O_DIRECT", "passthrough=off"),
            ("bypass", "bypass", "ro,passthrough=off,bypass=auto"),
        )
    ),
    Contender("null-uring", "null file system, uring", "null", "uring"),
    Contender("null-devfuse", "null file system, devfuse", "null", "devfuse"),
    Contender("null-libfuse", "null file system, libfuse", "null", "libfuse"),
]
REMOTE = "alluxio.user.short.circuit.enabled=false"


@dataclass(frozen=True)
class Way:
    """How a mount gets to Alluxio: `host`, its own name, is that of a worker whose blocks it may read as files."""

    masters: str
    remote: bool = False  # short circuit is off
    host: str = "127.0.0.1"
    properties: tuple[str, ...] = ()
    write_type: str = "MUST_CACHE"


class Mount:
    """A contender's mount of the whole Alluxio, for the time of a `with`; `root` is where the files are."""

    def __init__(self, contender: Contender, way: Way, tmpfs: Path):
        self.contender = contender
        self.way = way
        self.process: subprocess.Popen | None = None
        self.session = ""
        if contender.kind == "tmpfs":
            self.root = tmpfs
            return
        self.root = Path(tempfile.mkdtemp(prefix="pgw-bench-alluxio-"))
        self.folder = Path(tempfile.mkdtemp(prefix="pgw-bench-log-"))
        self.log = open(self.folder / "log", "wb+")
        if contender.kind == "floor":
            shutil.copy(tmpfs.parent / SETS, self.folder)
        command = COMMANDS[contender.kind](contender, way, self.root, self.folder)
        java = {"POSIX_GATEWAY_HEAP": contender.heap.removeprefix("-Xmx")}
        if contender.java_options:
            java["POSIX_GATEWAY_JAVA_OPTS"] = contender.java_options
        self.process = subprocess.Popen(
            command, stdout=self.log, stderr=self.log, start_new_session=True, env={**os.environ, **java}
        )

    def __enter__(self) -> "Mount":
        deadline = time.monotonic() + MOUNT_LIMIT_S
        while self.process and not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                said = self.said()
                self.__exit__()
                raise RuntimeError(f"{self.contender.name} did not mount: {said[-3000:]}")
            time.sleep(0.1)
        if self.contender.kind in ("gateway", "null"):
            self.session = next((line for line in self.said().splitlines() if "transport" in line), "")
        return self

    def answers(self) -> bool:
        if self.contender.reads == "bypass" and not (self.folder / "bypass" / "socket").exists():
            return False
        try:
            listed = self.contender.kind == "floor" or any(os.scandir(self.root))
            return os.path.ismount(self.root) and listed
        except OSError:
            return False

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def __exit__(self, *_unused) -> None:
        if not self.process:
            return
        subprocess.run(["umount", "-l", self.root], stderr=subprocess.DEVNULL, check=False)
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        os.rmdir(self.root)

    def environment(self) -> dict[str, str]:
        """Of programs that read here."""
        if self.contender.reads != "bypass":
            return dict(os.environ)
        place = self.folder / "bypass"
        library = {"LD_PRELOAD": str(place / "libposixgw-bypass.so"), "POSIX_GATEWAY_BYPASS": str(place / "socket")}
        return {**os.environ, **library}

    def cpu_seconds(self) -> float:
        """What the server has used so far, in user space and in the kernel; 0 for tmpfs."""
        return cpu_seconds_of(self.process.pid) if self.process else 0.0

    def received_bytes(self) -> int:
        """What the server's connections have received so far, as the kernel counts it; 0 for tmpfs."""
        if not self.process:
            return 0
        said = subprocess.run(["ss", "-tinpH"], capture_output=True, text=True, check=True).stdout
        lines = said.splitlines()
        ours = [after for line, after in zip(lines, lines[1:], strict=False) if f"pid={self.process.pid}," in line]
        return sum(int(count) for line in ours for count in re.findall(r"bytes_received:(\d+)", line))

    def footprint(self) -> dict:
        """Threads and resident MB now; nothing for tmpfs."""
        return footprint_of(self.process.pid) if self.process else {}


def cpu_seconds_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def footprint_of(pid: int) -> dict:
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {"threads": int(fields["Threads"]), "rss_mb": int(fields["VmRSS"].split()[0]) / 1024}


def client_properties(contender: Contender, way: Way, folder: Path) -> list[str]:
    host, port = way.masters.rsplit(":", 1)
    properties = [
        f"alluxio.master.hostname={host}",
        f"alluxio.master.rpc.port={port}",
        f"alluxio.user.hostname={way.host}",
        "alluxio.fuse.web.enabled=false",
        f"alluxio.user.file.writetype.default={way.write_type}",
        f"alluxio.home={folder}",
        f"alluxio.logs.dir={folder}",
        *contender.properties,
        *way.properties,
        *([REMOTE] if way.remote else []),
    ]
    return [f"-D{each}" for each in properties]


def java_of_tests(heap: str, name: str, *arguments) -> list:
    """A program among the adapter's tests, in a JVM as the gateway's."""
    options = [f"@{GATEWAY_JARS}/jvm.options", f"-Xmx{heap}", "-cp", f"{HOST_CLASSES}:{GATEWAY_JARS}/*"]
    return ["java", *options, f"io.posixgateway.alluxio.{name}", *arguments]


def java(contender: Contender) -> list[str]:
    return ["java", "-Xms1g", contender.heap, "-XX:MaxDirectMemorySize=4g", *OPENS]


def alluxiofuse(contender: Contender, way: Way, mount: Path, folder: Path) -> list[str]:
    return [
        *java(contender),
        *client_properties(contender, way, folder),
        *("-cp", f"{SERVER_JARS}/*", "alluxio.fuse.AlluxioFuse"),
        *("-m", str(mount), "-a", "/", "-o", contender.options),
    ]


def on_jnr(contender: Contender, way: Way, mount: Path, folder: Path) -> list[str]:
    return [
        *java(contender),
        *client_properties(contender, way, folder),
        *("-cp", f"{BUILT / 'classes'}:{BUILT / 'lib'}/*:{SERVER_JARS}/*", "io.posixgateway.bench.JnrAlluxio"),
        *(str(mount), contender.options),
    ]


def gateway(contender: Contender, way: Way, mount: Path, folder: Path) -> list[str]:
    options = [f"write_type={way.write_type}", f"spool={folder}/spool", *filter(None, [contender.options])]
    if way.remote:
        options.append("short_circuit=off")
    command = [str(GATEWAY), "mount", f"alluxio://{way.masters}/", str(mount), "--foreground"]
    for each in (f"alluxio.user.hostname={way.host}", *way.properties):
        command += ["--property", each]
    command += ["-o", ",".join(options)]
    command += ["--bypass-socket", f"{folder}/bypass/socket"]
    return command


def null(contender: Contender, _way: Way, mount: Path, _folder: Path) -> list[str]:
    sizes = ["--files", str(NULL_FILES), "--bytes", str(NULL_BYTES)]
    return [str(GATEWAY), "testfs", "null", str(mount), *sizes, "--transport", contender.options, "--foreground"]


def floor(contender: Contender, _way: Way, mount: Path, folder: Path) -> list[str]:
    """Has names and content of the data sets, and no listings."""
    sets = (folder / SETS).read_text().split()
    return [str(BUILT / "floor"), contender.options, str(mount), ",".join(sets)]


COMMANDS = {"alluxiofuse": alluxiofuse, "jnr": on_jnr, "gateway": gateway, "null": null, "floor": floor}
