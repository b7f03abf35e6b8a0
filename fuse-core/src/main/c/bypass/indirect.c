/*
 * Interposed: libc's syscall, by which some runtimes (libuv's among them) close descriptors and ask
 * for attributes. What is done so is done as by the functions of these names.
 */
#include "next.h"
#include "table.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARGUMENTS 6

static void *pointer(long argument) {
    return (void *)(intptr_t)argument; // NOLINT(performance-no-int-to-ptr)
}

static long by_function(long number, const long *of) {
    int fd = (int)of[0];
    switch (number) {
    case SYS_close:
        return close(fd);
    case SYS_close_range:
        return close_range((unsigned)of[0], (unsigned)of[1], (int)of[2]);
    case SYS_dup:
        return dup(fd);
    case SYS_dup3:
        return dup3(fd, (int)of[1], (int)of[2]);
    case SYS_fcntl:
        return fcntl(fd, (int)of[1], pointer(of[2]));
    case SYS_fstat:
        return fstat(fd, pointer(of[1]));
    case SYS_newfstatat:
        return fstatat(fd, pointer(of[1]), pointer(of[2]), (int)of[3]);
    case SYS_statx:
        return statx(fd, pointer(of[1]), (int)of[2], (unsigned)of[3], pointer(of[4]));
    default:
        return PGW_NEXT(syscall)(number, of[0], of[1], of[2], of[3], of[4], of[5]);
    }
}

/* As libc does it, six arguments are taken, whatever was given. */
PGW_INTERPOSED long syscall(long number, ...) {
    long arguments[ARGUMENTS];
    va_list more;
    va_start(more, number);
    for (int i = 0; i < ARGUMENTS; i++) {
        arguments[i] = va_arg(more, long);
    }
    va_end(more);
    return by_function(number, arguments);
}
