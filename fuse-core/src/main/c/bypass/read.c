/*
 * Interposed: reads of files of several blocks. All other descriptors cost one look at a table.
 *
 * The offset is the kernel's, of the FUSE file, and so shared with whoever shares the descriptor. A
 * read first moves it by all it asks for, in one step, so that no two readers get the same bytes,
 * and then gives back what lies behind the end.
 */
#include "next.h"
#include "raw.h"
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t __read_chk(int fd, void *into, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *into, size_t bytes, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *into, size_t bytes, off64_t offset, size_t room);

/* The most that one read brings. */
#define MAX_BYTES ((size_t)0x7ffff000)
#define LEFT_TO_FUSE (-2)

/* As far as there are bytes; fewer than the file has there, or none: a block failed. */
static size_t read_blocks(struct pgw_file *file, char *into, size_t bytes, uint64_t offset) {
    size_t got = 0;
    while (got < bytes && offset + got < file->size_bytes) {
        uint64_t at = offset + got;
        uint64_t within = at % file->block_bytes;
        uint64_t most = file->block_bytes - within;
        int block = atomic_load(&file->fds[at / file->block_bytes]);
        long count = pgw_raw(SYS_pread64, block, into + got,
                             bytes - got < most ? bytes - got : (size_t)most, (off_t)within);
        if (count <= 0) {
            break;
        }
        got += (size_t)count;
    }
    return got;
}

/* Bytes that the file has from the offset on, at most so many. */
static size_t there(const struct pgw_file *file, uint64_t offset, size_t bytes) {
    uint64_t left = offset < file->size_bytes ? file->size_bytes - offset : 0;
    return bytes < left ? bytes : (size_t)left;
}

static size_t total(const struct iovec *parts, int count) {
    size_t bytes = 0;
    for (int i = 0; i < count; i++) {
        if (parts[i].iov_len > MAX_BYTES - bytes) {
            return MAX_BYTES;
        }
        bytes += parts[i].iov_len;
    }
    return bytes;
}

/* Reads into the parts one after the other. */
static size_t read_parts(struct pgw_file *file, const struct iovec *parts, int count, size_t bytes,
                         uint64_t offset) {
    size_t got = 0;
    for (int i = 0; i < count && got < bytes; i++) {
        size_t wanted = parts[i].iov_len < bytes - got ? parts[i].iov_len : bytes - got;
        size_t came = read_blocks(file, parts[i].iov_base, wanted, offset + got);
        got += came;
        if (came < wanted) {
            break;
        }
    }
    return got;
}

/* At a place. LEFT_TO_FUSE: what cannot be read here, so that the error is FUSE's as well. */
static ssize_t read_at(int fd, const struct iovec *parts, int count, off_t offset) {
    struct pgw_file *file;
    ssize_t result = LEFT_TO_FUSE;
    int error = errno;
    if (offset < 0 || count < 0 || count > IOV_MAX || (file = pgw_file_get(fd)) == NULL) {
        return LEFT_TO_FUSE;
    }
    size_t bytes = there(file, (uint64_t)offset, total(parts, count));
    size_t got = read_parts(file, parts, count, bytes, (uint64_t)offset);
    if (got > 0 || bytes == 0) {
        result = (ssize_t)got;
    }
    pgw_file_unref(file);
    errno = error;
    return result;
}

/* At the offset. */
static ssize_t read_on(int fd, const struct iovec *parts, int count) {
    struct pgw_file *file;
    ssize_t result = LEFT_TO_FUSE;
    int error = errno;
    if (count < 0 || count > IOV_MAX || (file = pgw_file_get(fd)) == NULL) {
        return LEFT_TO_FUSE;
    }
    size_t asked = total(parts, count);
    long end = pgw_raw(SYS_lseek, fd, (off_t)asked, SEEK_CUR);
    if (end >= 0) {
        uint64_t offset = (uint64_t)end - asked;
        size_t bytes = there(file, offset, asked);
        size_t got = read_parts(file, parts, count, bytes, offset);
        if (got < asked) {
            pgw_raw(SYS_lseek, fd, (off_t)got - (off_t)asked, SEEK_CUR);
        }
        if (got > 0 || bytes == 0) {
            result = (ssize_t)got;
        }
    }
    pgw_file_unref(file);
    errno = error;
    return result;
}

/* The function's own way, unless fd is ours. */
#define READ_ON(fd, parts, count, otherwise)                                                       \
    ssize_t read_ = pgw_may_be_file(fd) ? read_on(fd, parts, count) : LEFT_TO_FUSE;                \
    return read_ == LEFT_TO_FUSE ? (otherwise) : read_
#define READ_AT(fd, parts, count, offset, otherwise)                                               \
    ssize_t read_ = pgw_may_be_file(fd) ? read_at(fd, parts, count, offset) : LEFT_TO_FUSE;        \
    return read_ == LEFT_TO_FUSE ? (otherwise) : read_
#define PART(into, bytes) (&(struct iovec){.iov_base = (into), .iov_len = (bytes)})

PGW_INTERPOSED ssize_t read(int fd, void *into, size_t bytes) {
    READ_ON(fd, PART(into, bytes), 1, PGW_NEXT(read)(fd, into, bytes));
}

PGW_INTERPOSED ssize_t readv(int fd, const struct iovec *parts, int count) {
    READ_ON(fd, parts, count, PGW_NEXT(readv)(fd, parts, count));
}

PGW_INTERPOSED ssize_t pread(int fd, void *into, size_t bytes, off_t offset) {
    READ_AT(fd, PART(into, bytes), 1, offset, PGW_NEXT(pread)(fd, into, bytes, offset));
}

PGW_ALSO(pread64, pread);

PGW_INTERPOSED ssize_t preadv(int fd, const struct iovec *parts, int count, off_t offset) {
    READ_AT(fd, parts, count, offset, PGW_NEXT(preadv)(fd, parts, count, offset));
}

PGW_ALSO(preadv64, preadv);

/* With flags, or at the offset, the kernel may do as it likes. */
PGW_INTERPOSED ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset,
                               int flags) {
    READ_AT(fd, parts, count, flags == 0 ? offset : -1,
            PGW_NEXT(preadv2)(fd, parts, count, offset, flags));
}

PGW_ALSO(preadv64v2, preadv2);

PGW_INTERPOSED ssize_t __read_chk(int fd, void *into, size_t bytes, size_t room) {
    READ_ON(fd, PART(into, bytes), bytes > room ? -1 : 1,
            PGW_NEXT(__read_chk)(fd, into, bytes, room));
}

PGW_INTERPOSED ssize_t __pread_chk(int fd, void *into, size_t bytes, off_t offset, size_t room) {
    READ_AT(fd, PART(into, bytes), bytes > room ? -1 : 1, offset,
            PGW_NEXT(__pread_chk)(fd, into, bytes, offset, room));
}

PGW_ALSO(__pread64_chk, __pread_chk);
