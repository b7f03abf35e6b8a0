"""Random operations on names: directories, links, attributes, modes; each compared with a model, for so many seconds.

    python3 stress_names.py DIRECTORY UFS SEED SECONDS

The directory is made, and removed when all went well. A difference is printed with the seed, and the status is 1.
"""

import errno
import os
import stat
import sys

from stress_run import Stress, run

DEEPEST = 4
NAMES = 10
ATTRIBUTES = 3
FILE, LINK, FOLDER = "file", "link", "folder"
KINDS = {stat.S_IFREG: FILE, stat.S_IFLNK: LINK, stat.S_IFDIR: FOLDER}


class Node:
    """A file, empty; a link and where it leads; or a folder and what is in it."""

    def __init__(self, kind, target=""):
        self.kind = kind
        self.target = target
        self.children = {}
        self.mode = 0o755 if kind == FOLDER else 0o644
        self.attributes = {}


class Names(Stress):
    def __init__(self, root, ufs, seed):
        super().__init__(root, ufs, seed)
        self.tree = Node(FOLDER)

    def path(self, folder, name=""):
        return os.path.join(self.root, *folder, name)

    def some_folder(self):
        """Any folder's path, as a tuple of names, and its node."""
        found = [((), self.tree)]
        for path, node in found:
            found += [((*path, name), child) for name, child in node.children.items() if child.kind == FOLDER]
        return self.random.choice(found)

    def some(self):
        """A folder's path and node, a name, and the node there or None."""
        path, folder = self.some_folder()
        name = f"n{self.random.randrange(NAMES)}"
        return path, folder, name, folder.children.get(name)

    def expect(self, kind, what, wanted, function, *arguments):
        """Runs it and compares the error with the one wanted (0: none)."""
        self.say(kind, what)
        try:
            result, number = function(*arguments), 0
        except OSError as failure:
            result, number = None, failure.errno
        codes = [errno.errorcode.get(code, "success") for code in (number, wanted)]
        self.check(number == wanted, f"{kind} {what}: {codes[0]} instead of {codes[1]}")
        return result

    def step(self):
        self.random.choice(
            [self.create, self.mkdir, self.symlink, self.remove, self.rename, self.rename]
            + [self.chmod, self.set_attribute, self.set_attribute, self.remove_attribute]
            + [self.look, self.look, self.look, self.follow, self.list]
        )()

    def make(self, kind, node, function, *arguments):
        path, folder, name, there = self.some()
        if node.kind == FOLDER and len(path) >= DEEPEST:
            return
        wanted = errno.EEXIST if there else 0
        self.expect(kind, f"{path} {name} {node.target}", wanted, function, *arguments, self.path(path, name))
        folder.children.setdefault(name, node)

    def create(self):
        self.make("create", Node(FILE), self.create_file)

    @staticmethod
    def create_file(path):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))

    def mkdir(self):
        self.make("mkdir", Node(FOLDER), self.make_folder)

    @staticmethod
    def make_folder(path):
        os.mkdir(path, 0o755)

    def symlink(self):
        """To a name beside it, which may be there."""
        target = f"n{self.random.randrange(NAMES)}"
        self.make("symlink", Node(LINK, target), os.symlink, target)

    def remove(self):
        path, folder, name, node = self.some()
        if node is not None and node.kind == FOLDER:
            wanted = errno.ENOTEMPTY if node.children else 0
            self.expect("rmdir", f"{path} {name}", wanted, os.rmdir, self.path(path, name))
        else:
            wanted = 0 if node else errno.ENOENT
            self.expect("unlink", f"{path} {name}", wanted, os.unlink, self.path(path, name))
        if wanted == 0:
            del folder.children[name]

    def rename(self):
        path, folder, name, node = self.some()
        to_path, to_folder, to_name, there = self.some()
        old, new = (*path, name), (*to_path, to_name)
        if node is None or new[: len(old)] == old or old[: len(new)] == new:
            return
        wanted = self.rename_error(node, there)
        self.expect("rename", f"{old} {new}", wanted, os.rename, self.path(path, name), self.path(to_path, to_name))
        if wanted == 0:
            del folder.children[name]
            to_folder.children[to_name] = node

    @staticmethod
    def rename_error(node, there):
        if there is None:
            return 0
        if (node.kind == FOLDER) != (there.kind == FOLDER):
            return errno.ENOTDIR if node.kind == FOLDER else errno.EISDIR
        return errno.ENOTEMPTY if there.children else 0

    def chmod(self):
        path, _, name, node = self.some()
        if node is not None and node.kind != LINK:
            node.mode = self.random.choice([0o700, 0o750, 0o755, 0o1777])
            self.expect("chmod", f"{path} {name} {node.mode:o}", 0, os.chmod, self.path(path, name), node.mode)

    def some_attribute(self):
        return f"user.a{self.random.randrange(ATTRIBUTES)}"

    def set_attribute(self):
        path, _, name, node = self.some()
        if node is not None and node.kind != LINK:
            attribute, value = self.some_attribute(), self.random.randbytes(self.random.choice([0, 1, 20, 500]))
            flag = self.random.choice([0, 0, os.XATTR_CREATE, os.XATTR_REPLACE])
            exists = attribute in node.attributes
            wanted = errno.EEXIST if exists and flag == os.XATTR_CREATE else 0
            wanted = errno.ENODATA if not exists and flag == os.XATTR_REPLACE else wanted
            what = f"{path} {name} {attribute} {len(value)} bytes flag {flag}"
            self.expect("setxattr", what, wanted, os.setxattr, self.path(path, name), attribute, value, flag)
            if wanted == 0:
                node.attributes[attribute] = value

    def remove_attribute(self):
        path, _, name, node = self.some()
        if node is not None and node.kind != LINK:
            attribute = self.some_attribute()
            wanted = 0 if attribute in node.attributes else errno.ENODATA
            what = f"{path} {name} {attribute}"
            self.expect("removexattr", what, wanted, os.removexattr, self.path(path, name), attribute)
            node.attributes.pop(attribute, None)

    def look(self):
        path, _, name, node = self.some()
        self.expect("look", f"{path} {name}", 0 if node else errno.ENOENT, os.lstat, self.path(path, name))
        if node is not None:
            self.compare(self.path(path, name), node)

    def compare(self, path, node):
        """A name with what it is to be."""
        about = os.lstat(path)
        kind = KINDS.get(stat.S_IFMT(about.st_mode))
        self.check(kind == node.kind, f"{path} is a {kind}, not a {node.kind}")
        if node.kind == LINK:
            target = os.readlink(path)
            self.check(target == node.target, f"{path} leads to {target}, not {node.target}")
            return
        mode = stat.S_IMODE(about.st_mode)
        self.check(mode == node.mode, f"{path} has the mode {mode:o}, not {node.mode:o}")
        seen = {name: os.getxattr(path, name) for name in os.listxattr(path)}
        self.check(seen == node.attributes, f"{path} has the attributes {seen}, not {node.attributes}")

    def follow(self):
        """What a link leads to, over other links; a loop of them leads nowhere."""
        path, folder, name, node = self.some()
        if node is None or node.kind != LINK:
            return
        passed = set()
        while node is not None and node.kind == LINK and node not in passed:
            passed.add(node)
            node = folder.children.get(node.target)
        wanted = errno.ENOENT if node is None else errno.ELOOP if node.kind == LINK else 0
        about = self.expect("follow", f"{path} {name}", wanted, os.stat, self.path(path, name))
        if wanted == 0:
            kind = KINDS.get(stat.S_IFMT(about.st_mode))
            self.check(kind == node.kind, f"{path} {name} leads to a {kind}, not a {node.kind}")

    def list(self):
        path, folder = self.some_folder()
        found = sorted(self.expect("list", str(path), 0, os.listdir, self.path(path)))
        self.check(found == sorted(folder.children), f"{path}: {found} instead of {sorted(folder.children)}")

    def compare_all(self):
        self.compare_below(self.root, self.tree)

    def compare_below(self, path, folder):
        found = sorted(os.listdir(path))
        self.check(found == sorted(folder.children), f"at the end, {path}: {found}, not {sorted(folder.children)}")
        for name, node in folder.children.items():
            self.compare(os.path.join(path, name), node)
            if node.kind == FOLDER:
                self.compare_below(os.path.join(path, name), node)


if __name__ == "__main__":
    sys.exit(run(Names(sys.argv[1], sys.argv[2], int(sys.argv[3])), float(sys.argv[4])))
