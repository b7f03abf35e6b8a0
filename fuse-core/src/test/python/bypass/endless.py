"""Reads the same files over and over, some of them kept open, until a line comes; every byte is checked.

python3 endless.py fill FOLDER
python3 endless.py read FOLDER
"""

import os
import random
import select
import sys

import reads


def fill(folder):
    for name in reads.FILES:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(reads.content(name))


def read(folder):
    """Three processes; each says how it went."""
    children = []
    for number in range(3):
        child = os.fork()
        if child == 0:
            rounds(folder, random.Random(number))
            os._exit(0)
        children.append(child)
    sys.exit(max(os.waitpid(child, 0)[1] for child in children) != 0)


def rounds(folder, places):
    contents = {name: reads.content(name) for name in reads.FILES}
    kept = {name: os.open(os.path.join(folder, name), os.O_RDONLY) for name in reads.FILES}
    done = 0
    while not select.select([sys.stdin], [], [], 0.002)[0]:
        for name, data in contents.items():
            fd = os.open(os.path.join(folder, name), os.O_RDONLY)
            at, length = places.randrange(len(data)), places.randrange(300_000)
            for one in (fd, kept[name]):
                assert os.pread(one, length, at) == data[at : at + length], "wrong bytes"
                assert os.fstat(one).st_size == len(data)
            assert os.read(fd, length) == data[:length], "wrong bytes"
            os.close(fd)
        done += 1
    print(done, "rounds without a fault", flush=True)


if __name__ == "__main__":
    {"fill": fill, "read": read}[sys.argv[1]](sys.argv[2])
