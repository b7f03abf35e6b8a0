/*
 * Files beneath a folder that an administrator named, whatever others may have put there: no link
 * is followed, no other file system entered, and only a regular file of the owner of its folder is
 * opened, for reading.
 */
#ifndef PGW_BENEATH_H
#define PGW_BENEATH_H

#include <stdbool.h>
#include <sys/stat.h>

/* How far the kernel helps; chosen by whoever asks, so that tests reach both ways. */
enum pgw_beneath_way {
    PGW_BENEATH_KERNEL, /* openat2(2), since Linux 5.6; by steps where it is missing or forbidden */
    PGW_BENEATH_STEPS   /* each component by itself, with O_NOFOLLOW, on the device of the first */
};

/*
 * A descriptor of the folder `path`, relative to `root` and empty for `root` itself, good for
 * openat(2) and fstat(2) alone. -ELOOP or -ENOTDIR: a link on the way; -EXDEV: another file system,
 * or a way out of `root`.
 */
int pgw_beneath_folder(const char *root, const char *path, enum pgw_beneath_way way);

/*
 * Opens the file `name` of an open folder for reading and fills `status` with what it is. -EPERM:
 * it is no regular file, or belongs to another than its folder; -ELOOP: it is a link.
 */
int pgw_beneath_file(int folder, const char *name, struct stat *status, enum pgw_beneath_way way);

#endif
