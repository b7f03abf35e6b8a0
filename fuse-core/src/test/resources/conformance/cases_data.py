"""What files hold: reading, writing, cutting, holes, sharing."""

import ctypes
import errno
import hashlib
import mmap
import os
import platform
import random
import threading

from suite import Skipped, case, equal, fails, read, times_moved_by, write

LIBC = ctypes.CDLL(None, use_errno=True)
KEEP_SIZE, PUNCH_HOLE, COLLAPSE_RANGE, ZERO_RANGE = 1, 2, 8, 16
MIB = 1 << 20
AT_FDCWD, AT_SYMLINK_FOLLOW = -100, 0x400


def fallocate(descriptor, mode, offset, length):
    if LIBC.fallocate(descriptor, mode, ctypes.c_long(offset), ctypes.c_long(length)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


class opened:
    """A descriptor for the time of a block."""

    def __init__(self, path, flags=os.O_RDWR | os.O_CREAT, mode=0o644):
        self.arguments = (path, flags, mode)

    def __enter__(self):
        self.descriptor = os.open(*self.arguments)
        return self.descriptor

    def __exit__(self, *_):
        os.close(self.descriptor)


def pattern(count, seed=1):
    return random.Random(seed).randbytes(count)


@case
def an_empty_file_reads_as_nothing(d):
    write(f"{d}/f")
    equal(read(f"{d}/f"), b"")
    equal(os.stat(f"{d}/f").st_size, 0)


@case
def what_was_written_is_read(d):
    for count in (1, 4095, 4096, 4097, 65536, 131073, 3 * MIB + 7):
        data = pattern(count)
        write(f"{d}/f", data)
        equal(os.stat(f"{d}/f").st_size, count, "size")
        equal(hashlib.sha256(read(f"{d}/f")).hexdigest(), hashlib.sha256(data).hexdigest(), f"{count} bytes")


@case
def written_data_is_there_after_reopening_without_cache(d):
    data = pattern(300_000)
    with opened(f"{d}/f") as f:
        os.pwrite(f, data, 0)
        os.fsync(f)
        os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)
    equal(read(f"{d}/f"), data)


@case
def writes_land_where_they_are_put(d):
    with opened(f"{d}/f") as f:
        os.pwrite(f, b"A" * 10, 0)
        os.pwrite(f, b"B" * 4, 3)
        os.pwrite(f, b"C", 20)
        equal(os.pread(f, 100, 0), b"AAABBBBAAA" + bytes(10) + b"C")


@case
def random_overwrites_agree_with_memory(d):
    generator = random.Random(7)
    model = bytearray(pattern(600_000))
    with opened(f"{d}/f") as f:
        os.pwrite(f, model, 0)
        for _ in range(120):
            at, count = generator.randrange(590_000), generator.randrange(1, 9000)
            data = generator.randbytes(count)
            os.pwrite(f, data, at)
            model[at : at + count] = data
            at = generator.randrange(590_000)
            equal(os.pread(f, 5000, at), bytes(model[at : at + 5000]))
    equal(read(f"{d}/f"), bytes(model))


@case
def appends_go_to_the_end(d):
    write(f"{d}/f", b"start-")
    with opened(f"{d}/f", os.O_WRONLY | os.O_APPEND) as f:
        os.write(f, b"one-")
        os.lseek(f, 0, os.SEEK_SET)
        os.write(f, b"two")
    equal(read(f"{d}/f"), b"start-one-two")


@case
def appends_of_two_descriptors_do_not_overlap(d):
    write(f"{d}/log")

    def append(letter):
        with opened(f"{d}/log", os.O_WRONLY | os.O_APPEND) as f:
            for _ in range(50):
                os.write(f, letter * 100)

    threads = [threading.Thread(target=append, args=(letter,)) for letter in (b"a", b"b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    data = read(f"{d}/log")
    equal(len(data), 10_000)
    equal((data.count(b"a"), data.count(b"b")), (5000, 5000))


@case
def open_with_truncation_empties(d):
    write(f"{d}/f", b"content")
    with opened(f"{d}/f", os.O_WRONLY | os.O_TRUNC):
        equal(os.stat(f"{d}/f").st_size, 0)


@case
def a_closed_file_is_cut_and_grown(d):
    write(f"{d}/f", b"0123456789")
    os.truncate(f"{d}/f", 4)
    equal(read(f"{d}/f"), b"0123")
    os.truncate(f"{d}/f", 8)
    equal(read(f"{d}/f"), b"0123" + bytes(4))
    os.truncate(f"{d}/f", 0)
    equal(read(f"{d}/f"), b"")


@case
def cutting_and_growing_leaves_zeros(d):
    with opened(f"{d}/f") as f:
        os.pwrite(f, b"x" * 200_000, 0)
        os.ftruncate(f, 100_001)
        os.ftruncate(f, 200_000)
        equal(os.pread(f, 5, 99_999), b"xx" + bytes(3))
        equal(os.pread(f, 100_000, 100_001).strip(b"\0"), b"")


@case
def truncate_refuses_directories_and_negative_sizes(d):
    fails(errno.EISDIR, os.truncate, d, 0)
    write(f"{d}/f")
    fails(errno.EINVAL, os.truncate, f"{d}/f", -1)


@case
def a_directory_is_not_opened_for_writing(d):
    fails(errno.EISDIR, os.open, d, os.O_WRONLY)
    with opened(d, os.O_RDONLY) as directory:
        fails(errno.EISDIR, os.read, directory, 1)


@case
def descriptors_are_as_they_were_opened(d):
    write(f"{d}/f", b"x")
    with opened(f"{d}/f", os.O_RDONLY) as f:
        fails(errno.EBADF, os.write, f, b"y")
    with opened(f"{d}/f", os.O_WRONLY) as f:
        fails(errno.EBADF, os.read, f, 1)


@case
def reading_behind_the_end_gives_nothing(d):
    write(f"{d}/f", b"abc")
    with opened(f"{d}/f", os.O_RDONLY) as f:
        equal(os.pread(f, 10, 3), b"")
        equal(os.pread(f, 10, 1 << 40), b"")
        equal(os.pread(f, 10, 2), b"c")


@case
def a_sparse_file_holds_only_its_data(d):
    far = 1 << 36
    with opened(f"{d}/f") as f:
        os.pwrite(f, b"end", far)
        equal(os.fstat(f).st_size, far + 3)
        equal(os.pread(f, 3, far), b"end")
        equal(os.pread(f, 10, far // 2), bytes(10))
    if os.stat(f"{d}/f").st_blocks * 512 > 16 * MIB:
        raise AssertionError(f"{os.stat(f'{d}/f').st_blocks} blocks are held")


@case
def holes_and_data_are_found(d):
    with opened(f"{d}/f") as f:
        os.pwrite(f, b"x" * 65536, 10 * MIB)
        os.ftruncate(f, 30 * MIB)
        equal(os.lseek(f, 0, os.SEEK_DATA), 10 * MIB)
        equal(os.lseek(f, 0, os.SEEK_HOLE), 0)
        equal(os.lseek(f, 10 * MIB, os.SEEK_HOLE), 10 * MIB + 65536)
        fails(errno.ENXIO, os.lseek, f, 20 * MIB, os.SEEK_DATA)
        fails(errno.ENXIO, os.lseek, f, 31 * MIB, os.SEEK_HOLE)


@case
def fallocate_grows_and_keeps(d):
    with opened(f"{d}/f") as f:
        fallocate(f, 0, 0, MIB)
        equal(os.fstat(f).st_size, MIB)
        equal(os.fstat(f).st_blocks * 512, MIB, "held")
        fallocate(f, KEEP_SIZE, 0, 2 * MIB)
        equal(os.fstat(f).st_size, MIB)
        equal(os.pread(f, 100, 0), bytes(100))
        fails(errno.EINVAL, fallocate, f, 0, 0, 0)


@case
def fallocate_moves_the_times_whatever_it_does(d):
    path = f"{d}/f"
    with opened(path) as f:
        os.write(f, b"x" * 10_000)
        for mode in (0, KEEP_SIZE, ZERO_RANGE, ZERO_RANGE | KEEP_SIZE, PUNCH_HOLE | KEEP_SIZE):
            equal(times_moved_by(path, fallocate, f, mode, 0, 100), "mc", f"mode {mode}")
        equal(times_moved_by(path, fallocate, f, KEEP_SIZE, 0, 100_000), "mc", "behind the end")


@case
def fallocate_punches_holes(d):
    with opened(f"{d}/f") as f:
        os.pwrite(f, b"x" * MIB, 0)
        fallocate(f, PUNCH_HOLE | KEEP_SIZE, 1000, 500_000)
        equal(os.pread(f, 3, 998), b"xx\0")
        equal(os.pread(f, 3, 500_999), b"\0xx")
        equal(os.fstat(f).st_size, MIB)
        fails(errno.EOPNOTSUPP, fallocate, f, COLLAPSE_RANGE, 0, 65536)


@case
def fallocate_zeroes_a_range(d):
    with opened(f"{d}/f") as f:
        os.pwrite(f, b"x" * 100_000, 0)
        try:
            fallocate(f, ZERO_RANGE, 60_000, 10)
        except OSError as error:
            before = tuple(map(int, platform.release().split(".")[:2])) < (5, 14)
            if error.errno == errno.EOPNOTSUPP and before:
                raise Skipped("this kernel zeroes no ranges in file systems of FUSE") from error
            raise
        equal(os.pread(f, 12, 59_999), b"x" + bytes(10) + b"x")


@case
def copy_file_range_copies(d):
    data = pattern(500_000)
    write(f"{d}/a", data)
    with opened(f"{d}/a", os.O_RDONLY) as a, opened(f"{d}/b") as b:
        done = 0
        while done < len(data):
            count = os.copy_file_range(a, b, len(data) - done, done, done)
            if count == 0:
                break
            done += count
        equal(done, len(data))
    equal(read(f"{d}/b"), data)


@case
def a_removed_file_lives_while_it_is_open(d):
    with opened(f"{d}/f") as f:
        os.write(f, b"before")
        os.unlink(f"{d}/f")
        fails(errno.ENOENT, os.stat, f"{d}/f")
        os.write(f, b" after")
        equal(os.pread(f, 100, 0), b"before after")
        equal(os.fstat(f).st_nlink, 0)
        equal(os.listdir(d), [])


def without_a_name(d, flags=0):
    """A file that never had a name; kernels before 6.2 have none on FUSE."""
    try:
        os.close(os.open(d, os.O_RDWR | os.O_TMPFILE, 0o600))
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            raise Skipped("this kernel makes no files without a name here") from error
        raise
    return opened(d, os.O_RDWR | os.O_TMPFILE | flags, 0o600)


def link_descriptor(descriptor, path):
    """As linkat(2) with AT_SYMLINK_FOLLOW: os.link takes no notice of it."""
    source = os.fsencode(f"/proc/self/fd/{descriptor}")
    if LIBC.linkat(AT_FDCWD, source, AT_FDCWD, os.fsencode(path), AT_SYMLINK_FOLLOW) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@case
def a_file_without_a_name_lives_while_it_is_open(d):
    with without_a_name(d) as f:
        os.write(f, b"x" * 100_000)
        os.ftruncate(f, 99_999)
        equal(os.pread(f, 200_000, 0), b"x" * 99_999)
        equal(os.fstat(f).st_nlink, 0)
        equal(os.listdir(d), [])
        os.fsync(f)
    equal(os.listdir(d), [])


@case
def a_file_without_a_name_can_be_given_one(d):
    with without_a_name(d) as f:
        os.write(f, b"content")
        link_descriptor(f, f"{d}/name")
        equal(os.fstat(f).st_nlink, 1)
    equal(read(f"{d}/name"), b"content")
    os.unlink(f"{d}/name")
    with without_a_name(d, os.O_EXCL) as f:
        fails(errno.ENOENT, link_descriptor, f, f"{d}/name")


@case
def a_name_can_be_made_again_while_the_old_file_is_open(d):
    with opened(f"{d}/f") as old:
        os.write(old, b"old")
        os.unlink(f"{d}/f")
        write(f"{d}/f", b"new")
        equal(os.pread(old, 9, 0), b"old")
        equal(read(f"{d}/f"), b"new")


@case
def renamed_files_go_on_through_their_descriptors(d):
    with opened(f"{d}/a") as f:
        os.write(f, b"1")
        os.rename(f"{d}/a", f"{d}/b")
        os.write(f, b"2")
        equal(os.fstat(f).st_size, 2)
    equal(read(f"{d}/b"), b"12")


@case
def mapped_files_show_and_take_data(d):
    write(f"{d}/f", b"a" * 10_000)
    with opened(f"{d}/f", os.O_RDWR) as f:
        with mmap.mmap(f, 10_000) as view:
            equal(view[:3], b"aaa")
            view[5000:5003] = b"bcd"
            view.flush()
    equal(read(f"{d}/f")[4999:5004], b"abcda")


@case
def direct_io_reads_and_writes(d):
    data = pattern(8192)
    with opened(f"{d}/f", os.O_RDWR | os.O_CREAT | os.O_DIRECT) as f:
        buffer = mmap.mmap(-1, 8192)
        buffer.write(data)
        equal(os.pwritev(f, [buffer], 0), 8192)
        back = mmap.mmap(-1, 8192)
        equal(os.preadv(f, [back], 0), 8192)
        equal(back[:], data)
    equal(read(f"{d}/f"), data)


@case
def syncing_succeeds(d):
    with opened(f"{d}/f") as f:
        os.write(f, b"x")
        os.fsync(f)
        os.fdatasync(f)
    with opened(d, os.O_RDONLY | os.O_DIRECTORY) as directory:
        os.fsync(directory)


@case
def vectors_of_buffers_keep_their_order(d):
    with opened(f"{d}/f") as f:
        os.writev(f, [b"one", b"", b"two" * 5000, b"three"])
    equal(read(f"{d}/f"), b"one" + b"two" * 5000 + b"three")


@case
def many_readers_of_one_file_agree(d):
    data = pattern(2 * MIB)
    write(f"{d}/f", data)
    wanted = hashlib.sha256(data).digest()
    wrong = []

    def check():
        if hashlib.sha256(read(f"{d}/f")).digest() != wanted:
            wrong.append(1)

    threads = [threading.Thread(target=check) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(wrong, [])
