#!/usr/bin/env python3
"""Runs one test again and again beside busy loops, two for each processor, until it fails.

    make flaky TEST=CachesIT                                    50 times a class of the Java parts
    make flaky TEST=CachesIT#name TIMES=200                     as often, one method
    make flaky TEST='go:./internal/keeper -run TestNotices'     a package of Go; what follows are flags of go test

KEEP_GOING=1 goes on after a failure; LOAD=0 does without the loops; ARGS=-Dpgw.… are properties of the JVM. Each run
is a process of its own, with a folder of its own for temporary files: what it leaves mounted there when it is ended is
taken down. The output and the reports of those that fail are kept below target/flaky.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = ("fuse-core", "alluxio-adapter")
LOOPS_PER_PROCESSOR = 2
# One that takes longer hangs: its threads are printed, and it counts as failed.
LIMIT_SECONDS = 1200
GRACE_SECONDS = 10
UNMOUNT_SECONDS = 60
# It ends with its parent, however that ends.
LOOP = "while kill -0 $PPID 2>/dev/null; do :; done"
POM = "{http://maven.apache.org/POM/4.0.0}"


def java_command(test, arguments):
    """(folder, command) of one run. Compiles, and asks Maven for the class path."""
    name, _, method = test.partition("#")
    pattern = name.replace(".", "/") + ".java"
    found = [(module, path) for module in MODULES for path in (ROOT / module / "src/test/java").rglob(f"**/{pattern}")]
    if len(found) != 1:
        raise SystemExit(
            f"{len(found)} classes are called {name}: give one as io.posixgateway.….{name.rpartition('.')[2]}"
        )
    module, path = found[0]
    name = ".".join(path.relative_to(ROOT / module / "src/test/java").with_suffix("").parts)
    maven = ["mvn", "-q", "--batch-mode", "-Dquick", "-Pflaky", "test-compile", "dependency:build-classpath"]
    subprocess.run([*maven, "-Dmdep.outputFile=target/flaky.classpath"], cwd=ROOT, check=True)
    target = ROOT / module / "target"
    classes = [str(target / "test-classes"), str(target / "classes"), (target / "flaky.classpath").read_text().strip()]
    select = f"--select-method={name}#{method}" if method else f"--select-class={name}"
    launch = ["org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner", "--disable-ansi-colors"]
    place = "-Djava.io.tmpdir={temporary}"
    command = ["java", *java_options(module), place, *arguments, "-cp", ":".join(classes), *launch]
    return ROOT / module, [*command, "--details=tree", "--reports-dir={reports}", select]


def java_options(module):
    """Those that Surefire gives its JVM, by the poms."""
    poms = [xml.etree.ElementTree.parse(ROOT / path).getroot() for path in (f"{module}/pom.xml", "pom.xml")]
    line = poms[1].find(f".//{POM}argLine").text

    def value(match):
        texts = [pom.findtext(f"{POM}properties/{POM}{match[1]}") for pom in poms]
        return next((text for text in texts if text), "")

    return shlex.split(re.sub(r"[$@]\{([^}]*)\}", value, line))


def go_command(test, arguments):
    package, *flags = shlex.split(test.removeprefix("go:"))
    program = ROOT / "target/flaky/go.test"
    subprocess.run(["go", "test", "-race", "-c", "-o", program, package], cwd=ROOT / "csi", check=True)
    flags = [re.sub(r"^-+", "-test.", flag) if flag.startswith("-") else flag for flag in flags]
    return ROOT / "csi" / package, [str(program), "-test.v", "-test.count=1", *flags, *arguments]


@contextlib.contextmanager
def busy(loops):
    running = [subprocess.Popen(["sh", "-c", LOOP], start_new_session=True) for _ in range(loops)]
    try:
        yield
    finally:
        for loop in running:
            loop.kill()
            loop.wait()


def run(folder, command, place):
    """One run; None if it passed, else why it did not."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    with temporary() as below, open(place / "output", "w") as output:
        command = [word.replace("{reports}", str(place)).replace("{temporary}", below) for word in command]
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "TMPDIR": below},
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            status = process.wait(LIMIT_SECONDS)
            return None if status == 0 else f"ended with {status}"
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGQUIT)  # Java and Go print their threads
            time.sleep(GRACE_SECONDS)
            return f"not over after {LIMIT_SECONDS} s"
        finally:
            end(process)


@contextlib.contextmanager
def temporary():
    """A folder for the temporary files of a run; its name is short, as those of sockets are that lie in it."""
    folder = tempfile.mkdtemp(prefix="flaky-")
    try:
        yield folder
    finally:
        take_down(folder)
        if not mounts(folder):
            shutil.rmtree(folder, ignore_errors=True)


def mounts(folder):
    """What is mounted below a folder, the innermost first; nothing is touched for that, as a dead mount may hang."""
    table = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    points = [line.split()[4].encode().decode("unicode_escape") for line in table]
    return sorted((point for point in points if point.startswith(f"{folder}/")), reverse=True)


def take_down(folder):
    """A mount whose server was killed answers nobody, and nobody else takes it away."""
    for point in mounts(folder):
        command = ["umount", "-l", point] if os.geteuid() == 0 else ["fusermount3", "-uz", point]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, timeout=UNMOUNT_SECONDS, check=False)
        print(f"    taken down: {point}", flush=True)


def end(process):
    """The process and all of its group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--keep-going", action="store_true")
    parser.add_argument("--loops", type=int, default=LOOPS_PER_PROCESSOR * os.cpu_count())
    parser.add_argument("test")
    options, arguments = parser.parse_known_args()
    if not options.test.strip():
        print(__doc__)
        return 2
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    kept = ROOT / "target/flaky" / re.sub(r"[^\w#.-]+", "_", options.test)
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    find = go_command if options.test.startswith("go:") else java_command
    folder, command = find(options.test, arguments)
    return repeat(options, folder, command, kept)


def leave(number, _):
    """Ends what runs, once: who sends a second signal does not get a mount left behind."""
    for other in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


def repeat(options, folder, command, kept):
    failed = 0
    with busy(options.loops):
        print(f"==> {options.test}, {options.times} times, beside {options.loops} busy loops", flush=True)
        for number in range(1, options.times + 1):
            begin, place = time.monotonic(), kept / str(number)
            why = run(folder, command, place)
            took = time.monotonic() - begin
            print(f"{number} of {options.times}: {why or 'passed'}, {took:.1f} s", flush=True)
            if why is None:
                shutil.rmtree(place)
                continue
            failed += 1
            print(f"    kept: {place.relative_to(ROOT)}/output", flush=True)
            if not options.keep_going:
                break
    print(f"{number - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
