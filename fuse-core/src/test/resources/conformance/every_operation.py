"""Prepares files in a directory, says `ready`, waits for a line, and then tries each operation once.

    python3 every_operation.py DIRECTORY

Prints `did OPERATION ok` or `did OPERATION EIO`. Operations are named after the FUSE request that they make; LOOKUP and
GETATTR, which come before most of them, are left to the caller.
"""

import ctypes
import errno
import os
import stat
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
KEEP_SIZE = 1


def fallocate(descriptor):
    if LIBC.fallocate(descriptor, KEEP_SIZE, ctypes.c_long(0), ctypes.c_long(4096)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def attempt(name, function, *arguments):
    try:
        function(*arguments)
        outcome = "ok"
    except OSError as error:
        outcome = errno.errorcode[error.errno]
    print(f"did {name} {outcome}", flush=True)


def prepare(d):
    """Makes what the operations need, and opens it."""
    for name in ("file", "other", "victim", "moved"):
        with open(f"{d}/{name}", "wb") as file:
            file.write(b"x" * 100_000)
    os.mkdir(f"{d}/folder")
    os.symlink("file", f"{d}/link")
    os.setxattr(f"{d}/file", "user.a", b"1")
    return os.open(f"{d}/file", os.O_RDWR), os.open(f"{d}/other", os.O_RDWR), os.open(d, os.O_RDONLY)


def provoke(d, file, other, folder):
    """One system call for each request; what the kernel has cached is dropped before reading."""
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    attempt("read", os.pread, file, 10, 50_000)
    attempt("write", os.pwrite, file, b"y", 0)
    attempt("fsync", os.fsync, file)
    attempt("lseek", os.lseek, file, 0, os.SEEK_HOLE)
    attempt("fallocate", fallocate, file)
    attempt("copy_file_range", os.copy_file_range, file, other, 1000, 0, 0)
    attempt("setattr", os.chmod, f"{d}/file", 0o600)
    attempt("open", os.open, f"{d}/victim", os.O_RDONLY)
    attempt("opendir", os.open, f"{d}/folder", os.O_RDONLY | os.O_DIRECTORY)
    attempt("readdir", os.listdir, folder)
    attempt("fsyncdir", os.fsync, folder)
    attempt("readlink", os.readlink, f"{d}/link")
    attempt("symlink", os.symlink, "x", f"{d}/new-link")
    attempt("mknod", os.mknod, f"{d}/new-fifo", stat.S_IFIFO | 0o600)
    attempt("mkdir", os.mkdir, f"{d}/new-folder")
    attempt("create", os.open, f"{d}/new-file", os.O_CREAT | os.O_WRONLY)
    attempt("unlink", os.unlink, f"{d}/victim")
    attempt("rmdir", os.rmdir, f"{d}/folder")
    attempt("rename", os.rename, f"{d}/moved", f"{d}/moved-2")
    attempt("link", os.link, f"{d}/file", f"{d}/new-name")
    attempt("statfs", os.statvfs, d)
    attempt("setxattr", os.setxattr, f"{d}/file", "user.b", b"1")
    attempt("getxattr", os.getxattr, f"{d}/file", "user.a")
    attempt("listxattr", os.listxattr, f"{d}/file")
    attempt("removexattr", os.removexattr, f"{d}/file", "user.a")
    attempt("flush", os.close, other)


def main(directory):
    descriptors = prepare(directory)
    print("ready", flush=True)
    sys.stdin.readline()
    provoke(directory, *descriptors)


if __name__ == "__main__":
    main(sys.argv[1])
