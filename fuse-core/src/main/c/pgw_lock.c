#include "pgw_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

/* EINTR says nothing of the lock: file systems of a server give it even where nothing waits. */
static int try_lock(int fd) {
    int result;
    do {
        result = flock(fd, LOCK_EX | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    return result;
}

int pgw_lock_folder(const char *path, struct stat *status) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    if (try_lock(fd) != 0 || fstat(fd, status) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

int pgw_lock_is_held(const char *path) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int result;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    result = fcntl(fd, F_GETLK, &lock) != 0 ? -errno : lock.l_type != F_UNLCK;
    close(fd);
    return result;
}
