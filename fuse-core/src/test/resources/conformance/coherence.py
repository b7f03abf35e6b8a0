"""Several processes change and read the same files in every way, and each sees what the others did.

python3 coherence.py DIRECTORY SEED SECONDS [PROCESSES]: of each file there is a model outside of DIRECTORY, changed
together with it, under a lock of the model. Who reads holds the lock with the others who read. Descriptors and mappings
stay open over that, and are opened without the lock. The status is 1 at a difference, which is printed with the last
operations; the last line counts them.
"""

import collections
import fcntl
import json
import mmap
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
import traceback

SIZES = [1 << 10, 4 << 10, 9_000, 64 << 10, 130_000, 1 << 20, 3_000_000, 8 << 20, 20 << 20, 40 << 20]
PAGE = mmap.PAGESIZE
MOST = 256 << 10
KEPT = 60


class File:
    """One of the files: the model, and what this process has open of it."""

    def __init__(self, path, model, most):
        self.path, self.most = path, most
        self.model = os.open(model, os.O_RDWR)
        self.opened = {}
        self.mapped = None

    def size(self):
        return os.fstat(self.model).st_size

    def descriptor(self, flags):
        """Stays open for the next time."""
        if flags not in self.opened:
            self.opened[flags] = os.open(self.path, flags)
        return self.opened[flags]

    def close(self, flags):
        descriptor = self.opened.pop(flags, None)
        if descriptor is not None:
            os.close(descriptor)

    def unmap(self):
        if self.mapped is not None:
            self.mapped.close()
            self.mapped = None


class Worker:
    """The operations of one process."""

    def __init__(self, root, models, seed):
        self.random = random.Random(seed)
        self.files = [
            File(os.path.join(root, f"f{i}"), os.path.join(models, f"f{i}"), SIZES[i]) for i in range(len(SIZES))
        ]
        self.counts = collections.Counter()
        self.log = collections.deque(maxlen=KEPT)
        self.changes = [
            self.write,
            self.write,
            self.append,
            self.append,
            self.cut,
            self.cut_by_name,
            self.map_write,
            self.sync,
        ]
        self.looks = [self.read, self.read, self.read_anew, self.look, self.map_read, self.map_anew, self.read_to_end]

    def step(self):
        file = self.some_file()
        if self.random.random() < 0.15:
            return self.open_or_close(file)
        changes = self.random.random() < 0.4
        work = self.random.choice(self.changes if changes else self.looks)
        fcntl.flock(file.model, fcntl.LOCK_EX if changes else fcntl.LOCK_SH)
        try:
            return work(file)
        finally:
            fcntl.flock(file.model, fcntl.LOCK_UN)

    def some_file(self):
        """Small ones more often: they take less time."""
        return self.files[min(self.random.randrange(len(self.files)), self.random.randrange(len(self.files)))]

    def say(self, kind, file, what=""):
        self.counts[kind] += 1
        self.log.append(f"{time.monotonic():.6f} {kind} {os.path.basename(file.path)} {what}")

    def check(self, right, what):
        if not right:
            raise AssertionError(what)

    def range(self, file):
        """A part of the file that is there, or begins there."""
        size = file.size()
        at = self.random.choice([0, max(0, size - self.random.randrange(1, 5000)), self.random.randrange(size + 1)])
        return at, self.random.choice([1, self.random.randrange(1, 9000), self.random.randrange(1, MOST)])

    def compare(self, file, at, count, seen, how):
        wanted = os.pread(file.model, count, at)
        if seen == wanted:
            return
        differ = [i for i in range(min(len(seen), len(wanted))) if seen[i] != wanted[i]]
        first, last = (at + differ[0], at + differ[-1]) if differ else (None, None)
        again = os.open(file.path, os.O_RDONLY)
        anew = os.pread(again, count, at) == wanted
        straight = self.straight(file, at, count) == wanted
        self.check(
            False,
            f"{how} of {file.path} at {at}: {len(seen)} bytes, not {len(wanted)}; {len(differ)} differ,"
            f" from {first} to {last}, {sum(seen[i] == 0 for i in differ)} are 0;"
            f" the file has {file.size()}, fstat says {os.fstat(again).st_size};"
            f" read anew {'right' if anew else 'wrong'}, past the page cache {'right' if straight else 'wrong'}",
        )

    @staticmethod
    def straight(file, at, count):
        descriptor = os.open(file.path, os.O_RDONLY | os.O_DIRECT)
        try:
            return os.pread(descriptor, count, at)
        finally:
            os.close(descriptor)

    def open_or_close(self, file):
        """Without the lock: others may change it at this moment."""
        flags = self.random.choice([os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND])
        if flags in file.opened:
            self.say("close", file, flags)
            file.close(flags)
        else:
            self.say("open", file, flags)
            file.descriptor(flags)

    def write(self, file):
        at, count = self.range(file)
        data = self.random.randbytes(min(count, file.most - at))
        self.say("write", file, f"{len(data)} at {at}")
        self.check(os.pwrite(file.descriptor(os.O_RDWR), data, at) == len(data), "a short write")
        os.pwrite(file.model, data, at)

    def append(self, file):
        count = self.random.choice([1, self.random.randrange(1, 9000), self.random.randrange(1, MOST)])
        data, size = self.random.randbytes(count), file.size()
        if size + count > file.most:
            return self.cut(file)
        self.say("append", file, f"{count} at {size}")
        self.check(os.write(file.descriptor(os.O_WRONLY | os.O_APPEND), data) == count, "a short write")
        return os.pwrite(file.model, data, size)

    def cut_to(self, file):
        size = file.size()
        return self.random.choice(
            [0, size // 2, max(0, size - self.random.randrange(9000)), min(file.most, size + 5000)]
        )

    def cut(self, file):
        size = self.cut_to(file)
        self.say("ftruncate", file, f"{file.size()} to {size}")
        os.ftruncate(file.descriptor(os.O_RDWR), size)
        os.ftruncate(file.model, size)

    def cut_by_name(self, file):
        size = self.cut_to(file)
        self.say("truncate", file, f"{file.size()} to {size}")
        if size == 0 and self.random.random() < 0.5:
            os.close(os.open(file.path, os.O_WRONLY | os.O_TRUNC))
        else:
            os.truncate(file.path, size)
        os.ftruncate(file.model, size)

    def sync(self, file):
        self.say("fsync", file)
        os.fsync(file.descriptor(self.random.choice([os.O_RDONLY, os.O_RDWR])))

    def map_write(self, file):
        size = file.size()
        if size == 0:
            return self.append(file)
        at = self.random.randrange(size)
        data = self.random.randbytes(min(size - at, self.random.randrange(1, 9000)))
        self.say("map-write", file, f"{len(data)} at {at}")
        start = at - at % PAGE
        with mmap.mmap(file.descriptor(os.O_RDWR), at + len(data) - start, offset=start) as mapped:
            mapped[at - start :] = data
            if self.random.random() < 0.5:
                mapped.flush()
        return os.pwrite(file.model, data, at)

    def read(self, file):
        at, count = self.range(file)
        flags = self.random.choice([os.O_RDONLY, os.O_RDWR])
        self.say("read", file, f"{count} at {at} by {flags}")
        self.compare(file, at, count, os.pread(file.descriptor(flags), count, at), "read")

    def read_anew(self, file):
        file.close(os.O_RDONLY)
        self.read(file)

    def read_to_end(self, file):
        at = self.range(file)[0] if file.size() > MOST else 0
        self.say("read-to-end", file, f"from {at}")
        self.compare(file, at, MOST, os.pread(file.descriptor(os.O_RDONLY), MOST, at), "read to the end")

    def look(self, file):
        self.say("stat", file)
        sizes = [os.stat(file.path).st_size, os.fstat(file.descriptor(os.O_RDONLY)).st_size]
        self.check(sizes == [file.size()] * 2, f"stat and fstat of {file.path} say {sizes}, not {file.size()}")

    def map_read(self, file):
        """By a mapping that was made some time ago. What is behind the end of the file is not touched."""
        size = file.size()
        if size == 0:
            return
        if file.mapped is None or self.random.random() < 0.1:
            file.unmap()
            file.mapped = mmap.mmap(file.descriptor(os.O_RDONLY), size, prot=mmap.PROT_READ)
        at, count = self.range(file)
        there = min(size, len(file.mapped))
        self.say("map-read", file, f"{count} at {at} of {there}")
        if at < there:
            count = min(count, there - at)
            self.compare(file, at, count, file.mapped[at : at + count], "reading a mapping")

    def map_anew(self, file):
        size = file.size()
        if size == 0:
            return
        at, count = self.range(file)
        at = min(at, size - 1)
        count, start = min(count, size - at), at - at % PAGE
        self.say("map-anew", file, f"{count} at {at}")
        kind = self.random.choice([mmap.MAP_SHARED, mmap.MAP_PRIVATE])
        descriptor = file.descriptor(os.O_RDONLY)
        with mmap.mmap(descriptor, at + count - start, flags=kind, prot=mmap.PROT_READ, offset=start) as mapped:
            self.compare(file, at, count, mapped[at - start :], "reading a new mapping")

    def end(self):
        for file in self.files:
            file.unmap()
            for flags in list(file.opened):
                file.close(flags)


def work(root, models, seed, seconds, results):
    """One process."""
    worker = Worker(root, models, seed)
    end = time.monotonic() + seconds
    failure = None
    try:
        while time.monotonic() < end:
            worker.step()
        worker.end()
    except (AssertionError, OSError) as reason:
        failure = f"{reason}\nseed {seed}, after {sum(worker.counts.values())} operations; the last ones:\n"
        failure += "\n".join(worker.log) + "\n" + traceback.format_exc()
    results.put((failure, dict(worker.counts)))


def main():
    root, seed, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    processes = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    models = tempfile.mkdtemp(prefix="coherence-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    counts, failures = collections.Counter(), []
    try:
        generator = random.Random(seed)
        for i, most in enumerate(SIZES):
            content = generator.randbytes(most // 2)
            for folder in (root, models):
                with open(os.path.join(folder, f"f{i}"), "wb") as file:
                    file.write(content)
        results = multiprocessing.Queue()
        running = [
            multiprocessing.Process(target=work, args=(root, models, seed + 1 + i, seconds, results))
            for i in range(processes)
        ]
        for process in running:
            process.start()
        for process in running:
            process.join()
            if process.exitcode != 0:
                failures.append(f"a process ended with {process.exitcode}")
        while not results.empty():
            failure, done = results.get()
            counts.update(done)
            failures += [failure] if failure else []
        for i in range(len(SIZES)):
            with open(os.path.join(root, f"f{i}"), "rb") as file, open(os.path.join(models, f"f{i}"), "rb") as model:
                if file.read() != model.read():
                    failures.append(f"at the end f{i} differs")
            os.unlink(os.path.join(root, f"f{i}"))
    finally:
        shutil.rmtree(models)
    print("\n".join(failures))
    print(json.dumps(counts))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
