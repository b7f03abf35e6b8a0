/* Interposed: what opens files. */
#include "adopt.h"
#include "next.h"
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
ssize_t __readlink_chk(const char *path, char *into, size_t bytes, size_t room);
ssize_t __readlinkat_chk(int folder, const char *path, char *into, size_t bytes, size_t room);

#define LINK_BYTES 32

/* The descriptor that a path names; -1: it names none. */
static int descriptor_of(const char *path) {
    static const char *const links[] = {"/proc/self/fd/", "/dev/fd/", "/proc/thread-self/fd/"};
    if (strcmp(path, "/dev/stdin") == 0) {
        return STDIN_FILENO;
    }
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        size_t bytes = strlen(links[i]);
        char *end;
        long fd;
        if (strncmp(path, links[i], bytes) != 0 || path[bytes] < '0' || path[bytes] > '9') {
            continue;
        }
        fd = strtol(path + bytes, &end, 10);
        if (*end == '\0' && fd < PGW_DESCRIPTORS) {
            return (int)fd;
        }
    }
    return -1;
}

/* "/proc/self/fd/N" and the like lead to the block file: a path that leads to the twin, or `path`.
 */
static const char *to_twin(const char *path, char *room) {
    int fd = path != NULL && path[0] == '/' && pgw_table_used() ? descriptor_of(path) : -1;
    int twin = fd < 0 ? fd : pgw_twin(fd);
    if (twin == fd) {
        return path;
    }
    snprintf(room, LINK_BYTES, "/proc/self/fd/%d", twin);
    return room;
}

/* What follows every open. */
static int opened(int fd, int flags) {
    if (fd >= 0) {
        pgw_release(fd);
        pgw_adopt(fd, flags, PGW_BYPASS_BLOCKS);
    }
    return fd;
}

/* The mode is there only with these flags. */
static mode_t mode_of(int flags, va_list *more) {
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(*more, mode_t) : 0;
}

PGW_INTERPOSED int open(const char *path, int flags, ...) {
    char room[LINK_BYTES];
    va_list more;
    mode_t mode;
    va_start(more, flags);
    mode = mode_of(flags, &more);
    va_end(more);
    return opened(PGW_NEXT(open)(to_twin(path, room), flags, mode), flags);
}

PGW_ALSO(open64, open);

PGW_INTERPOSED int openat(int folder, const char *path, int flags, ...) {
    char room[LINK_BYTES];
    va_list more;
    mode_t mode;
    va_start(more, flags);
    mode = mode_of(flags, &more);
    va_end(more);
    return opened(PGW_NEXT(openat)(folder, to_twin(path, room), flags, mode), flags);
}

PGW_ALSO(openat64, openat);

PGW_INTERPOSED int __open_2(const char *path, int flags) {
    char room[LINK_BYTES];
    return opened(PGW_NEXT(__open_2)(to_twin(path, room), flags), flags);
}

PGW_ALSO(__open64_2, __open_2);

PGW_INTERPOSED int __openat_2(int folder, const char *path, int flags) {
    char room[LINK_BYTES];
    return opened(PGW_NEXT(__openat_2)(folder, to_twin(path, room), flags), flags);
}

PGW_ALSO(__openat64_2, __openat_2);

PGW_INTERPOSED ssize_t readlink(const char *restrict path, char *restrict into, size_t bytes) {
    char room[LINK_BYTES];
    return PGW_NEXT(readlink)(to_twin(path, room), into, bytes);
}

PGW_INTERPOSED ssize_t readlinkat(int folder, const char *restrict path, char *restrict into,
                                  size_t bytes) {
    char room[LINK_BYTES];
    return PGW_NEXT(readlinkat)(folder, to_twin(path, room), into, bytes);
}

PGW_INTERPOSED ssize_t __readlink_chk(const char *path, char *into, size_t bytes, size_t room) {
    char other[LINK_BYTES];
    return PGW_NEXT(__readlink_chk)(to_twin(path, other), into, bytes, room);
}

PGW_INTERPOSED ssize_t __readlinkat_chk(int folder, const char *path, char *into, size_t bytes,
                                        size_t room) {
    char other[LINK_BYTES];
    return PGW_NEXT(__readlinkat_chk)(folder, to_twin(path, other), into, bytes, room);
}

/*
 * Streams read by libc's inner functions, which nobody can interpose: good for a descriptor that is
 * the block file, and for one that stays the FUSE file.
 */
static FILE *streamed(FILE *stream, const char *mode) {
    int fd = stream == NULL ? -1 : fileno(stream);
    const char *end = mode + strcspn(mode, ",");
    if (fd >= 0) {
        pgw_release(fd);
    }
    if (fd >= 0 && mode[0] == 'r' && memchr(mode, '+', (size_t)(end - mode)) == NULL) {
        bool close_on_exec = memchr(mode, 'e', (size_t)(end - mode)) != NULL;
        pgw_adopt(fd, O_RDONLY | (close_on_exec ? O_CLOEXEC : 0), 1);
    }
    return stream;
}

PGW_INTERPOSED FILE *fopen(const char *restrict path, const char *restrict mode) {
    char room[LINK_BYTES];
    return streamed(PGW_NEXT(fopen)(to_twin(path, room), mode), mode);
}

PGW_ALSO(fopen64, fopen);

/* Without a path the mode alone changes: libc opens the descriptor's file anew, which must be
 * FUSE's. */
static void reopening(const char *path, FILE *stream) {
    int fd = path == NULL && stream != NULL ? fileno(stream) : -1;
    if (fd >= 0) {
        pgw_single_end(fd);
    }
}

PGW_INTERPOSED FILE *freopen(const char *restrict path, const char *restrict mode,
                             FILE *restrict stream) {
    char room[LINK_BYTES];
    reopening(path, stream);
    return streamed(PGW_NEXT(freopen)(to_twin(path, room), mode, stream), mode);
}

PGW_ALSO(freopen64, freopen);

PGW_INTERPOSED int fclose(FILE *stream) {
    int error = errno;
    int fd = stream == NULL ? -1 : fileno(stream);
    errno = error;
    if (fd >= 0) {
        pgw_release(fd);
    }
    return PGW_NEXT(fclose)(stream);
}
