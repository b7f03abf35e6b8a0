/* Interposed: what closes and duplicates descriptors, or sets their flags. */
#include "next.h"
#include "raw.h"
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Descriptors of ours are not open as far as the program knows. */
static int not_open(void) {
    errno = EBADF;
    return -1;
}

PGW_INTERPOSED int close(int fd) {
    if (pgw_is_hidden(fd)) {
        return not_open();
    }
    pgw_release(fd);
    return PGW_NEXT(close)(fd);
}

/* Closes all from first to last but what is hidden. */
static int close_visible(unsigned first, unsigned last, int flags) {
    unsigned from = first;
    int result = 0;
    for (unsigned fd = PGW_TWINS; fd < PGW_HELD_END; fd++) {
        if (fd < from || !pgw_is_hidden((int)fd)) {
            continue;
        }
        if (fd > last) {
            break;
        }
        if (fd > from) {
            result |= PGW_NEXT(close_range)(from, fd - 1, flags);
        }
        from = fd + 1;
    }
    return from <= last ? result | PGW_NEXT(close_range)(from, last, flags) : result;
}

/* Between vfork and exec the table is the parent's: twins go and stay by their numbers alone. */
static int close_by_number(unsigned first, unsigned last, int flags) {
    unsigned kept = first < PGW_DESCRIPTORS ? first : PGW_DESCRIPTORS;
    int result = 0;
    if (first < PGW_TWINS) {
        result = PGW_NEXT(close_range)(first, last < PGW_TWINS ? last : PGW_TWINS - 1, flags);
        first = PGW_TWINS;
    }
    if (last >= PGW_TWINS + kept && first < PGW_TWINS + kept) {
        first = PGW_TWINS + kept;
    }
    return first <= last ? result | PGW_NEXT(close_range)(first, last, flags) : result;
}

PGW_INTERPOSED int close_range(unsigned first, unsigned last, int flags) {
    if (!pgw_table_used() || first > last) {
        return PGW_NEXT(close_range)(first, last, flags);
    }
    if (!pgw_table_is_ours()) {
        return close_by_number(first, last, flags);
    }
    for (unsigned fd = first; fd <= last && fd < PGW_DESCRIPTORS; fd++) {
        if (((unsigned)flags & CLOSE_RANGE_CLOEXEC) == 0) {
            pgw_release((int)fd);
        } else if (pgw_twin((int)fd) != (int)fd) {
            pgw_raw(SYS_fcntl, pgw_twin((int)fd), F_SETFD, FD_CLOEXEC);
        }
    }
    return close_visible(first, last, flags);
}

PGW_INTERPOSED void closefrom(int first) {
    close_range(first < 0 ? 0 : (unsigned)first, UINT_MAX, 0);
}

PGW_INTERPOSED int dup(int fd) {
    int made = pgw_is_hidden(fd) ? not_open() : PGW_NEXT(dup)(fd);
    if (made >= 0) {
        pgw_release(made);
        pgw_follow(fd, made, false);
    }
    return made;
}

/* `to` will be something else, if `from` is open. */
static void replacing(int from, int to) {
    int error = errno;
    if (from != to && pgw_raw(SYS_fcntl, from, F_GETFD) >= 0) {
        pgw_release(to);
        pgw_vacate(to);
    }
    errno = error;
}

PGW_INTERPOSED int dup2(int from, int to) {
    int made;
    if (pgw_is_hidden(from)) {
        return not_open();
    }
    replacing(from, to);
    made = PGW_NEXT(dup2)(from, to);
    if (made >= 0) {
        pgw_follow(from, to, false);
    }
    return made;
}

PGW_INTERPOSED int dup3(int from, int to, int flags) {
    int made;
    if (pgw_is_hidden(from)) {
        return not_open();
    }
    replacing(from, to);
    made = PGW_NEXT(dup3)(from, to, flags);
    if (made >= 0) {
        pgw_follow(from, to, (flags & O_CLOEXEC) != 0);
    }
    return made;
}

/* A lock's place may be told from the offset, which is not the twin's. */
static int set_lock(int fd, int twin, int command, struct flock *lock) {
    struct flock moved;
    int result;
    if (lock == NULL || lock->l_whence != SEEK_CUR) {
        return PGW_NEXT(fcntl)(twin, command, lock);
    }
    moved = *lock;
    moved.l_whence = SEEK_SET;
    moved.l_start += lseek(fd, 0, SEEK_CUR);
    result = PGW_NEXT(fcntl)(twin, command, &moved);
    if (result == 0 && (command == F_GETLK || command == F_OFD_GETLK)) {
        *lock = moved;
    }
    return result;
}

/* The flags that both have: the file's and the descriptor's. */
static int set_on_both(int fd, int twin, int command, void *argument) {
    int result = PGW_NEXT(fcntl)(twin, command, argument);
    if (result >= 0 && command == F_SETFD) {
        result = PGW_NEXT(fcntl)(fd, command, argument);
    }
    return result;
}

static int control(int fd, int command, void *argument) {
    int twin = pgw_twin(fd);
    int result;
    switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        result = PGW_NEXT(fcntl)(fd, command, argument);
        if (result >= 0) {
            pgw_release(result);
            pgw_follow(fd, result, command == F_DUPFD_CLOEXEC);
        }
        return result;
    case F_SETLK:
    case F_SETLKW:
    case F_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
    case F_OFD_GETLK:
        return twin == fd ? PGW_NEXT(fcntl)(fd, command, argument)
                          : set_lock(fd, twin, command, argument);
    default:
        return set_on_both(fd, twin, command, argument);
    }
}

PGW_INTERPOSED int fcntl(int fd, int command, ...) {
    void *argument;
    va_list more;
    va_start(more, command);
    argument = va_arg(more, void *);
    va_end(more);
    return pgw_is_hidden(fd) ? not_open() : control(fd, command, argument);
}

PGW_ALSO(fcntl64, fcntl);

PGW_INTERPOSED int ioctl(int fd, unsigned long request, ...) {
    int twin = pgw_twin(fd);
    void *argument;
    va_list more;
    va_start(more, request);
    argument = va_arg(more, void *);
    va_end(more);
    if (twin != fd && (request == FIOCLEX || request == FIONCLEX)) {
        PGW_NEXT(ioctl)(twin, request, argument);
    } else if (request != FIONREAD) {
        fd = twin;
    }
    return PGW_NEXT(ioctl)(fd, request, argument);
}

PGW_INTERPOSED int lockf(int fd, int command, off_t bytes) {
    int twin = pgw_twin(fd);
    if (twin != fd) {
        lseek(twin, lseek(fd, 0, SEEK_CUR), SEEK_SET);
    }
    return PGW_NEXT(lockf)(twin, command, bytes);
}

PGW_ALSO(lockf64, lockf);

/* posix_spawn duplicates by libc's inner functions: the twin goes along by an action of its own. */
PGW_INTERPOSED int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int from,
                                                    int to) {
    int error = PGW_NEXT(posix_spawn_file_actions_adddup2)(actions, from, to);
    int twin = pgw_twin(from);
    if (error == 0 && twin != from && to < PGW_DESCRIPTORS) {
        error = PGW_NEXT(posix_spawn_file_actions_adddup2)(actions, twin, PGW_TWINS + to);
    }
    return error;
}

/* fork tells us by pthread_atfork; this one tells nobody. */
PGW_INTERPOSED pid_t _Fork(void) {
    pid_t child = PGW_NEXT(_Fork)();
    if (child == 0) {
        pgw_table_forked();
    }
    return child;
}
