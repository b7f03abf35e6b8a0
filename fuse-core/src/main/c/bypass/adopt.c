#include "adopt.h"

#include "ask.h"
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* What open adds by itself where files may be large. */
#if defined(__aarch64__)
#define LARGE_FILE 0400000
#else
#define LARGE_FILE 0100000
#endif
/* With other flags a file is left to FUSE. */
#define ALLOWED_FLAGS (O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK | O_SYNC | LARGE_FILE)

static void close_all(const int *fds, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        syscall(SYS_close, fds[i]);
    }
}

/* Is the file one to ask for? Its identity, by what the kernel knows already. */
static bool is_wanted(int fd, struct pgw_identity *identity) {
    struct statx status;
    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                STATX_TYPE | STATX_SIZE | STATX_INO, &status) != 0 ||
        !S_ISREG(status.stx_mode)) {
        return false;
    }
    identity->device = makedev(status.stx_dev_major, status.stx_dev_minor);
    identity->inode = status.stx_ino;
    return pgw_ask_wanted(identity->device, status.stx_size);
}

/* Is a block file as long as it has to be? */
static bool is_long(int fd, uint64_t bytes) {
    struct statx status;
    return syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE, &status) == 0 &&
           S_ISREG(status.stx_mode) && status.stx_size == bytes;
}

/* Takes the blocks; NULL: they are not what they are said to be, or there is no room. */
static struct pgw_file *made_of(const struct pgw_bypass_answer *answer, int *blocks,
                                const struct pgw_identity *identity) {
    struct pgw_file *file = pgw_file_reserve();
    uint64_t left = answer->size_bytes;
    if (file == NULL) {
        close_all(blocks, answer->blocks);
        return NULL;
    }
    for (uint32_t i = 0; i < answer->blocks; i++) {
        uint64_t bytes = left < answer->block_bytes ? left : answer->block_bytes;
        int kept = is_long(blocks[i], bytes) ? pgw_hold(blocks[i]) : -1;
        if (kept < 0) {
            close_all(blocks + i, answer->blocks - i);
            pgw_file_abandon(file);
            return NULL;
        }
        atomic_store(&file->fds[i], kept);
        file->blocks = i + 1;
        left -= bytes;
    }
    file->identity = *identity;
    file->content = answer->content;
    file->size_bytes = answer->size_bytes;
    file->block_bytes = answer->block_bytes;
    pgw_file_publish(file);
    return file;
}

/* The file's blocks are given: fd becomes the one, or is a file of several. */
static void begin(int fd, int flags, struct pgw_bypass_answer *answer, int *blocks,
                  const struct pgw_identity *identity) {
    struct pgw_file *file;
    if (answer->blocks == 1) {
        if (is_long(blocks[0], answer->size_bytes)) {
            pgw_single_begin(fd, blocks[0], (flags & O_CLOEXEC) != 0);
        } else {
            close_all(blocks, 1);
        }
        return;
    }
    file = made_of(answer, blocks, identity);
    if (file != NULL) {
        pgw_file_attach(fd, file);
    }
}

void pgw_adopt(int fd, int flags, uint32_t most_blocks) {
    int error = errno;
    int blocks[PGW_BYPASS_BLOCKS];
    struct pgw_bypass_answer answer;
    struct pgw_identity identity;
    struct pgw_file *known;

    if ((unsigned)fd >= PGW_DESCRIPTORS || (flags & ~ALLOWED_FLAGS) != O_RDONLY) {
        return;
    }
    if (is_wanted(fd, &identity) && pgw_table_is_ours()) {
        known = most_blocks > 1 ? pgw_file_find(&identity) : NULL;
        if (!pgw_ask(fd, known == NULL ? 0 : known->content, most_blocks, &answer, blocks)) {
            answer.status = PGW_BYPASS_STATUSES;
        }
        if (answer.status == PGW_BYPASS_SAME) {
            pgw_file_attach(fd, known);
            known = NULL;
        } else if (answer.status == PGW_BYPASS_GIVEN) {
            begin(fd, flags, &answer, blocks, &identity);
        }
        if (known != NULL) {
            pgw_file_unref(known);
        }
    }
    errno = error;
}

/* Is `fd` the block file of the file behind `twin`? */
static void pair(int fd, int twin) {
    int block;
    struct pgw_bypass_answer answer;
    struct pgw_identity file;
    struct pgw_identity given;
    struct pgw_identity there;
    if (!pgw_identity_of(fd, &there) || !is_wanted(twin, &file) ||
        !pgw_ask(twin, 0, 1, &answer, &block)) {
        return;
    }
    if (pgw_identity_of(block, &given) && given.device == there.device &&
        given.inode == there.inode) {
        pgw_single_found(fd, &given);
    }
    syscall(SYS_close, block);
}

struct linux_dirent64 {
    uint64_t d_ino;
    int64_t d_off;
    unsigned short d_reclen;
    unsigned char d_type;
    char d_name[];
};

void pgw_adopt_inherited(void) {
    _Alignas(struct linux_dirent64) char entries[4096];
    int error = errno;
    int folder =
        (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    long bytes;
    while (folder >= 0 && (bytes = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0) {
        for (long at = 0; at < bytes;) {
            struct linux_dirent64 *entry = (void *)(entries + at);
            long number = strtol(entry->d_name, NULL, 10);
            if (number >= PGW_TWINS && number < PGW_TWINS + PGW_DESCRIPTORS) {
                pair((int)number - PGW_TWINS, (int)number);
            }
            at += entry->d_reclen;
        }
    }
    if (folder >= 0) {
        syscall(SYS_close, folder);
    }
    errno = error;
}
