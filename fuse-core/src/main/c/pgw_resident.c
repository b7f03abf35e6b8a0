#include "pgw_resident.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Of <linux/mman.h> since 6.5. */
struct cached_range {
    uint64_t offset;
    uint64_t bytes;
};

struct cached_pages {
    uint64_t cached;
    uint64_t dirty;
    uint64_t under_writeback;
    uint64_t evicted;
    uint64_t recently_evicted;
};

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* on all architectures but alpha */
#endif

int pgw_resident_begin(int fd) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NOATIME) != 0) {
        return -errno;
    }
    return -posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
}

/*
 * RWF_NOWAIT alone would start to read what is missing, for which the disk's queue, when it is
 * full, is waited for.
 */
static int check_cached(int fd, size_t bytes, off_t offset) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t first = (uint64_t)offset / page;
    const uint64_t last = ((uint64_t)offset + bytes - 1) / page;
    struct cached_range range = {(uint64_t)offset, bytes};
    struct cached_pages pages = {0};
    if (syscall(SYS_cachestat, fd, &range, &pages, 0) != 0) {
        return -errno;
    }
    return pages.cached > last - first ? 0 : -EAGAIN;
}

/* On tmpfs: only its files have seals, and the kernel knows no RWF_NOWAIT for them. */
static bool is_memory(int fd) {
    return fcntl(fd, F_GET_SEALS) >= 0;
}

ssize_t pgw_resident_read(int fd, void *into, size_t bytes, off_t offset) {
    struct iovec whole = {into, bytes};
    ssize_t count;
    int missing = bytes == 0 ? -EAGAIN : check_cached(fd, bytes, offset);
    if (missing != 0) {
        return missing;
    }
    count = preadv2(fd, &whole, 1, offset, RWF_NOWAIT);
    if (count < 0 && errno == EOPNOTSUPP && is_memory(fd)) {
        count = pread(fd, into, bytes, offset);
    }
    if (count < 0) {
        return -errno;
    }
    return (size_t)count == bytes ? count : -EAGAIN;
}
