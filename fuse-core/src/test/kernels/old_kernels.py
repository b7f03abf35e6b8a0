#!/usr/bin/env python3
"""Boots older kernels and checks the native library, the file systems and takeovers there.

    old_kernels.py [--kills N] [--only 'cases-*'] [KERNEL...]      5.10, 6.1 and 6.12, one after the other

The kernels are those that Debian packages for user mode: programs that run on the files of this machine, read-only,
with the fs/fuse of their version and one processor. They are downloaded once, 40 MB each, into the cache. A kernel
takes about five minutes. Each runs, by guest.sh, on a tree that is built (make old-kernels builds it):

    native-*       the tests of the native library
    cases-*        the conformance cases on the file system in memory, over devfuse and libfuse
    killed         a kept session whose server is killed N times (5), with the real keeper, under readers and writers
    upgraded       the same with planned ends
    nobody-waits   no task hangs in the kernel

Where a kernel cannot be had, it is skipped, with the reason. Ctrl-C ends all of it.
"""

import argparse
import contextlib
import ctypes
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import time

REPO = pathlib.Path(__file__).resolve().parents[4]
CACHE = pathlib.Path(os.environ.get("PGW_CACHE") or pathlib.Path.home() / ".cache/posix-gateway") / "kernels"
RESULTS = REPO / "fuse-core/target/kernels"
GUEST = pathlib.Path(__file__).with_name("guest.sh")
# Which release of Debian has which kernel.
RELEASES = {"5.10": "bullseye", "6.1": "bookworm", "6.12": "trixie"}
KEYS = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")
LOADER = "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
BUILT = (
    "alluxio-adapter/target/dist/bin/posix-gateway",
    "csi/bin/posix-gateway-keeper",
    "fuse-core/target/test-classes",
    "fuse-core/target/c/plain/pgw_session_test",
)
LIMIT_SECONDS = 1500
MEMORY_MB = 1536
LISTS_SECONDS = 2 * 24 * 3600
PR_SET_PDEATHSIG = 1


class Unavailable(Exception):
    """A kernel cannot be had here; says why."""


def run(*command, cwd=None):
    """What a command prints; Unavailable with its last line when it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"status {done.returncode}"]
        raise Unavailable(f"{command[0]} failed: {said[-1]}")
    return done.stdout


class Packages:
    """Debian's packages of several releases, found by lists of our own: this machine's are left as they are."""

    def __init__(self):
        self.folder = CACHE / "apt"
        self.updated = False

    def options(self):
        lists, cache = self.folder / "lists", self.folder / "cache"
        return (
            *("-o", f"Dir::Etc::SourceList={self.folder}/sources.list", "-o", "Dir::Etc::SourceParts=-"),
            *("-o", f"Dir::State::Lists={lists}", "-o", f"Dir::Cache={cache}", "-o", "APT::Sandbox::User="),
        )

    def update(self):
        """Reads the lists, unless that was done in the last days."""
        if self.updated:
            return
        sites = run("apt-get", "indextargets", "--format", "$(SITE)", "Identifier: Packages").split()
        site = next((site for site in sites if site.rstrip("/").endswith("/debian")), None)
        if site is None or not KEYS.exists():
            raise Unavailable("this machine's apt knows no archive of Debian, or lacks debian-archive-keyring")
        for part in ("lists/partial", "cache/archives/partial"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        lines = [f"deb [signed-by={KEYS}] {site} {release} main\n" for release in RELEASES.values()]
        (self.folder / "sources.list").write_text("".join(lines))
        stamp = self.folder / "updated"
        if not stamp.exists() or time.time() - stamp.stat().st_mtime > LISTS_SECONDS:
            print("reading the lists of packages", flush=True)
            run("apt-get", *self.options(), "-q", "update")
            stamp.touch()
        self.updated = True

    def unpack(self, package, release, into):
        """A package's files, below the folder."""
        self.update()
        print(f"downloading {package} of {release}", flush=True)
        work = self.folder / "download"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        run("apt-get", *self.options(), "-q", "download", f"{package}/{release}", cwd=work)
        for file in work.glob("*.deb"):
            run("dpkg-deb", "-x", file, into)
        shutil.rmtree(work)


def starts(program):
    """Does it run on this machine's C library?"""
    return subprocess.run([program, "--version"], capture_output=True).returncode == 0


def kernel(version, packages):
    """The folder of a kernel, downloaded if need be."""
    folder = CACHE / version
    program = folder / "usr/bin/linux.uml"
    if (folder / "ready").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    packages.unpack("user-mode-linux", RELEASES[version], folder)
    if not starts(program):  # it was made for a later C library, which it then gets
        library, tools = folder / "libc", folder / "tools"
        packages.unpack("libc6", RELEASES[version], library)
        packages.unpack("patchelf", RELEASES["6.1"], tools)
        where = library / pathlib.Path(LOADER).parent
        patch = ("--set-interpreter", library / LOADER, "--set-rpath", where, program)
        run(tools / "usr/bin/patchelf", *patch)
    if not starts(program):
        raise Unavailable("the kernel of user mode does not start on this machine")
    (folder / "ready").touch()
    return folder


def check_machine():
    if platform.machine() != "x86_64":
        raise Unavailable(f"Debian packages no kernel of user mode for {platform.machine()}")
    for program in ("apt-get", "dpkg-deb", "java"):
        if not shutil.which(program):
            raise Unavailable(f"{program} is missing")
    if os.geteuid() != 0:
        raise Unavailable("the guest's root reads this machine's files as you do: be root")
    if re.search(r"\s", f"{REPO}{CACHE}"):
        raise Unavailable("a path has a blank, which the command line of a kernel cannot carry")


def memory_folder(work):
    """Where the guest's memory lies: in memory, if there is room."""
    shared = "/dev/shm"
    with contextlib.suppress(OSError):
        if shutil.disk_usage(shared).free > MEMORY_MB << 20:
            return shared
    return str(work)


def boot(folder, out, options):
    """The process of a guest, whose kernel is in the folder."""
    java = pathlib.Path(shutil.which("java")).resolve().parents[1]
    given = {
        "PGW_REPO": REPO,
        "PGW_KERNEL": folder,
        "PGW_OUT": out,
        "PGW_JAVA": java,
        "PGW_KILLS": options.kills,
        "PGW_ONLY": options.only,
    }
    command = [
        folder / "usr/bin/linux.uml",
        f"mem={MEMORY_MB}M",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
    ]
    command += [f"init={GUEST}", f"uml_dir={out}", "umid=guest", "con=null", "con0=null,fd:1"]
    libc = ctypes.CDLL(None)
    with open(out / "console", "wb") as console:
        return subprocess.Popen(
            [*command, *(f"{name}={value}" for name, value in given.items())],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": memory_folder(out)},
            start_new_session=True,
            preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
        )


def end(guest, out):
    """Kills what is left of a guest: the kernel, and the processes in which it runs the guest's programs."""
    mark = f"uml_dir={out}".encode()
    while True:
        left = []
        for entry in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and mark in (entry / "cmdline").read_bytes().split(b"\0"):
                    left.append(int(entry.name))
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not left:
            break
        time.sleep(0.1)
    guest.wait()


def check(version, folder, options):
    """Boots one kernel and prints its results as they come; True: all is well."""
    out = RESULTS / version
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    results = out / "results"
    results.touch()
    guest = boot(folder, out, options)
    lines, deadline = [], time.monotonic() + LIMIT_SECONDS
    try:
        with open(results) as file:
            ended = False
            while not ended:
                ended = guest.poll() is not None or time.monotonic() > deadline or "end" in lines
                for line in file:
                    lines.append(line.rstrip("\n"))
                    if lines[-1] != "end":
                        print(f"{version}: {lines[-1]}", flush=True)
                time.sleep(0 if ended else 0.5)
    finally:
        end(guest, out)
    if "end" not in lines:
        print(f"{version}: FAILED: the guest did not reach its end; see {out}/console", flush=True)
    return "end" in lines and not any(line.startswith("FAILED") for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=5, metavar="N")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="of the names of checks, as the shell has them")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    given = parser.parse_args()
    unknown = [version for version in given.kernels if version not in RELEASES]
    if unknown:
        parser.error(f"no kernel {unknown[0]}: give some of {', '.join(RELEASES)}")
    missing = [path for path in BUILT if not (REPO / path).exists()]
    if missing:
        parser.error(f"{missing[0]} is missing: use make old-kernels, which builds it")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    packages, failed, checked = Packages(), [], 0
    for version in given.kernels or RELEASES:
        try:
            check_machine()
            folder = kernel(version, packages)
        except Unavailable as reason:
            print(f"{version}: SKIPPED: {reason}", flush=True)
            continue
        checked += 1
        if not check(version, folder, given):
            failed.append(version)
    print(f"old kernels: {checked} checked, failed: {', '.join(failed) or 'none'}; outputs in {RESULTS}")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
