"""What is said of a file: modes, owners, times, extended attributes, locks, space."""

import errno
import fcntl
import os
import stat
import struct
import time

from suite import Skipped, as_user, case, equal, fails, times_moved_by, write


def permissions(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def only_root():
    if os.geteuid() != 0:
        raise Skipped("only root can do this")


@case
def chmod_sets_every_bit(d):
    write(f"{d}/f")
    for mode in (0o000, 0o644, 0o777, 0o4755, 0o2755, 0o1644, 0o7777):
        os.chmod(f"{d}/f", mode)
        equal(permissions(f"{d}/f"), mode)
    os.mkdir(f"{d}/s")
    os.chmod(f"{d}/s", 0o3711)
    equal(permissions(f"{d}/s"), 0o3711)


@case
def chmod_is_the_owners(d):
    only_root()
    write(f"{d}/f")
    os.chmod(f"{d}/f", 0o666)
    as_user(12345, 12345, lambda: fails(errno.EPERM, os.chmod, f"{d}/f", 0o600))


@case
def chown_sets_owner_and_group_by_number(d):
    only_root()
    write(f"{d}/f")
    os.chown(f"{d}/f", 54321, 54322)
    found = os.stat(f"{d}/f")
    equal((found.st_uid, found.st_gid), (54321, 54322))
    os.chown(f"{d}/f", -1, 7)
    found = os.stat(f"{d}/f")
    equal((found.st_uid, found.st_gid), (54321, 7))
    as_user(54321, 7, lambda: fails(errno.EPERM, os.chown, f"{d}/f", 1, -1))


@case
def chown_does_not_follow_when_told(d):
    only_root()
    write(f"{d}/f")
    os.symlink("f", f"{d}/l")
    os.lchown(f"{d}/l", 99, 98)
    equal((os.lstat(f"{d}/l").st_uid, os.lstat(f"{d}/l").st_gid), (99, 98))
    equal(os.stat(f"{d}/f").st_uid, os.geteuid())


@case
def chown_takes_set_user_id_off(d):
    only_root()
    write(f"{d}/f")
    os.chmod(f"{d}/f", 0o6755)
    os.chown(f"{d}/f", 1000, 1000)
    equal(permissions(f"{d}/f"), 0o755)


@case
def chown_of_neither_owner_nor_group_takes_set_user_id_off(d):
    write(f"{d}/f")
    os.chmod(f"{d}/f", 0o6755)
    os.chown(f"{d}/f", -1, -1)
    equal(permissions(f"{d}/f"), 0o755)
    os.mkdir(f"{d}/s")
    os.chmod(f"{d}/s", 0o6755)
    os.chown(f"{d}/s", -1, -1)
    equal(permissions(f"{d}/s"), 0o6755)


@case
def a_write_by_others_takes_set_user_id_off(d):
    only_root()
    os.chmod(d, 0o777)
    write(f"{d}/f")
    os.chmod(f"{d}/f", 0o6777)
    as_user(12345, 12345, lambda: write_in_place(f"{d}/f"))
    equal(permissions(f"{d}/f"), 0o777)


def write_in_place(path):
    descriptor = os.open(path, os.O_WRONLY)
    os.write(descriptor, b"x")
    os.close(descriptor)


@case
def times_are_kept_to_the_nanosecond(d):
    write(f"{d}/f")
    for moment in (1_234_567_890_123_456_789, 0, 5_000_000_000_000_000_001, -1_500_000_000):
        os.utime(f"{d}/f", ns=(moment, moment + 1))
        found = os.stat(f"{d}/f")
        equal((found.st_atime_ns, found.st_mtime_ns), (moment, moment + 1))


@case
def times_of_links_and_directories_are_set(d):
    os.symlink("nowhere", f"{d}/l")
    os.utime(f"{d}/l", ns=(10**18, 2 * 10**18), follow_symlinks=False)
    equal(os.lstat(f"{d}/l").st_mtime_ns, 2 * 10**18)
    os.mkdir(f"{d}/s")
    os.utime(f"{d}/s", ns=(10**18, 3 * 10**18))
    equal(os.stat(f"{d}/s").st_mtime_ns, 3 * 10**18)


@case
def touching_sets_the_present(d):
    write(f"{d}/f")
    os.utime(f"{d}/f", ns=(0, 0))
    os.utime(f"{d}/f")
    if abs(os.stat(f"{d}/f").st_mtime - time.time()) > 100:
        raise AssertionError(f"mtime {os.stat(f'{d}/f').st_mtime}, now {time.time()}")


@case
def a_write_moves_the_modify_time(d):
    write(f"{d}/f", b"1")
    os.utime(f"{d}/f", ns=(0, 0))
    write_in_place(f"{d}/f")
    if os.stat(f"{d}/f").st_mtime < time.time() - 100:
        raise AssertionError("the time stayed as it was")


@case
def making_a_name_moves_the_directorys_time(d):
    os.utime(d, ns=(0, 0))
    write(f"{d}/f")
    if os.stat(d).st_mtime < time.time() - 100:
        raise AssertionError("the time stayed as it was")


@case
def chmod_moves_the_change_time(d):
    write(f"{d}/f")
    before = os.stat(f"{d}/f").st_ctime_ns
    time.sleep(0.02)
    os.chmod(f"{d}/f", 0o600)
    if os.stat(f"{d}/f").st_ctime_ns <= before:
        raise AssertionError("the time stayed as it was")


@case
def chown_of_neither_owner_nor_group_moves_the_change_time(d):
    write(f"{d}/f")
    os.mkdir(f"{d}/s")
    os.symlink("f", f"{d}/l")
    for path in (f"{d}/f", f"{d}/s", f"{d}/l"):
        equal(times_moved_by(path, os.lchown, path, -1, -1), "c", path)


@case
def truncation_to_the_length_of_the_file_moves_its_times(d):
    write(f"{d}/f", b"content")
    equal(times_moved_by(f"{d}/f", os.truncate, f"{d}/f", 7), "mc")
    with open(f"{d}/f", "r+b") as file:
        equal(times_moved_by(f"{d}/f", os.ftruncate, file.fileno(), 7), "mc", "by descriptor")
        equal(times_moved_by(f"{d}/f", os.ftruncate, file.fileno(), 7), "mc", "once more")
    write(f"{d}/empty")
    equal(times_moved_by(f"{d}/empty", write, f"{d}/empty"), "mc", "O_TRUNC of an empty file")


@case
def names_do_not_move_the_access_time_of_their_directory(d):
    os.mkdir(f"{d}/s")
    equal(times_moved_by(f"{d}/s", write, f"{d}/s/f"), "mc")
    equal(times_moved_by(f"{d}/s", os.rename, f"{d}/s/f", f"{d}/s/g"), "mc")
    equal(times_moved_by(f"{d}/s", os.unlink, f"{d}/s/g"), "mc")


@case
def access_is_answered_by_mode(d):
    write(f"{d}/f")
    os.chmod(f"{d}/f", 0o444)
    as_user(12345, 12345, lambda: equal(os.access(f"{d}/f", os.R_OK), True))
    as_user(12345, 12345, lambda: equal(os.access(f"{d}/f", os.W_OK), False))
    as_user(12345, 12345, lambda: equal(os.access(f"{d}/f", os.X_OK), False))


@case
def extended_attributes_are_kept(d):
    write(f"{d}/f")
    os.setxattr(f"{d}/f", "user.color", b"blue\0ish")
    equal(os.getxattr(f"{d}/f", "user.color"), b"blue\0ish")
    os.setxattr(f"{d}/f", "user.color", b"red")
    equal(os.getxattr(f"{d}/f", "user.color"), b"red")
    os.setxattr(f"{d}/f", "user.empty", b"")
    equal(sorted(os.listxattr(f"{d}/f")), ["user.color", "user.empty"])
    os.removexattr(f"{d}/f", "user.color")
    fails(errno.ENODATA, os.getxattr, f"{d}/f", "user.color")
    fails(errno.ENODATA, os.removexattr, f"{d}/f", "user.color")


@case
def extended_attributes_are_created_or_replaced_as_asked(d):
    write(f"{d}/f")
    fails(errno.ENODATA, os.setxattr, f"{d}/f", "user.a", b"1", os.XATTR_REPLACE)
    os.setxattr(f"{d}/f", "user.a", b"1", os.XATTR_CREATE)
    fails(errno.EEXIST, os.setxattr, f"{d}/f", "user.a", b"2", os.XATTR_CREATE)
    os.setxattr(f"{d}/f", "user.a", b"3", os.XATTR_REPLACE)
    equal(os.getxattr(f"{d}/f", "user.a"), b"3")


@case
def extended_attributes_may_be_long(d):
    os.mkdir(f"{d}/s")
    name, value = "user." + "n" * 250, bytes(range(256)) * 120
    os.setxattr(f"{d}/s", name, value)
    equal(os.getxattr(f"{d}/s", name), value)
    equal(os.listxattr(f"{d}/s"), [name])
    fails(errno.ERANGE, os.setxattr, f"{d}/s", name + "x", b"")


@case
def trusted_attributes_are_listed_for_root_alone(d):
    write(f"{d}/f")
    names = ["trusted.first", "trusted.second", "user.a", "user.b"]
    for name in names:
        os.setxattr(f"{d}/f", name, b"1")
    equal(sorted(os.listxattr(f"{d}/f")), names)
    as_user(12345, 12345, lambda: equal(sorted(os.listxattr(f"{d}/f")), names[2:]))


@case
def access_lists_are_refused_rather_than_ignored(d):
    write(f"{d}/f")
    owner, user, group, mask, other = 1, 2, 4, 16, 32
    entries = [(owner, 6, -1), (user, 6, 12345), (group, 4, -1), (mask, 6, -1), (other, 4, -1)]
    access_list = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    fails(errno.EOPNOTSUPP, os.setxattr, f"{d}/f", "system.posix_acl_access", access_list)


@case
def statfs_tells_space_and_name_length(d):
    found = os.statvfs(d)
    equal(found.f_namemax, 255)
    if found.f_bsize <= 0 or found.f_blocks <= 0 or found.f_bavail > found.f_blocks:
        raise AssertionError(repr(found))


@case
def inode_numbers_are_distinct_and_stay(d):
    for i in range(50):
        write(f"{d}/{i}")
    numbers = {os.stat(f"{d}/{i}").st_ino for i in range(50)}
    equal(len(numbers), 50)
    equal({entry.inode() for entry in os.scandir(d)}, numbers)


@case
def record_locks_exclude_other_processes(d):
    write(f"{d}/f", b"0" * 100)
    with open(f"{d}/f", "r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX, 10, 0)
        in_child(lambda: fails(errno.EAGAIN, lock_range, f"{d}/f", 5))
        in_child(lambda: lock_range(f"{d}/f", 50))


def lock_range(path, start):
    with open(path, "r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, start)


@case
def whole_file_locks_exclude_other_descriptors(d):
    write(f"{d}/f")
    with open(f"{d}/f", "rb") as first, open(f"{d}/f", "rb") as second:
        fcntl.flock(first, fcntl.LOCK_EX)
        fails(errno.EAGAIN, fcntl.flock, second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(first, fcntl.LOCK_UN)
        fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)


def in_child(function):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function()
            status = 0
        finally:
            os._exit(status)
    equal(os.waitpid(child, 0)[1], 0, "exit status of the child")
