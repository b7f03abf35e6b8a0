"""What a program sees of files that it opens for reading, told line by line.

    python3 reads.py FOLDER

FOLDER holds `one` and `many`, of the bytes that content() makes. The program is run with the library and without:
what it prints must be the same, and every promise that needs no comparison is asserted here.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import random
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import termios

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.fopen.restype = ctypes.c_void_p
SYS_CLOSE, SYS_FSTAT, SYS_DUP2 = {"x86_64": (3, 5, 33), "aarch64": (57, 80, 24)}[os.uname().machine]
AT_EMPTY_PATH, CLOSE_RANGE_CLOEXEC, F_DUPFD_QUERY = 0x1000, 4, 1027
TWINS = 4096
FILES = ("one", "many")
CASES = []


def content(name):
    """The bytes of a file, which follow from its name."""
    return random.Random(name).randbytes({"one": 900_001, "many": 3_500_007}[name])


def case(function):
    CASES.append(function)
    return function


def attempt(function, *arguments):
    """The result, or the name of the error."""
    try:
        return function(*arguments)
    except OSError as failure:
        return errno.errorcode[failure.errno]


def facts(status):
    """What of a status does not depend on the moment."""
    kept = (status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_uid, status.st_gid)
    return (*kept, status.st_nlink, status.st_mtime_ns, status.st_blksize, status.st_blocks)


def in_child(function):
    """What a forked child makes of it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, repr(function()).encode())
        except BaseException as failure:
            os.write(writer, repr(failure).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told


CHILD = "import os, sys; s = os.fstat(0); d = os.read(0, 5); print(s.st_dev, s.st_ino, s.st_size, d, os.lseek(0, 0, 1))"


@case
def bytes_at_every_place(path, data):
    fd = os.open(path, os.O_RDONLY)
    places = random.Random(7)
    for _ in range(200):
        at, length = places.randrange(len(data) + 1000), places.randrange(400_000)
        assert os.pread(fd, length, at) == data[at : at + length]
        parts = [bytearray(length // 3), bytearray(7), bytearray(length)]
        got = os.preadv(fd, parts, at)
        assert b"".join(parts)[:got] == data[at : at + got] and got == min(sum(map(len, parts)), max(0, len(data) - at))
    result = [os.read(fd, 0), attempt(os.pread, fd, 10, -1), attempt(os.pread, fd, 10, 1 << 40)]
    os.close(fd)
    return result


@case
def the_offset_goes_on(path, data):
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    got = bytearray()
    while piece := os.read(fd, 99_991):
        got += piece
    assert got == data
    told = [
        os.lseek(fd, 0, os.SEEK_CUR),
        os.read(fd, 1),
        os.lseek(fd, -10, os.SEEK_END),
        os.read(fd, 100) == data[-10:],
    ]
    told += [os.lseek(fd, 1000, os.SEEK_SET), os.lseek(fd, -100, os.SEEK_CUR), attempt(os.lseek, fd, -1, os.SEEK_SET)]
    told += [attempt(os.lseek, fd, 5, os.SEEK_DATA), attempt(os.lseek, fd, 5, os.SEEK_HOLE)]
    told += [os.lseek(fd, len(data) + 50, os.SEEK_SET), os.read(fd, 10), os.lseek(fd, 0, os.SEEK_CUR)]
    parts = [bytearray(10), bytearray(20)]
    os.lseek(fd, 77, os.SEEK_SET)
    told += [os.readv(fd, parts), bytes(parts[0] + parts[1]) == data[77:107], os.lseek(fd, 0, os.SEEK_CUR)]
    os.close(fd)
    return told


@case
def attributes_are_the_files(path, data):
    fd = os.open(path, os.O_RDONLY)
    assert facts(os.fstat(fd)) == facts(os.stat(path)) and os.path.sameopenfile(fd, os.dup(fd))
    told = [facts(os.fstat(fd)), fcntl.fcntl(fd, fcntl.F_GETFL), fcntl.fcntl(fd, fcntl.F_GETFD)]
    told += [
        os.fstatvfs(fd).f_bsize,
        os.fstatvfs(fd).f_namemax,
        os.listxattr(fd),
        attempt(os.getxattr, fd, "user.none"),
    ]
    told += [attempt(os.write, fd, b"x"), attempt(os.ftruncate, fd, 0), attempt(os.fsync, fd), os.isatty(fd)]
    told += [attempt(os.fchdir, fd), attempt(os.listdir, fd), attempt(os.posix_fallocate, fd, 0, 10)]
    told += [os.readlink(f"/proc/self/fd/{fd}"), os.pathconf(fd, "PC_NAME_MAX")]
    os.close(fd)
    told.append(attempt(os.fstat, fd))
    return told


@case
def asked_in_other_ways(path, data):
    """Attributes by statx and by names that libc had before; flags by ioctl; close_range that closes nothing yet."""
    fd = os.open(path, os.O_RDONLY)
    os.read(fd, 1000)
    status, old, left = (ctypes.create_string_buffer(512) for _ in range(3))
    assert LIBC.statx(fd, b"", AT_EMPTY_PATH, 0xFFF, status) == 0
    assert LIBC.__fxstat(1 if os.uname().machine == "x86_64" else 0, fd, old) == 0
    assert LIBC.fstatat(fd, b"", old, AT_EMPTY_PATH) == 0
    inode, size = os.stat(path).st_ino, len(data)
    told = [struct.unpack_from("=32xQQ", status) == (inode, size), struct.unpack_from("=8xQ", old)[0] == inode]
    told += [LIBC.ioctl(fd, termios.FIONREAD, left), int.from_bytes(left.raw[:4], sys.byteorder)]
    for change in (termios.FIOCLEX, termios.FIONCLEX, termios.FIOCLEX):
        told += [LIBC.ioctl(fd, change), os.get_inheritable(fd)]
    os.set_inheritable(fd, True)
    told += [LIBC.close_range(fd, fd, CLOSE_RANGE_CLOEXEC), os.get_inheritable(fd), os.read(fd, 5) == data[1000:1005]]
    told += [attempt(fcntl.ioctl, fd, termios.TCGETS, bytes(64)), fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK)]
    told += [fcntl.fcntl(fd, fcntl.F_GETFL), attempt(os.fchmod, fd, os.fstat(fd).st_mode & 0o777)]
    os.close(fd)
    return told


@case
def duplicates_share_the_offset(path, data):
    fd = os.open(path, os.O_RDONLY)
    copies = [os.dup(fd), os.dup2(fd, 333), fcntl.fcntl(fd, fcntl.F_DUPFD, 50), os.dup2(fd, 60, inheritable=False)]
    at = 0
    for copy in copies:
        assert os.read(copy, 1000) == data[at : at + 1000]
        at += 1000
        assert facts(os.fstat(copy)) == facts(os.stat(path))
    told = [os.lseek(fd, 0, os.SEEK_CUR), [os.get_inheritable(copy) for copy in copies], copies[1:]]
    os.close(fd)
    told.append([os.pread(copy, 3, 5) == data[5:8] for copy in copies])
    for copy in copies:
        os.close(copy)
    return told


@case
def children_share_the_offset(path, data):
    fd = os.open(path, os.O_RDONLY)
    told = [in_child(lambda: (os.read(fd, 10) == data[:10], facts(os.fstat(fd)), os.lseek(fd, 0, os.SEEK_CUR)))]
    told.append(subprocess.run([sys.executable, "-c", CHILD], stdin=fd, capture_output=True, text=True))
    told[-1] = told[-1].stdout + told[-1].stderr
    child = CHILD.replace("(0", f"({fd}")
    told.append(subprocess.run([sys.executable, "-c", child], pass_fds=[fd], capture_output=True, text=True).stdout)
    out, end = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, fd, 0), (os.POSIX_SPAWN_DUP2, end, 1)]
    spawned = os.posix_spawn(sys.executable, ["python3", "-c", CHILD], os.environ, file_actions=actions)
    os.waitpid(spawned, 0)
    told += [os.read(out, 1000), os.lseek(fd, 0, os.SEEK_CUR), os.read(fd, 10) == data[25:35]]
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    told.append(subprocess.run(["head", "-c", "100"], stdin=fd, env=plain, capture_output=True).stdout == data[35:135])
    shell = f'{{ dd bs=7 count=1; dd bs=5 count=1; }} < "{path}" 2>/dev/null'
    told.append(subprocess.run(["sh", "-c", shell], capture_output=True).stdout == data[:12])
    for one in (fd, out, end):
        os.close(one)
    return told


@case
def many_readers_of_one_offset(path, data):
    fd = os.open(path, os.O_RDONLY)
    pieces, size = tempfile.mkdtemp(), 10_007
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            with open(f"{pieces}/{number}", "wb") as mine:
                while piece := os.read(fd, size):
                    mine.write(len(piece).to_bytes(4, "big") + piece)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    wanted = sorted(data[at : at + size] for at in range(0, len(data), size))
    got = []
    for number in range(4):
        with open(f"{pieces}/{number}", "rb") as theirs:
            while head := theirs.read(4):
                got.append(theirs.read(int.from_bytes(head, "big")))
    assert sorted(got) == wanted
    shutil.rmtree(pieces)
    told = os.lseek(fd, 0, os.SEEK_CUR)
    os.close(fd)
    return told


@case
def mapped_and_copied_by_the_kernel(path, data):
    fd = os.open(path, os.O_RDONLY)
    with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as mapped:
        assert mapped[:] == data
    told = [attempt(mmap.mmap, fd, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)]
    for there in (tempfile.gettempdir(), os.path.dirname(path)):
        with tempfile.TemporaryFile(dir=there) as to:
            told.append(
                attempt(os.copy_file_range, fd, to.fileno(), 1000, 100) in (1000, "EXDEV", "EOPNOTSUPP", "EINVAL")
            )
        with tempfile.TemporaryFile() as to:
            told += [os.sendfile(to.fileno(), fd, 0, 5000), os.lseek(fd, 0, os.SEEK_CUR)]
            to.seek(0)
            assert to.read() == data[:5000]
    os.close(fd)
    return told


@case
def locks_are_seen_by_others(path, data):
    fd = os.open(path, os.O_RDONLY)
    other = "import fcntl, sys\nf = open(sys.argv[1], 'r+b')\n"
    other += "try:\n    print(fcntl.{0}(f, fcntl.LOCK_EX | fcntl.LOCK_NB))\nexcept OSError as e:\n    print(e.errno)"
    told = []
    for kind in ("flock", "lockf"):
        getattr(fcntl, kind)(fd, fcntl.LOCK_SH)
        plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        words = [sys.executable, "-c", other.format(kind), path]
        told.append(subprocess.run(words, env=plain, capture_output=True, text=True).stdout)
        getattr(fcntl, kind)(fd, fcntl.LOCK_UN)
    os.lseek(fd, 100, os.SEEK_SET)
    told += [attempt(fcntl.lockf, fd, fcntl.LOCK_SH, 10, 0, os.SEEK_CUR), attempt(fcntl.lockf, fd, fcntl.LOCK_EX, 10)]
    os.close(fd)
    return told


def replace(fd, by, seen):
    """Makes another file of a number, in a way that the library sees or, where there is a dup2, does not."""
    if seen:
        os.close(fd)
        os.dup2(by, fd)
    else:
        LIBC.syscall(SYS_DUP2, by, fd, 0)


@case
def a_number_used_again_is_what_it_is_now(path, data):
    told = []
    for seen in (True, False):
        fd = os.open(path, os.O_RDONLY)
        for at in range(0, 90, 3):
            assert os.read(fd, 3) == data[at : at + 3] and os.pread(fd, 9, 5) == data[5:14]
        reader, writer = os.pipe()
        replace(fd, reader, seen)
        os.write(writer, b"pipe")
        told += [stat.S_ISFIFO(os.fstat(fd).st_mode), os.read(fd, 10), attempt(os.pread, fd, 1, 0)]
        for one in (fd, reader, writer):
            os.close(one)
    return told


@case
def a_number_of_ours_taken_unseen_does_no_harm(path, data):
    """Who reads often is known by a duplicate with a number of ours."""
    fd = os.open(path, os.O_RDONLY)
    told = []
    for taken in (False, True):
        reader, writer = os.pipe()
        if taken:
            replace(TWINS + fd, reader, False)
        os.lseek(fd, 0, os.SEEK_SET)
        for at in range(0, 400, 4):
            assert os.read(fd, 4) == data[at : at + 4]
        told += [os.lseek(fd, 0, os.SEEK_CUR), os.pread(fd, 10, 7) == data[7:17]]
        if "LD_PRELOAD" in os.environ and attempt(fcntl.fcntl, fd, F_DUPFD_QUERY, fd) == 1:
            assert os.path.exists(f"/proc/self/fd/{TWINS + fd}")
        os.close(reader)
        os.close(writer)
    os.close(fd)
    attempt(os.close, TWINS + fd)
    again = os.open(path, os.O_RDONLY)
    told += [again == fd, os.read(again, 10) == data[:10]]
    os.close(again)
    return told


@case
def by_number_of_the_system_call(path, data):
    fd = os.open(path, os.O_RDONLY)
    status = ctypes.create_string_buffer(512)
    LIBC.syscall(SYS_FSTAT, fd, status)
    assert int.from_bytes(status.raw[8:16], sys.byteorder) == os.stat(path).st_ino
    LIBC.syscall(SYS_CLOSE, fd)
    again = os.open(path, os.O_RDONLY)
    told = [again == fd, os.read(again, 10) == data[:10]]
    os.close(again)
    return told


@case
def our_numbers_are_not_there(path, data):
    fd = os.open(path, os.O_RDONLY)
    hidden = TWINS + fd
    told = [attempt(os.close, hidden), attempt(os.dup, hidden), attempt(fcntl.fcntl, hidden, fcntl.F_GETFD)]
    reader, writer = os.pipe()
    os.dup2(reader, hidden)
    os.write(writer, b"mine")
    told += [os.read(hidden, 10), os.read(fd, 10) == data[:10]]
    for one in (hidden, reader, writer):
        os.close(one)
    other = os.open(path, os.O_RDONLY)
    os.closerange(other, 20_000)
    told += [attempt(os.fstat, other), os.read(fd, 10) == data[10:20], os.fstat(fd).st_size]
    fd = os.open(path, os.O_RDONLY)
    told += [fd == other, os.read(fd, 10) == data[:10]]
    os.closerange(fd, 1 << 30)
    return told


@case
def opened_again_by_number(path, data):
    fd = os.open(path, os.O_RDONLY)
    os.read(fd, 100)
    told = []
    for name in (f"/proc/self/fd/{fd}", f"/dev/fd/{fd}"):
        again = os.open(name, os.O_RDONLY)
        told += [os.read(again, 50) == data[:50], facts(os.fstat(again)) == facts(os.stat(path))]
        os.close(again)
    os.close(fd)
    return told


@case
def streams_of_libc(path, data):
    stream = LIBC.fopen(path.encode(), b"r")
    room = ctypes.create_string_buffer(len(data))
    read = LIBC.fread(room, 1, 500_000, ctypes.c_void_p(stream))
    assert room.raw[:read] == data[:read]
    told = [read, LIBC.fseek(ctypes.c_void_p(stream), -100, 2), LIBC.fread(room, 1, 1000, ctypes.c_void_p(stream))]
    assert room.raw[:100] == data[-100:]
    fd = LIBC.fileno(ctypes.c_void_p(stream))
    told += [facts(os.fstat(fd)), LIBC.fclose(ctypes.c_void_p(stream)), attempt(os.fstat, fd)]
    return told


@case
def passed_to_another_process(path, data):
    ours, theirs = socket.socketpair()
    fd = os.open(path, os.O_RDONLY)
    os.read(fd, 10)
    socket.send_fds(ours, [b"x"], [fd])
    received = socket.recv_fds(theirs, 1, 1)[1][0]
    told = [os.read(received, 10) == data[10:20], os.lseek(fd, 0, os.SEEK_CUR), os.fstat(received).st_size]
    for one in (fd, received):
        os.close(one)
    ours.close()
    theirs.close()
    return told


@case
def what_was_open_stays_what_it_was(path, data):
    fd = os.open(path, os.O_RDONLY)
    os.rename(path, path + ".aside")
    shutil.copyfile(path + ".aside", path + ".new")
    with open(path + ".new", "r+b") as new:
        new.write(b"new")
    os.rename(path + ".new", path)
    again = os.open(path, os.O_RDONLY)
    told = [os.read(fd, 5) == data[:5], os.read(again, 5) == b"new" + data[3:5]]
    os.unlink(path)
    told += [os.read(again, 5) == data[5:10], os.fstat(again).st_nlink, os.fstat(fd).st_nlink]
    os.rename(path + ".aside", path)
    told += [os.pread(fd, 100, len(data) - 50) == data[-50:], facts(os.fstat(fd)) == facts(os.stat(path))]
    os.close(fd)
    os.close(again)
    return told


def main(folder):
    for name in FILES:
        data, path = content(name), os.path.join(folder, name)
        for function in CASES:
            print(function.__name__, name, function(path, data), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
