"""What random operations of every kind share: they are logged, counted, compared with a model for so many seconds."""

import collections
import json
import os
import random
import shutil
import threading
import time


class Stress:
    """Random operations below a directory. UFS is the same directory where Alluxio persists it."""

    def __init__(self, root, ufs, seed):
        self.root, self.ufs, self.seed = root, ufs, seed
        self.random = random.Random(seed)
        self.log = []
        self.counts = collections.Counter()

    def prepare(self):
        """Makes what is to be there at first; the directory itself is."""

    def step(self):
        """One operation on the files and on the model."""
        raise NotImplementedError

    def compare_all(self):
        """At the end, all that is there."""
        raise NotImplementedError

    def say(self, kind, what):
        self.counts[kind] += 1
        self.log.append(f"{kind} {what}")

    def check(self, right, what):
        if not right:
            raise AssertionError(what)


def look_around(root, over):
    """Others look at everything and read some of it; what they see is not judged, only what it does to the rest."""
    while not over.is_set():
        for folder, _, names in os.walk(root):
            for name in names:
                try:
                    os.stat(os.path.join(folder, name))
                    with open(os.path.join(folder, name), "rb") as content:
                        content.read(1000)
                except OSError:
                    time.sleep(0.01)
        over.wait(0.01)


def remove(root, ufs):
    """Files deleted while open leave their directory with the last close, which the kernel tells a moment later."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return shutil.rmtree(root)
        except OSError:
            if time.monotonic() > deadline:
                print("on the mount:", [*os.walk(root)], "in the under file system:", [*os.walk(ufs)])
                raise
            time.sleep(0.5)


def run(stress, seconds):
    """The status of the program; its last line counts the operations."""
    over = threading.Event()
    others = threading.Thread(target=look_around, args=(stress.root, over))
    try:
        os.mkdir(stress.root)
        stress.prepare()
        others.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            stress.step()
        stress.compare_all()
        over.set()
        others.join()
        remove(stress.root, stress.ufs)
    except (AssertionError, OSError) as failure:
        print(f"{failure}\nseed {stress.seed}, after {len(stress.log)} operations; the last ones:")
        print("\n".join(stress.log[-60:]))
        return 1
    finally:
        over.set()
        print(json.dumps(stress.counts))
    return 0
