#include "pgw_beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDER_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
/* O_NONBLOCK: what is no file, such as a pipe, must not be waited for. */
#define FILE_FLAGS (O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)

static int close_for(int fd, int error) {
    close(fd);
    return error;
}

static int open_by_kernel(int folder, const char *path, int flags) {
    struct open_how how = {.flags = (unsigned)flags,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
                                      RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
    int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    return fd < 0 ? -errno : fd;
}

/* One component, on the device of the folder. */
static int open_step(int folder, const char *name, int flags) {
    struct stat here;
    struct stat there;
    int fd;
    if (strcmp(name, "..") == 0) {
        return -EXDEV;
    }
    fd = openat(folder, name, flags);
    if (fd < 0) {
        return -errno;
    }
    if (fstat(folder, &here) != 0 || fstat(fd, &there) != 0) {
        return close_for(fd, -errno);
    }
    return here.st_dev == there.st_dev ? fd : close_for(fd, -EXDEV);
}

static int open_by_steps(int folder, const char *path, int flags) {
    char rest[PATH_MAX];
    char *place = NULL;
    char *name;
    int at = folder;
    if (strlen(path) >= sizeof rest) {
        return -ENAMETOOLONG;
    }
    memcpy(rest, path, strlen(path) + 1);
    for (name = strtok_r(rest, "/", &place); name != NULL;) {
        char *next = strtok_r(NULL, "/", &place);
        int fd = open_step(at, name, next == NULL ? flags : FOLDER_FLAGS);
        if (at != folder) {
            close(at);
        }
        if (fd < 0) {
            return fd;
        }
        at = fd;
        name = next;
    }
    return at == folder ? -ENOENT : at;
}

static int open_beneath(int folder, const char *path, int flags, enum pgw_beneath_way way) {
    int fd = way == PGW_BENEATH_KERNEL ? open_by_kernel(folder, path, flags) : -ENOSYS;
    /* A seccomp profile older than the call says EPERM, which the call itself has no use for. */
    return fd == -ENOSYS || fd == -EPERM ? open_by_steps(folder, path, flags) : fd;
}

int pgw_beneath_folder(const char *root, const char *path, enum pgw_beneath_way way) {
    int top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (top < 0) {
        return -errno;
    }
    return path[0] == '\0' ? top : close_for(top, open_beneath(top, path, FOLDER_FLAGS, way));
}

int pgw_beneath_file(int folder, const char *name, struct stat *status, enum pgw_beneath_way way) {
    struct stat owner;
    int fd = open_beneath(folder, name, FILE_FLAGS, way);
    if (fd < 0) {
        return fd;
    }
    if (fstat(fd, status) != 0 || fstat(folder, &owner) != 0 || fcntl(fd, F_SETFL, 0) != 0) {
        return close_for(fd, -errno);
    }
    return S_ISREG(status->st_mode) && status->st_uid == owner.st_uid ? fd : close_for(fd, -EPERM);
}
