/* The functions that ours stand before: libc's, or those of another preloaded library. */
#ifndef PGW_BYPASS_NEXT_H
#define PGW_BYPASS_NEXT_H

#include <stdatomic.h>
#include <stddef.h>

/* Of the functions that the library gives to programs. */
#define PGW_INTERPOSED __attribute__((visibility("default")))

#define PGW_FUNCTIONS(X)                                                                           \
    X(open)                                                                                        \
    X(open64)                                                                                      \
    X(openat)                                                                                      \
    X(openat64)                                                                                    \
    X(__open_2)                                                                                    \
    X(__open64_2)                                                                                  \
    X(__openat_2)                                                                                  \
    X(__openat64_2)                                                                                \
    X(fopen)                                                                                       \
    X(fopen64)                                                                                     \
    X(freopen)                                                                                     \
    X(freopen64)                                                                                   \
    X(fclose)                                                                                      \
    X(readlink)                                                                                    \
    X(readlinkat)                                                                                  \
    X(__readlink_chk)                                                                              \
    X(__readlinkat_chk)                                                                            \
    X(close)                                                                                       \
    X(close_range)                                                                                 \
    X(dup)                                                                                         \
    X(dup2)                                                                                        \
    X(dup3)                                                                                        \
    X(fcntl)                                                                                       \
    X(fcntl64)                                                                                     \
    X(ioctl)                                                                                       \
    X(_Fork)                                                                                       \
    X(posix_spawn_file_actions_adddup2)                                                            \
    X(read)                                                                                        \
    X(pread)                                                                                       \
    X(pread64)                                                                                     \
    X(readv)                                                                                       \
    X(preadv)                                                                                      \
    X(preadv64)                                                                                    \
    X(preadv2)                                                                                     \
    X(preadv64v2)                                                                                  \
    X(__read_chk)                                                                                  \
    X(__pread_chk)                                                                                 \
    X(__pread64_chk)                                                                               \
    X(copy_file_range)                                                                             \
    X(fstat)                                                                                       \
    X(fstat64)                                                                                     \
    X(fstatat)                                                                                     \
    X(fstatat64)                                                                                   \
    X(__fxstat)                                                                                    \
    X(__fxstat64)                                                                                  \
    X(__fxstatat)                                                                                  \
    X(__fxstatat64)                                                                                \
    X(statx)                                                                                       \
    X(fstatfs)                                                                                     \
    X(fstatfs64)                                                                                   \
    X(fstatvfs)                                                                                    \
    X(fstatvfs64)                                                                                  \
    X(flock)                                                                                       \
    X(lockf)                                                                                       \
    X(lockf64)                                                                                     \
    X(fgetxattr)                                                                                   \
    X(fsetxattr)                                                                                   \
    X(flistxattr)                                                                                  \
    X(fremovexattr)                                                                                \
    X(fchmod)                                                                                      \
    X(fchown)                                                                                      \
    X(fchownat)                                                                                    \
    X(futimens)                                                                                    \
    X(futimes)                                                                                     \
    X(utimensat)                                                                                   \
    X(fsync)                                                                                       \
    X(fdatasync)                                                                                   \
    X(syncfs)                                                                                      \
    X(fpathconf)                                                                                   \
    X(fexecve)                                                                                     \
    X(execveat)                                                                                    \
    X(linkat)                                                                                      \
    X(name_to_handle_at)

enum pgw_function {
#define PGW_NUMBER(name) PGW_NUMBER_##name,
    PGW_FUNCTIONS(PGW_NUMBER) PGW_FUNCTION_COUNT
#undef PGW_NUMBER
};

extern _Atomic(void *) pgw_next_known[PGW_FUNCTION_COUNT];

/* Looks one up: before our constructor has done so for all, as another library's is running. */
void *pgw_next_find(enum pgw_function function);

/* Looks all up, so that a signal handler need not. */
void pgw_next_find_all(void);

static inline void *pgw_next(enum pgw_function function) {
    void *known = atomic_load_explicit(&pgw_next_known[function], memory_order_relaxed);
    return known == NULL ? pgw_next_find(function) : known;
}

#define PGW_NEXT(name) ((__typeof__(&name))pgw_next(PGW_NUMBER_##name))

#endif
