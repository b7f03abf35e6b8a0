"""What names do: making, finding, removing, renaming, linking, listing."""

import ctypes
import errno
import os
import stat
import threading

from suite import Skipped, as_user, case, equal, fails, many, read, write

LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD = -100
NOREPLACE, EXCHANGE = 1, 2


def renameat2(old, new, flags):
    if LIBC.renameat2(AT_FDCWD, os.fsencode(old), AT_FDCWD, os.fsencode(new), flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def names(directory):
    return sorted(os.listdir(directory))


@case
def a_missing_name_is_not_found(d):
    fails(errno.ENOENT, os.stat, f"{d}/none")
    fails(errno.ENOENT, os.open, f"{d}/none", os.O_RDONLY)
    fails(errno.ENOENT, os.unlink, f"{d}/none")
    fails(errno.ENOENT, os.rmdir, f"{d}/none")
    fails(errno.ENOENT, os.rename, f"{d}/none", f"{d}/other")
    fails(errno.ENOENT, os.stat, f"{d}/none/below")


@case
def a_name_found_missing_is_found_once_made(d):
    fails(errno.ENOENT, os.stat, f"{d}/f")
    write(f"{d}/f", b"x")
    equal(os.stat(f"{d}/f").st_size, 1)
    os.unlink(f"{d}/f")
    fails(errno.ENOENT, os.stat, f"{d}/f")


@case
def a_file_is_no_directory(d):
    write(f"{d}/f")
    fails(errno.ENOTDIR, os.stat, f"{d}/f/below")
    fails(errno.ENOTDIR, os.rmdir, f"{d}/f")
    fails(errno.ENOTDIR, os.listdir, f"{d}/f")


@case
def mkdir_makes_an_empty_directory(d):
    os.mkdir(f"{d}/sub", 0o750)
    mode = os.stat(f"{d}/sub").st_mode
    equal(stat.S_ISDIR(mode), True)
    equal(stat.S_IMODE(mode), 0o750)
    equal(names(f"{d}/sub"), [])
    fails(errno.EEXIST, os.mkdir, f"{d}/sub")


@case
def rmdir_takes_empty_directories_only(d):
    os.makedirs(f"{d}/a/b")
    fails(errno.ENOTEMPTY, os.rmdir, f"{d}/a")
    os.rmdir(f"{d}/a/b")
    os.rmdir(f"{d}/a")
    equal(names(d), [])


@case
def unlink_refuses_a_directory(d):
    os.mkdir(f"{d}/sub")
    fails(errno.EISDIR, os.unlink, f"{d}/sub")


@case
def a_directory_counts_its_subdirectories(d):
    before = os.stat(d).st_nlink
    os.mkdir(f"{d}/a")
    os.mkdir(f"{d}/b")
    equal(os.stat(d).st_nlink, before + 2)
    equal(os.stat(f"{d}/a").st_nlink, 2)
    os.rename(f"{d}/a", f"{d}/b/a")
    equal(os.stat(d).st_nlink, before + 1)
    equal(os.stat(f"{d}/b").st_nlink, 3)


@case
def create_exclusively_refuses_what_exists(d):
    descriptor = os.open(f"{d}/f", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o640)
    os.close(descriptor)
    equal(stat.S_IMODE(os.stat(f"{d}/f").st_mode), 0o640)
    fails(errno.EEXIST, os.open, f"{d}/f", os.O_CREAT | os.O_EXCL | os.O_WRONLY)


@case
def the_umask_is_taken_off(d):
    os.umask(0o027)
    os.close(os.open(f"{d}/f", os.O_CREAT | os.O_WRONLY, 0o666))
    os.mkdir(f"{d}/s", 0o777)
    equal(stat.S_IMODE(os.stat(f"{d}/f").st_mode), 0o640)
    equal(stat.S_IMODE(os.stat(f"{d}/s").st_mode), 0o750)


@case
def rename_moves_a_file(d):
    os.mkdir(f"{d}/to")
    write(f"{d}/f", b"data")
    inode = os.stat(f"{d}/f").st_ino
    os.rename(f"{d}/f", f"{d}/to/g")
    equal(names(d), ["to"])
    equal(read(f"{d}/to/g"), b"data")
    equal(os.stat(f"{d}/to/g").st_ino, inode, "inode")


@case
def rename_replaces_a_file(d):
    write(f"{d}/new", b"new")
    write(f"{d}/old", b"old one")
    os.rename(f"{d}/new", f"{d}/old")
    equal(read(f"{d}/old"), b"new")
    equal(names(d), ["old"])


@case
def a_replaced_file_stays_readable_through_its_descriptor(d):
    write(f"{d}/new", b"new")
    write(f"{d}/old", b"old")
    with open(f"{d}/old", "rb") as file:
        os.rename(f"{d}/new", f"{d}/old")
        equal(file.read(), b"old")


@case
def rename_to_itself_does_nothing(d):
    write(f"{d}/f", b"1")
    os.rename(f"{d}/f", f"{d}/f")
    equal(read(f"{d}/f"), b"1")


@case
def rename_moves_a_tree(d):
    os.makedirs(f"{d}/a/b/c")
    write(f"{d}/a/b/c/f", b"deep")
    os.mkdir(f"{d}/z")
    os.rename(f"{d}/a", f"{d}/z/a")
    equal(read(f"{d}/z/a/b/c/f"), b"deep")
    fails(errno.ENOENT, os.stat, f"{d}/a")


@case
def rename_replaces_an_empty_directory_only(d):
    os.mkdir(f"{d}/a")
    os.mkdir(f"{d}/b")
    write(f"{d}/b/f")
    fails(errno.ENOTEMPTY, os.rename, f"{d}/a", f"{d}/b")
    os.unlink(f"{d}/b/f")
    os.rename(f"{d}/a", f"{d}/b")
    equal(names(d), ["b"])


@case
def rename_does_not_mix_files_and_directories(d):
    os.mkdir(f"{d}/dir")
    write(f"{d}/file")
    fails(errno.ENOTDIR, os.rename, f"{d}/dir", f"{d}/file")
    fails(errno.EISDIR, os.rename, f"{d}/file", f"{d}/dir")


@case
def a_directory_does_not_move_below_itself(d):
    os.makedirs(f"{d}/a/b")
    fails(errno.EINVAL, os.rename, f"{d}/a", f"{d}/a/b/c")


@case
def rename_noreplace_refuses_what_exists(d):
    write(f"{d}/a", b"a")
    write(f"{d}/b", b"b")
    fails(errno.EEXIST, renameat2, f"{d}/a", f"{d}/b", NOREPLACE)
    renameat2(f"{d}/a", f"{d}/c", NOREPLACE)
    equal(names(d), ["b", "c"])


@case
def rename_exchange_swaps(d):
    write(f"{d}/a", b"a")
    os.mkdir(f"{d}/b")
    write(f"{d}/b/in", b"b")
    renameat2(f"{d}/a", f"{d}/b", EXCHANGE)
    equal(read(f"{d}/b"), b"a")
    equal(read(f"{d}/a/in"), b"b")
    fails(errno.ENOENT, renameat2, f"{d}/a", f"{d}/none", EXCHANGE)


@case
def a_hard_link_is_the_same_file(d):
    write(f"{d}/a", b"1")
    os.link(f"{d}/a", f"{d}/b")
    equal(os.stat(f"{d}/a").st_ino, os.stat(f"{d}/b").st_ino)
    equal(os.stat(f"{d}/a").st_nlink, 2)
    write(f"{d}/b", b"two")
    equal(read(f"{d}/a"), b"two")
    os.unlink(f"{d}/a")
    equal(os.stat(f"{d}/b").st_nlink, 1)
    equal(read(f"{d}/b"), b"two")


@case
def a_hard_link_needs_a_free_name_and_no_directory(d):
    write(f"{d}/a")
    write(f"{d}/b")
    os.mkdir(f"{d}/sub")
    fails(errno.EEXIST, os.link, f"{d}/a", f"{d}/b")
    fails(errno.EPERM, os.link, f"{d}/sub", f"{d}/c")


@case
def rename_between_links_of_one_file_does_nothing(d):
    write(f"{d}/a", b"x")
    os.link(f"{d}/a", f"{d}/b")
    os.rename(f"{d}/a", f"{d}/b")
    equal(names(d), ["a", "b"])


@case
def a_symlink_leads_where_it_says(d):
    write(f"{d}/target", b"t")
    os.symlink("target", f"{d}/link")
    equal(os.readlink(f"{d}/link"), "target")
    equal(read(f"{d}/link"), b"t")
    equal(stat.S_ISLNK(os.lstat(f"{d}/link").st_mode), True)
    equal(os.lstat(f"{d}/link").st_size, len("target"))
    fails(errno.EINVAL, os.readlink, f"{d}/target")
    fails(errno.EEXIST, os.symlink, "x", f"{d}/link")


@case
def a_symlink_may_dangle_and_loop_and_be_long(d):
    os.symlink("nowhere", f"{d}/dangling")
    fails(errno.ENOENT, os.stat, f"{d}/dangling")
    os.symlink("loop", f"{d}/loop")
    fails(errno.ELOOP, os.stat, f"{d}/loop")
    long = "x" * 200 + "/" + "y" * 3800
    os.symlink(long, f"{d}/long")
    equal(os.readlink(f"{d}/long"), long)


@case
def special_files_keep_their_kind(d):
    os.mkfifo(f"{d}/fifo", 0o600)
    equal(stat.S_ISFIFO(os.stat(f"{d}/fifo").st_mode), True)
    os.mknod(f"{d}/socket", stat.S_IFSOCK | 0o600)
    equal(stat.S_ISSOCK(os.stat(f"{d}/socket").st_mode), True)
    os.mknod(f"{d}/regular", stat.S_IFREG | 0o600)
    equal(stat.S_ISREG(os.stat(f"{d}/regular").st_mode), True)
    if os.geteuid() == 0:
        os.mknod(f"{d}/null", stat.S_IFCHR | 0o600, os.makedev(1, 3))
        equal(os.stat(f"{d}/null").st_rdev, os.makedev(1, 3))


@case
def a_fifo_carries_bytes(d):
    os.mkfifo(f"{d}/fifo")
    got = []
    reader = threading.Thread(target=lambda: got.append(read(f"{d}/fifo")))
    reader.start()
    write(f"{d}/fifo", b"through")
    reader.join(30)
    equal(got, [b"through"])


@case
def a_listing_shows_every_name_once(d):
    wanted = sorted(f"file-{i:04}" for i in range(many(1500)))
    for name in wanted:
        os.close(os.open(f"{d}/{name}", os.O_CREAT | os.O_WRONLY))
    equal(names(d), wanted)


@case
def a_listing_knows_types_and_inodes(d):
    write(f"{d}/f")
    os.mkdir(f"{d}/s")
    os.symlink("f", f"{d}/l")
    kinds = {}
    with os.scandir(d) as entries:
        for entry in entries:
            equal(entry.inode(), os.lstat(entry.path).st_ino, entry.name)
            kinds[entry.name] = (entry.is_file(follow_symlinks=False), entry.is_dir(follow_symlinks=False))
    equal(kinds, {"f": (True, False), "s": (False, True), "l": (False, False)})


@case
def a_listing_survives_removals(d):
    for i in range(many(500)):
        os.close(os.open(f"{d}/{i}", os.O_CREAT | os.O_WRONLY))
    with os.scandir(d) as entries:
        for entry in entries:
            os.unlink(entry.path)
    equal(names(d), [])


@case
def dot_and_dot_dot_are_inodes(d):
    os.mkdir(f"{d}/s")
    equal(os.stat(f"{d}/s/.").st_ino, os.stat(f"{d}/s").st_ino)
    equal(os.stat(f"{d}/s/..").st_ino, os.stat(d).st_ino)


@case
def a_removed_directory_takes_no_names(d):
    os.mkdir(f"{d}/s")
    descriptor = os.open(f"{d}/s", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.rmdir(f"{d}/s")
        fails(errno.ENOENT, os.mkdir, "x", dir_fd=descriptor)
        equal(os.listdir(descriptor), [])
    finally:
        os.close(descriptor)


@case
def names_are_bytes(d):
    base = os.fsencode(d)
    wanted = sorted(
        [
            b"with space",
            b"new\nline",
            b"tab\t",
            b"quote'\"",
            b"back\\slash",
            b"-dash",
            b"\xf0\x9f\x90\xb3 whale",
            "žluťoučký".encode(),
            "日本語".encode(),
            b"x" * 255,
            b"*?[]",
            b"...",
        ]
    )
    for name in wanted:
        write(base + b"/" + name, name)
    equal(sorted(os.listdir(base)), wanted)
    for name in wanted:
        equal(read(base + b"/" + name), name)
        os.unlink(base + b"/" + name)
    equal(os.listdir(base), [])


@case
def names_need_not_be_utf8(d):
    base = os.fsencode(d)
    for name in (b"\xff\xfe", b"half \xf0\x9f", b"latin-1 \xe9"):
        write(base + b"/" + name, name)
        equal(os.listdir(base), [name])
        os.unlink(base + b"/" + name)


@case
def a_name_of_256_bytes_is_too_long(d):
    fails(errno.ENAMETOOLONG, os.stat, f"{d}/{'n' * 256}")
    fails(errno.ENAMETOOLONG, os.mkdir, f"{d}/{'n' * 256}")
    fails(errno.ENAMETOOLONG, os.rename, d, f"{d}/{'n' * 256}")


@case
def permission_bits_are_heeded(d):
    write(f"{d}/secret", b"s")
    os.chmod(f"{d}/secret", 0o600)
    os.mkdir(f"{d}/closed", 0o700)
    as_user(12345, 12345, lambda: fails(errno.EACCES, os.open, f"{d}/secret", os.O_RDONLY))
    as_user(12345, 12345, lambda: fails(errno.EACCES, os.stat, f"{d}/closed/x"))
    as_user(12345, 12345, lambda: fails(errno.EACCES, os.mkdir, f"{d}/mine"))


@case
def a_sticky_directory_protects_names(d):
    os.mkdir(f"{d}/tmp")
    os.chmod(f"{d}/tmp", 0o1777)
    as_user(12345, 12345, lambda: write(f"{d}/tmp/theirs"))
    as_user(12346, 12346, lambda: fails(errno.EPERM, os.unlink, f"{d}/tmp/theirs"))
    as_user(12345, 12345, lambda: os.unlink(f"{d}/tmp/theirs"))


@case
def what_a_user_makes_is_theirs(d):
    os.chmod(d, 0o777)
    as_user(12345, 23456, lambda: os.mkdir(f"{d}/mine"))
    as_user(12345, 23456, lambda: write(f"{d}/file"))
    for name in ("mine", "file"):
        found = os.stat(f"{d}/{name}")
        equal((found.st_uid, found.st_gid), (12345, 23456), name)


@case
def a_set_group_id_directory_gives_its_group(d):
    if os.geteuid() != 0:
        raise Skipped("only root can give a directory to another group")
    os.chown(d, -1, 4321)
    os.chmod(d, 0o2777)
    write(f"{d}/f")
    os.mkdir(f"{d}/s")
    equal(os.stat(f"{d}/f").st_gid, 4321)
    equal(os.stat(f"{d}/s").st_gid, 4321)
    equal(os.stat(f"{d}/s").st_mode & stat.S_ISGID, stat.S_ISGID)
