/*
 * Preloaded into a FUSE server: the kernel it sees lacks what the environment's KERNEL_LACKS names.
 *
 *   resend        FUSE_NOTIFY_RESEND is answered EINVAL (before Linux 6.9)
 *   has_resend    INIT does not offer it (before 6.9)
 *   uring         INIT does not offer FUSE_OVER_IO_URING (before 6.14)
 *   passthrough   INIT does not offer it (before 6.9)
 *   readdirplus   INIT does not offer it (before 3.9)
 *   max_pages     INIT does not offer it (before 4.20)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INIT = 26, NOTIFY_RESEND = 7, NOTICE_BYTES = 16, INIT_BYTES = 104 };

struct init {
    uint32_t length, opcode;
    uint64_t unique, node;
    uint32_t ids[4];
    uint32_t major, minor, readahead, flags, flags2;
};

static bool lacks(const char *what) {
    const char *all = getenv("KERNEL_LACKS");
    size_t bytes = strlen(what);
    while (all != NULL && *all != '\0') {
        if (strncmp(all, what, bytes) == 0 && (all[bytes] == ',' || all[bytes] == '\0')) {
            return true;
        }
        all = strchr(all, ',');
        all = all == NULL ? NULL : all + 1;
    }
    return false;
}

ssize_t write(int fd, const void *data, size_t bytes) {
    static ssize_t (*next)(int, const void *, size_t);
    static const int32_t resend[] = {NOTICE_BYTES, NOTIFY_RESEND, 0, 0};
    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "write");
    }
    if (bytes == NOTICE_BYTES && memcmp(data, resend, bytes) == 0 && lacks("resend")) {
        errno = EINVAL;
        return -1;
    }
    return next(fd, data, bytes);
}

ssize_t read(int fd, void *into, size_t bytes) {
    static ssize_t (*next)(int, void *, size_t);
    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "read");
    }
    ssize_t result = next(fd, into, bytes);
    struct init *init = into;
    if (result == INIT_BYTES && init->length == INIT_BYTES && init->opcode == INIT) {
        init->flags &= ~((uint32_t)lacks("readdirplus") << 13 | (uint32_t)lacks("max_pages") << 22);
        init->flags2 &= ~((uint32_t)lacks("passthrough") << 5 | (uint32_t)lacks("has_resend") << 7 |
                          (uint32_t)lacks("uring") << 9);
    }
    return result;
}
