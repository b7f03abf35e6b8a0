"""Random operations in a directory, each compared with a model of what a POSIX file system does.

    python3 stress.py DIRECTORY SEED OPERATIONS

The directory is made, and removed when all went well. A difference is printed with the seed, and the status is 1.
"""

import errno
import os
import random
import shutil
import sys

MAX_BYTES = 300_000


class Model:
    """The tree as it must be: a file is a list of its one bytearray, so that hard links share it; a folder a dict."""

    def __init__(self, generator):
        self.tree = {}
        self.random = generator

    def folders(self):
        """Every folder's path, as a tuple of names, with its dict."""
        found, todo = [], [((), self.tree)]
        while todo:
            path, folder = todo.pop()
            found.append((path, folder))
            todo += [(path + (name,), node) for name, node in folder.items() if isinstance(node, dict)]
        return found

    def some_folder(self):
        return self.random.choice(self.folders())

    def some_name(self, folder, existing):
        if existing and folder and self.random.random() < 0.9:
            return self.random.choice(sorted(folder))
        return f"n{self.random.randrange(12)}"


class Stress:
    """Does each operation on the file system and on the model, and compares."""

    def __init__(self, root, seed):
        self.root = root
        self.random = random.Random(seed)
        self.model = Model(self.random)
        self.log = []

    def path(self, folder, name=None):
        return os.path.join(self.root, *folder, *([name] if name else []))

    def expect(self, what, wanted, function, *arguments):
        """Runs it and compares the error with the one wanted (0: none)."""
        self.log.append(what)
        try:
            result, number = function(*arguments), 0
        except OSError as error:
            result, number = None, error.errno
        if number != wanted:
            codes = [errno.errorcode.get(code, "success") for code in (number, wanted)]
            raise AssertionError(f"{what}: {codes[0]} instead of {codes[1]}")
        return result

    def step(self):
        self.random.choice(
            [
                self.write,
                self.write,
                self.write,
                self.read,
                self.read,
                self.truncate,
                self.mkdir,
                self.remove,
                self.rename,
                self.link,
                self.list,
            ]
        )()

    def write(self):
        path, folder = self.model.some_folder()
        name = self.model.some_name(folder, self.random.random() < 0.7)
        node = folder.get(name)
        at, count = self.random.randrange(MAX_BYTES // 2), self.random.randrange(1, MAX_BYTES // 2)
        data = self.random.randbytes(count)
        if isinstance(node, dict):
            self.expect(f"write {path} {name}", errno.EISDIR, self.put, self.path(path, name), at, data)
            return
        self.expect(f"write {path} {name} at {at} {count}", 0, self.put, self.path(path, name), at, data)
        node = folder.setdefault(name, [bytearray()])
        content = node[0]
        content.extend(bytes(max(0, at - len(content))))
        content[at : at + count] = data

    @staticmethod
    def put(path, at, data):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            os.pwrite(descriptor, data, at)
        finally:
            os.close(descriptor)

    def read(self):
        path, folder = self.model.some_folder()
        name = self.model.some_name(folder, True)
        node = folder.get(name)
        wanted = errno.ENOENT if node is None else errno.EISDIR if isinstance(node, dict) else 0
        data = self.expect(f"read {path} {name}", wanted, self.get, self.path(path, name))
        if wanted == 0 and data != node[0]:
            raise AssertionError(f"read {path} {name}: {len(data)} bytes differ from the model's {len(node[0])}")

    @staticmethod
    def get(path):
        with open(path, "rb") as file:
            return file.read()

    def truncate(self):
        path, folder = self.model.some_folder()
        name = self.model.some_name(folder, True)
        node, size = folder.get(name), self.random.randrange(MAX_BYTES)
        wanted = errno.ENOENT if node is None else errno.EISDIR if isinstance(node, dict) else 0
        self.expect(f"truncate {path} {name} {size}", wanted, os.truncate, self.path(path, name), size)
        if wanted == 0:
            content = node[0]
            del content[size:]
            content.extend(bytes(size - len(content)))

    def mkdir(self):
        path, folder = self.model.some_folder()
        name = self.model.some_name(folder, self.random.random() < 0.2)
        wanted = errno.EEXIST if name in folder else 0
        if wanted == 0 and len(path) >= 4:
            return
        self.expect(f"mkdir {path} {name}", wanted, os.mkdir, self.path(path, name))
        folder.setdefault(name, {})

    def remove(self):
        path, folder = self.model.some_folder()
        name = self.model.some_name(folder, True)
        node = folder.get(name)
        if isinstance(node, dict):
            wanted = errno.ENOTEMPTY if node else 0
            self.expect(f"rmdir {path} {name}", wanted, os.rmdir, self.path(path, name))
        else:
            wanted = errno.ENOENT if node is None else 0
            self.expect(f"unlink {path} {name}", wanted, os.unlink, self.path(path, name))
        if wanted == 0:
            del folder[name]

    def rename(self):
        path, folder = self.model.some_folder()
        to_path, to_folder = self.model.some_folder()
        name, to_name = self.model.some_name(folder, True), self.model.some_name(to_folder, False)
        node, there = folder.get(name), to_folder.get(to_name)
        moves_below_itself = (to_path + (to_name,))[: len(path) + 1] == path + (name,)
        replaces_what_it_is_in = (path + (name,))[: len(to_path) + 1] == to_path + (to_name,)
        if node is None or moves_below_itself or replaces_what_it_is_in:
            return
        wanted = self.rename_error(node, there)
        self.expect(
            f"rename {path} {name} {to_path} {to_name}",
            wanted,
            os.rename,
            self.path(path, name),
            self.path(to_path, to_name),
        )
        if wanted == 0 and node is not there:
            del folder[name]
            to_folder[to_name] = node

    @staticmethod
    def rename_error(node, there):
        if there is None:
            return 0
        if isinstance(node, dict) != isinstance(there, dict):
            return errno.ENOTDIR if isinstance(node, dict) else errno.EISDIR
        return errno.ENOTEMPTY if isinstance(there, dict) and there else 0

    def link(self):
        path, folder = self.model.some_folder()
        to_path, to_folder = self.model.some_folder()
        name, to_name = self.model.some_name(folder, True), self.model.some_name(to_folder, False)
        node = folder.get(name)
        if node is None or isinstance(node, dict):
            return
        wanted = errno.EEXIST if to_name in to_folder else 0
        self.expect(
            f"link {path} {name} {to_path} {to_name}",
            wanted,
            os.link,
            self.path(path, name),
            self.path(to_path, to_name),
        )
        to_folder.setdefault(to_name, node)

    def list(self):
        path, folder = self.model.some_folder()
        found = sorted(os.listdir(self.path(path)))
        if found != sorted(folder):
            raise AssertionError(f"list {path}: {found} instead of {sorted(folder)}")

    def compare_all(self):
        """The whole tree, by name, size, link count and content."""
        for path, folder in self.model.folders():
            found = sorted(os.listdir(self.path(path)))
            if found != sorted(folder):
                raise AssertionError(f"at the end, {path}: {found} instead of {sorted(folder)}")
            for name, node in folder.items():
                if not isinstance(node, dict) and self.get(self.path(path, name)) != node[0]:
                    raise AssertionError(f"at the end, {path} {name}: content differs")


def main(root, seed, operations):
    os.mkdir(root)
    stress = Stress(root, seed)
    try:
        for _ in range(operations):
            stress.step()
        stress.compare_all()
    except (AssertionError, OSError) as failure:
        print(f"{failure}\nseed {seed}, after {len(stress.log)} operations; the last ones:")
        print("\n".join(stress.log[-15:]))
        return 1
    shutil.rmtree(root)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
