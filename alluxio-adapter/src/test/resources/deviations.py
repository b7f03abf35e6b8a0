"""Provokes what a mount of Alluxio does otherwise than a local disk; prints "NAME ERRNO" or "NAME RESULT" lines."""

import ctypes
import errno
import mmap
import os
import select
import sys

AT_FDCWD = -100
RENAME_EXCHANGE = 2
FALLOC_FL_PUNCH_HOLE_KEEP_SIZE = 3
FALLOC_FL_COLLAPSE_RANGE = 8
NAMES = {**errno.errorcode, errno.EOPNOTSUPP: "EOPNOTSUPP"}
libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), "")


def write(path, data=b"x"):
    with open(path, "wb") as file:
        file.write(data)


def exchange(one, other):
    checked(libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE))


def fallocate(path, mode):
    descriptor = os.open(path, os.O_RDWR)
    try:
        checked(libc.fallocate(descriptor, mode, ctypes.c_long(0), ctypes.c_long(4096)))
    finally:
        os.close(descriptor)


def first_hole(path):
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.ftruncate(descriptor, 1 << 20)
        return os.lseek(descriptor, 0, os.SEEK_HOLE)
    finally:
        os.close(descriptor)


def seek_behind_the_end(path):
    with open(path, "rb") as file:
        return os.lseek(file.fileno(), 2 << 20, os.SEEK_DATA)


def chown(path, uid, gid):
    os.chown(path, uid, gid)
    found = os.stat(path)
    return f"{found.st_uid}:{found.st_gid}"


def access_time_after_reading(path):
    """Older than the modification, so that a local disk would move it."""
    os.utime(path, (1000, 2000))
    with open(path, "rb") as file:
        file.read()
    return int(os.stat(path).st_atime)


def time_given_while_mapped(path, sync):
    """Writes through a mapping, sets the time, and only then unmaps and closes."""
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 1) as mapped:
        mapped[0] = 121
        if sync:
            mapped.flush()
        os.utime(path, (1000, 1000))
    return "stays" if int(os.stat(path).st_mtime) == 1000 else "moves"


def written_behind_the_end(path, sync):
    """Grows a file after its last page was written through a mapping, there where the file had ended."""
    write(path, b"a" * 100)
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 100) as mapped:
        first = ctypes.c_char.from_buffer(mapped)
        ctypes.memset(ctypes.addressof(first) + 200, 0x58, 1)
        if sync:
            mapped.flush()
        os.ftruncate(file.fileno(), 300)
        del first
        return os.pread(file.fileno(), 1, 200)


def poll_by_epoll(path):
    with open(path, "rb") as file, select.epoll() as poll:
        poll.register(file, select.EPOLLIN)
        return len(poll.poll(0))


def removal_moves_ctime(path):
    write(path)
    with open(path, "rb") as file:
        before = os.fstat(file.fileno()).st_ctime_ns
        os.unlink(path)
        return os.fstat(file.fileno()).st_ctime_ns != before


def change_time_moved(path, change, *arguments):
    before = os.stat(path).st_ctime_ns
    change(path, *arguments)
    return os.stat(path).st_ctime_ns != before


def attempt(name, function, *arguments):
    try:
        result = function(*arguments)
    except OSError as failure:
        result = NAMES[failure.errno]
    print(name, result, flush=True)


def main(d):
    for name in ("a", "b", "sparse"):
        write(f"{d}/{name}")
    os.mkdir(f"{d}/folder")
    os.mkdir(f"{d}/folder/below")
    attempt("hard_link", os.link, f"{d}/a", f"{d}/c")
    attempt("hard_link_elsewhere", os.link, f"{d}/a", f"{d}/folder/c")
    attempt("exchange", exchange, f"{d}/a", f"{d}/b")
    attempt("reserve", fallocate, f"{d}/b", 0)
    attempt("punch", fallocate, f"{d}/b", FALLOC_FL_PUNCH_HOLE_KEEP_SIZE)
    attempt("collapse", fallocate, f"{d}/b", FALLOC_FL_COLLAPSE_RANGE)
    attempt("first_hole", first_hole, f"{d}/sparse")
    attempt("seek_behind_the_end", seek_behind_the_end, f"{d}/sparse")
    attempt("directory_links", lambda: os.stat(f"{d}/folder").st_nlink)
    attempt("name_reserved_made", write, f"{d}/.pgw~mine")
    attempt("name_reserved_looked_up", os.stat, f"{d}/.pgw~mine")
    attempt("chown_by_number", chown, f"{d}/a", 31234, 31235)
    attempt("xattr_security", os.setxattr, f"{d}/a", "security.test", b"1")
    attempt("xattr_no_namespace", os.getxattr, f"{d}/a", "nonsense.x")
    attempt("xattr_no_name", os.setxattr, f"{d}/a", "user.", b"1")
    attempt("xattr_own", os.setxattr, f"{d}/a", "io.posixgateway.posix", b"1")
    attempt("access_time_after_reading", access_time_after_reading, f"{d}/b")
    attempt("setxattr_moves_ctime", change_time_moved, f"{d}/b", os.setxattr, "user.test", b"1")
    attempt("removexattr_moves_ctime", change_time_moved, f"{d}/b", os.removexattr, "user.test")
    attempt("chmod_moves_ctime", change_time_moved, f"{d}/b", os.chmod, 0o600)
    attempt("time_given_while_mapped", time_given_while_mapped, f"{d}/b", False)
    attempt("time_given_after_msync", time_given_while_mapped, f"{d}/b", True)
    attempt("written_behind_the_end", written_behind_the_end, f"{d}/behind", False)
    attempt("written_behind_the_end_and_synced", written_behind_the_end, f"{d}/behind", True)
    attempt("epoll", poll_by_epoll, f"{d}/a")
    attempt("removal_moves_ctime", removal_moves_ctime, f"{d}/removed")
    attempt("files_of_statfs", lambda: (os.statvfs(d).f_files, os.statvfs(d).f_ffree))


if __name__ == "__main__":
    main(sys.argv[1])
