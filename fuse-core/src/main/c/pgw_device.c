#include "pgw_device.h"

#include "pgw_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEVICE "/dev/fuse"
#define IOCTL_CLONE _IOR(229, 0, uint32_t)
#define IOCTL_BACKING_OPEN _IOW(229, 1, struct pgw_backing_map)
#define IOCTL_BACKING_CLOSE _IOW(229, 2, uint32_t)

int pgw_device_open(void) {
    int fd = open(DEVICE, O_RDWR | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int pgw_device_clone(int fd) {
    uint32_t source = (uint32_t)fd;
    int clone = pgw_device_open();
    if (clone < 0) {
        return clone;
    }
    if (ioctl(clone, IOCTL_CLONE, &source) != 0) {
        int error = -errno;
        close(clone);
        return error;
    }
    return clone;
}

int pgw_device_retire(int fd) {
    int result = 0;
    int nothing = open("/", O_PATH | O_CLOEXEC);
    if (nothing < 0) {
        return -errno;
    }
    if (dup3(nothing, fd, O_CLOEXEC) < 0) {
        result = -errno;
    }
    close(nothing);
    return result;
}

bool pgw_device_connected(int fd) {
    struct pollfd device = {.fd = fd};
    /* 1: POLLERR, which is never asked for. A signal that ends the look says nothing. */
    return poll(&device, 1, 0) <= 0;
}

long pgw_device_read(int fd, void *into, size_t capacity) {
    for (;;) {
        ssize_t bytes = read(fd, into, capacity);
        if (bytes >= 0) {
            return (long)bytes;
        }
        /* ENOENT: the caller went away while its request was on the way to us. */
        if (errno != ENOENT) {
            return -errno;
        }
    }
}

int pgw_device_write(int fd, const void *message, size_t bytes) {
    ssize_t written;
    do {
        written = write(fd, message, bytes);
    } while (written < 0 && errno == EINTR);
    return written < 0 ? -errno : 0;
}

int pgw_device_write_message(int fd, const void *message) {
    return pgw_device_write(fd, message, ((const struct pgw_out_header *)message)->len);
}

int pgw_device_open_backing(int fd, int file) {
    struct pgw_backing_map map = {.fd = file};
    int result = ioctl(fd, IOCTL_BACKING_OPEN, &map);
    return result < 0 ? -errno : result;
}

int pgw_device_close_backing(int fd, int32_t backing_id) {
    uint32_t id = (uint32_t)backing_id;
    return ioctl(fd, IOCTL_BACKING_CLOSE, &id) < 0 ? -errno : 0;
}
