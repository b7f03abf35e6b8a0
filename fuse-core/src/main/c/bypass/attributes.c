/* Interposed: what asks a descriptor for more than bytes. The twin answers. */
#include "next.h"
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

int __fxstat(int version, int fd, struct stat *status);
int __fxstat64(int version, int fd, struct stat64 *status);
int __fxstatat(int version, int fd, const char *path, struct stat *status, int flags);
int __fxstatat64(int version, int fd, const char *path, struct stat64 *status, int flags);

/* NAME(fd, …) of the twin. */
#define BY_TWIN(result, name, parameters, ...)                                                     \
    PGW_INTERPOSED result name parameters {                                                        \
        return PGW_NEXT(name)(pgw_twin(fd) __VA_OPT__(, ) __VA_ARGS__);                            \
    }

BY_TWIN(int, fstat, (int fd, struct stat *status), status)
PGW_ALSO(fstat64, fstat);
BY_TWIN(int, fstatfs, (int fd, struct statfs *status), status)
PGW_ALSO(fstatfs64, fstatfs);
BY_TWIN(int, fstatvfs, (int fd, struct statvfs *restrict status), status)
PGW_ALSO(fstatvfs64, fstatvfs);
BY_TWIN(int, flock, (int fd, int operation), operation)
BY_TWIN(ssize_t, fgetxattr, (int fd, const char *name, void *value, size_t room), name, value, room)
BY_TWIN(int, fsetxattr, (int fd, const char *name, const void *value, size_t bytes, int flags),
        name, value, bytes, flags)
BY_TWIN(ssize_t, flistxattr, (int fd, char *list, size_t room), list, room)
BY_TWIN(int, fremovexattr, (int fd, const char *name), name)
BY_TWIN(int, fchmod, (int fd, mode_t mode), mode)
BY_TWIN(int, fchown, (int fd, uid_t owner, gid_t group), owner, group)
BY_TWIN(int, futimens, (int fd, const struct timespec times[2]), times)
BY_TWIN(int, futimes, (int fd, const struct timeval times[2]), times)
BY_TWIN(int, fsync, (int fd))
BY_TWIN(int, fdatasync, (int fd))
BY_TWIN(int, syncfs, (int fd))
BY_TWIN(long, fpathconf, (int fd, int name), name)
BY_TWIN(int, fexecve, (int fd, char *const arguments[], char *const environment[]), arguments,
        environment)

/* Does the call mean the descriptor itself? */
static int of(int fd, const char *path) {
    return path == NULL || path[0] == '\0' ? pgw_twin(fd) : fd;
}

#define OF_TWIN(result, name, parameters, ...)                                                     \
    PGW_INTERPOSED result name parameters {                                                        \
        return PGW_NEXT(name)(of(fd, path), path, __VA_ARGS__);                                    \
    }

OF_TWIN(int, fstatat, (int fd, const char *restrict path, struct stat *restrict status, int flags),
        status, flags)
PGW_ALSO(fstatat64, fstatat);
OF_TWIN(int, statx,
        (int fd, const char *restrict path, int flags, unsigned mask,
         struct statx *restrict status),
        flags, mask, status)
OF_TWIN(int, fchownat, (int fd, const char *path, uid_t owner, gid_t group, int flags), owner,
        group, flags)
OF_TWIN(int, utimensat, (int fd, const char *path, const struct timespec times[2], int flags),
        times, flags)
OF_TWIN(int, execveat,
        (int fd, const char *path, char *const arguments[], char *const environment[], int flags),
        arguments, environment, flags)
OF_TWIN(int, linkat, (int fd, const char *path, int folder, const char *name, int flags), folder,
        name, flags)
OF_TWIN(int, name_to_handle_at,
        (int fd, const char *path, struct file_handle *handle, int *mount, int flags), handle,
        mount, flags)

PGW_INTERPOSED int __fxstat(int version, int fd, struct stat *status) {
    return PGW_NEXT(__fxstat)(version, pgw_twin(fd), status);
}

PGW_ALSO(__fxstat64, __fxstat);

PGW_INTERPOSED int __fxstatat(int version, int fd, const char *path, struct stat *status,
                              int flags) {
    return PGW_NEXT(__fxstatat)(version, of(fd, path), path, status, flags);
}

PGW_ALSO(__fxstatat64, __fxstatat);

/* Within one file system FUSE may copy what a block file's own would refuse (EXDEV). */
PGW_INTERPOSED ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset,
                                       size_t bytes, unsigned flags) {
    int twin = pgw_twin(from);
    off64_t at;
    ssize_t copied;
    if (twin == from || from_offset != NULL) {
        return PGW_NEXT(copy_file_range)(twin, from_offset, to, to_offset, bytes, flags);
    }
    at = lseek(from, 0, SEEK_CUR);
    copied = PGW_NEXT(copy_file_range)(twin, &at, to, to_offset, bytes, flags);
    if (copied > 0) {
        lseek(from, at, SEEK_SET);
    }
    return copied;
}
