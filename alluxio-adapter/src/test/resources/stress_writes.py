"""Random operations on open files, each compared with a model, for so many seconds.

    python3 stress_writes.py DIRECTORY UFS SEED SECONDS

The directory is made, and removed when all went well. UFS is the same directory where Alluxio persists it: when all
files are closed, it must hold the same. A difference is printed with the seed, and the status is 1.
"""

import mmap
import os
import stat
import sys
import time

from stress_run import Stress, run

MOST_OPEN = 12
MAX_BYTES = 400_000
FOLDERS = 3
NAMES = 8


class Open:
    """A descriptor and what it may do; the node is the model's content, which may have lost its name."""

    def __init__(self, descriptor, node, flags):
        self.descriptor = descriptor
        self.node = node
        self.reads = flags & os.O_ACCMODE != os.O_WRONLY
        self.writes = flags & os.O_ACCMODE != os.O_RDONLY
        self.appends = flags & os.O_APPEND != 0


class Node:
    def __init__(self):
        self.content = bytearray()
        self.mode = 0o644


class Writes(Stress):
    def __init__(self, root, ufs, seed):
        super().__init__(root, ufs, seed)
        self.folders = [{} for _ in range(FOLDERS)]
        self.names = [f"d{i}" for i in range(FOLDERS)]
        self.opened = []

    def prepare(self):
        for name in self.names:
            os.mkdir(os.path.join(self.root, name))

    def path(self, folder, name, root=None):
        return os.path.join(root or self.root, self.names[folder], name)

    def some(self):
        """A folder, a name, and the node there or None."""
        folder, name = self.random.randrange(FOLDERS), f"n{self.random.randrange(NAMES)}"
        return folder, name, self.folders[folder].get(name)

    def some_open(self, wanted):
        fitting = [handle for handle in self.opened if wanted(handle)]
        return self.random.choice(fitting) if fitting else None

    def step(self):
        self.random.choice(
            [self.open] * 4
            + [self.write] * 8
            + [self.read] * 5
            + [self.close] * 3
            + [self.truncate, self.fsync, self.look, self.look, self.rename, self.unlink]
            + [self.truncate_closed, self.chmod, self.list, self.rename_folder, self.map, self.replace]
            + [self.write_beside]
        )()

    def open(self):
        if len(self.opened) >= MOST_OPEN:
            return self.close()
        folder, name, node = self.some()
        flags = self.random.choice([os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_APPEND])
        flags |= self.random.choice([0, 0, os.O_TRUNC]) if flags & os.O_ACCMODE else 0
        flags |= os.O_CREAT if node is None else 0
        flags |= self.random.choice([0, os.O_EXCL]) if node is None else 0
        self.say("open", f"{folder}/{name} flags {flags:o}")
        descriptor = os.open(self.path(folder, name), flags, 0o644)
        if node is None:
            node = self.folders[folder][name] = Node()
        elif flags & os.O_TRUNC:
            del node.content[:]
        self.opened.append(Open(descriptor, node, flags))

    def write(self):
        handle = self.some_open(lambda one: one.writes)
        if handle is None:
            return self.open()
        content = handle.node.content
        data = self.random.randbytes(self.random.choice([1, 100, 4096, 70_000]))
        at = len(content) if handle.appends or self.random.random() < 0.6 else self.random.randrange(MAX_BYTES)
        if at + len(data) > MAX_BYTES:
            at = self.random.randrange(1000)
        if handle.appends:
            at = len(content)
        self.say("write", f"{handle.descriptor} at {at} {len(data)}")
        self.check(os.pwrite(handle.descriptor, data, at) == len(data), "short write")
        self.put(handle.node, at, data)

    @staticmethod
    def put(node, at, data):
        node.content.extend(bytes(max(0, at - len(node.content))))
        node.content[at : at + len(data)] = data

    def write_beside(self):
        """Changes a file that has a reader."""
        readers = [handle.node for handle in self.opened if not handle.writes]
        found = [(folder, name) for folder in range(FOLDERS) for name in self.folders[folder]]
        read = [(folder, name) for folder, name in found if self.folders[folder][name] in readers]
        if not read:
            return
        folder, name = self.random.choice(read)
        at, data = self.random.randrange(1000), self.random.randbytes(5000)
        self.say("write-beside", f"{folder}/{name} at {at} {len(data)}")
        descriptor = os.open(self.path(folder, name), os.O_WRONLY)
        self.check(os.pwrite(descriptor, data, at) == len(data), "short write")
        os.close(descriptor)
        self.put(self.folders[folder][name], at, data)

    def read(self):
        handle = self.some_open(lambda one: one.reads)
        if handle is None:
            return self.open()
        at = self.random.choice([0, self.random.randrange(MAX_BYTES)])
        count = self.random.choice([10, 5000, MAX_BYTES])
        self.say("read", f"{handle.descriptor} at {at} {count}")
        found = os.pread(handle.descriptor, count, at)
        wanted = bytes(handle.node.content[at : at + count])
        if found != wanted:
            self.check(False, self.difference(handle, at, found, wanted))

    def difference(self, handle, at, found, wanted):
        """Where bytes that were read differ from the model's, and what others see there."""
        differing = [i for i in range(min(len(found), len(wanted))) if found[i] != wanted[i]]
        first, last = (at + differing[0], at + differing[-1]) if differing else (None, None)
        told = [
            f"{len(found)} bytes at {at} differ from the model's {len(wanted)} of {len(handle.node.content)}",
            f"from {first} to {last}, {len(differing)} of them, {sum(found[i] == 0 for i in differing)} are 0",
            f"now {os.fstat(handle.descriptor).st_size} bytes",
            self.compared("read again", os.pread(handle.descriptor, len(wanted), at), found, wanted),
        ]
        for folder, nodes in enumerate(self.folders):
            for name in nodes:
                if nodes[name] is handle.node:
                    for root in (self.root, self.ufs):
                        path = self.path(folder, name, root)
                        try:
                            flags = os.O_RDONLY | (os.O_DIRECT if root == self.root else 0)
                            other = os.open(path, flags)
                            told.append(self.compared(path, os.pread(other, len(wanted), at), found, wanted))
                            os.close(other)
                        except OSError as failure:
                            told.append(str(failure))
        return "; ".join(told)

    @staticmethod
    def compared(what, seen, found, wanted):
        if seen == wanted:
            return f"{what}: as the model"
        return f"{what}: {'the same' if seen == found else 'something else'}, {len(seen)} bytes"

    def map(self):
        """Changes a page through a shared mapping."""
        handle = self.some_open(lambda one: one.reads and one.writes and not one.appends and one.node.content)
        if handle is None:
            return
        at, byte = self.random.randrange(len(handle.node.content)), self.random.randrange(256)
        self.say("map", f"{handle.descriptor} at {at}")
        with mmap.mmap(handle.descriptor, len(handle.node.content)) as mapped:
            self.check(mapped[at] == handle.node.content[at], "a mapped byte differs")
            mapped[at] = byte
            mapped.flush()
        handle.node.content[at] = byte

    def close(self):
        if not self.opened:
            return
        handle = self.opened.pop(self.random.randrange(len(self.opened)))
        self.say("close", f"{handle.descriptor}")
        os.close(handle.descriptor)

    def truncate(self):
        handle = self.some_open(lambda one: one.writes)
        if handle is not None:
            size = self.random.choice([0, self.random.randrange(MAX_BYTES)])
            self.say("ftruncate", f"{handle.descriptor} {size}")
            os.ftruncate(handle.descriptor, size)
            self.cut(handle.node, size)

    def truncate_closed(self):
        folder, name, node = self.some()
        if node is not None:
            size = self.random.randrange(MAX_BYTES)
            self.say("truncate", f"{folder}/{name} {size}")
            os.truncate(self.path(folder, name), size)
            self.cut(node, size)

    @staticmethod
    def cut(node, size):
        del node.content[size:]
        node.content.extend(bytes(size - len(node.content)))

    def fsync(self):
        handle = self.some_open(lambda one: one.writes)
        if handle is not None:
            self.say("fsync", f"{handle.descriptor}")
            os.fsync(handle.descriptor)

    def look(self):
        folder, name, node = self.some()
        self.say("look", f"{folder}/{name}")
        path = self.path(folder, name)
        self.check(os.path.exists(path) == (node is not None), f"{path} is there: {node is None}")
        if node is not None:
            about = os.stat(path)
            if about.st_size != len(node.content):
                self.check(
                    False,
                    f"{about.st_size} bytes, not {len(node.content)}; {self.about(folder, [name])}; "
                    f"open {[handle.descriptor for handle in self.opened if handle.node is node]}",
                )
            self.check(stat.S_IMODE(about.st_mode) == node.mode, f"mode {about.st_mode:o}, not {node.mode:o}")
            with open(path, "rb") as file:
                self.check(file.read() == node.content, f"{path} differs")

    def chmod(self):
        folder, name, node = self.some()
        if node is not None:
            node.mode = self.random.choice([0o600, 0o640, 0o644, 0o755, 0o2755])
            self.say("chmod", f"{folder}/{name} {node.mode:o}")
            os.chmod(self.path(folder, name), node.mode)

    def rename(self):
        folder, name, node = self.some()
        to_folder, to_name, _ = self.some()
        if node is not None:
            self.say("rename", f"{folder}/{name} {to_folder}/{to_name}")
            os.rename(self.path(folder, name), self.path(to_folder, to_name))
            del self.folders[folder][name]
            self.folders[to_folder][to_name] = node

    def rename_folder(self):
        folder = self.random.randrange(FOLDERS)
        renamed = f"d{self.random.randrange(1_000_000)}"
        self.say("rename-folder", f"{folder} to {renamed}")
        os.rename(os.path.join(self.root, self.names[folder]), os.path.join(self.root, renamed))
        self.names[folder] = renamed

    def replace(self):
        """A checkpoint: a temporary file, synced, over the old one."""
        folder, name, _ = self.some()
        node = Node()
        node.content.extend(self.random.randbytes(self.random.randrange(MAX_BYTES)))
        temporary = self.path(folder, "temporary")
        self.say("replace", f"{folder}/{name} by {len(node.content)} bytes")
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(node.content)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, self.path(folder, name))
        self.folders[folder][name] = node

    def unlink(self):
        folder, name, node = self.some()
        if node is not None:
            self.say("unlink", f"{folder}/{name}")
            os.unlink(self.path(folder, name))
            del self.folders[folder][name]

    def list(self):
        folder = self.random.randrange(FOLDERS)
        self.say("list", f"{folder}")
        path, wanted = os.path.join(self.root, self.names[folder]), sorted(self.folders[folder])
        found = sorted(os.listdir(path))
        if found != wanted:
            self.check(False, f"{found} instead of {wanted}; {self.about(folder, set(found) ^ set(wanted))}")

    def about(self, folder, names):
        """What can be seen of names that are there, or are not, against all expectation."""
        told = [f"listed once more: {sorted(os.listdir(os.path.join(self.root, self.names[folder])))}"]
        for name in sorted(names):
            for root in (self.root, self.ufs):
                try:
                    told.append(f"{self.path(folder, name, root)}: {os.stat(self.path(folder, name, root))}")
                except OSError as failure:
                    told.append(str(failure))
        return ", ".join(told)

    def compare_all(self):
        while self.opened:
            self.close()
        self.compare(self.root)
        # What was never written is published by the last close, which is heard of late.
        deadline = time.monotonic() + 60
        while True:
            try:
                return self.compare(self.ufs)
            except (AssertionError, OSError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def compare(self, root):
        for folder, nodes in enumerate(self.folders):
            for name, node in nodes.items():
                with open(self.path(folder, name, root), "rb") as file:
                    self.check(file.read() == node.content, f"at the end, {self.path(folder, name, root)} differs")


if __name__ == "__main__":
    sys.exit(run(Writes(sys.argv[1], sys.argv[2], int(sys.argv[3])), float(sys.argv[4])))
