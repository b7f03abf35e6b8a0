/*
 * Locks that Java cannot take: that of a folder, which needs no file to be made, and so works on a
 * disk that is full or read-only.
 */
#ifndef PGW_LOCK_H
#define PGW_LOCK_H

#include <sys/stat.h>

/*
 * Opens a folder and takes its flock(2) exclusively, without waiting; `status` is filled with what
 * was locked. The descriptor holds the lock. -EAGAIN: another descriptor holds it; -ELOOP,
 * -ENOTDIR: the path ends in a link, or is no folder; -EBADF, -ENOLCK, -EOPNOTSUPP: its file system
 * cannot lock folders.
 */
int pgw_lock_folder(const char *path, struct stat *status);

/*
 * 1: another process holds a record lock (fcntl(2)) of any kind on the file; 0: none does. The
 * calling process must hold none, as it would lose its own.
 */
int pgw_lock_is_held(const char *path);

#endif
