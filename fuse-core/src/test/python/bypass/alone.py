"""Runs reads.py with and without the bypass library, over files of a tmpfs and the gateway of gateway.py, and compares.

    python3 alone.py LIBRARY THREADS

THREADS is the program made of threads.c, which runs for a few seconds.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import reads

HERE = os.path.dirname(os.path.abspath(__file__))
BLOCK_BYTES = 1 << 20
# What a program begins with: how many descriptors its table has room for, how many it may have.
BEGINNING = """
import resource
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("FDSize")))
print(resource.getrlimit(resource.RLIMIT_NOFILE))
"""
OWN_NUMBERS_END = 12288


def prepare(folder):
    os.mkdir(os.path.join(folder, "blocks"))
    for name in reads.FILES:
        data = reads.content(name)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
        for number, at in enumerate(range(0, len(data), BLOCK_BYTES)):
            with open(os.path.join(folder, "blocks", f"{name}.{number}"), "wb") as file:
                file.write(data[at : at + BLOCK_BYTES])


def run(words, **environment):
    done = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=100)
    if done.returncode != 0:
        raise SystemExit(f"{words} with {environment}: ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout.splitlines()


def check_beginning(preload):
    """The table has room for the library's descriptors before there are threads, and the limit is what it was."""
    words = [sys.executable, "-c", BEGINNING]
    (_, plain), (room, limit) = run(words), run(words, **preload)
    if limit != plain or int(room) < min(OWN_NUMBERS_END, resource.getrlimit(resource.RLIMIT_NOFILE)[1]):
        raise SystemExit(f"a program begins with room for {room} descriptors and may have {limit}, not {plain}")


def main(library, threads):
    folder = tempfile.mkdtemp(dir="/dev/shm")
    path = os.path.join(folder, "blocks", "socket")
    words = [sys.executable, os.path.join(HERE, "reads.py"), folder]
    preload = {"LD_PRELOAD": os.path.abspath(library), "POSIX_GATEWAY_BYPASS": path}
    try:
        prepare(folder)
        check_beginning(preload)
        plain = run(words)
        serve = [sys.executable, os.path.join(HERE, "gateway.py"), folder, path]
        with open(os.path.join(folder, "blocks", "answers"), "w+") as answers:
            with subprocess.Popen(serve, stdout=answers) as gateway:
                try:
                    while not os.path.exists(path) and gateway.poll() is None:
                        time.sleep(0.01)
                    bypassed = run(words, **preload)
                    run([threads, folder, "3"], **preload)
                finally:
                    gateway.terminate()
            answers.seek(0)
            answered = answers.read()
        wrong = [f"  {a}\nbut {b}" for a, b in zip(plain, bypassed, strict=True) if a != b]
        if wrong:
            raise SystemExit("not the same with the library:\n" + "\n".join(wrong))
        counts = {letter: answered.count(letter) for letter in "gsnd"}
        if counts["g"] < 100 or counts["s"] < 100:
            raise SystemExit(f"the library was not used: {counts}")
        print(f"bypass library: {len(plain)} cases are the same, {counts['g'] + counts['s']} files bypassed")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
