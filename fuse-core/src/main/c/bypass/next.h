/* The functions that ours stand before: libc's, or those of another preloaded library. */
#ifndef PGW_BYPASS_NEXT_H
#define PGW_BYPASS_NEXT_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

/* Of the functions that the library gives to programs. */
#define PGW_INTERPOSED __attribute__((visibility("default")))

/* On 64-bit machines offsets are long in all of them: `name` is `same` by another name. */
#define PGW_ALSO(name, same) PGW_INTERPOSED __typeof__(name) name __attribute__((alias(#same)))
_Static_assert(sizeof(off_t) == sizeof(off64_t), "open is open64");

#define PGW_FUNCTIONS(X)                                                                           \
    X(open)                                                                                        \
    X(openat)                                                                                      \
    X(__open_2)                                                                                    \
    X(__openat_2)                                                                                  \
    X(fopen)                                                                                       \
    X(freopen)                                                                                     \
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
    X(ioctl)                                                                                       \
    X(syscall)                                                                                     \
    X(_Fork)                                                                                       \
    X(posix_spawn_file_actions_adddup2)                                                            \
    X(read)                                                                                        \
    X(pread)                                                                                       \
    X(readv)                                                                                       \
    X(preadv)                                                                                      \
    X(preadv2)                                                                                     \
    X(__read_chk)                                                                                  \
    X(__pread_chk)                                                                                 \
    X(copy_file_range)                                                                             \
    X(fstat)                                                                                       \
    X(fstatat)                                                                                     \
    X(__fxstat)                                                                                    \
    X(__fxstatat)                                                                                  \
    X(statx)                                                                                       \
    X(fstatfs)                                                                                     \
    X(fstatvfs)                                                                                    \
    X(flock)                                                                                       \
    X(lockf)                                                                                       \
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
