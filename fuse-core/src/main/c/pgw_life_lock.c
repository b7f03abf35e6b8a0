#include "pgw_life_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* CLOSE_RANGE_UNSHARE of <linux/close_range.h>, which older headers lack. */
#define UNSHARE_TABLE 2u

struct pgw_life_lock {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int fd;        /* the thread's, once it holds */
    bool holds;    /* guarded by mutex */
    bool is_apart; /* guarded by mutex: in a table of the thread's own */
    bool ends;     /* guarded by mutex */
};

/* Descriptors that a word of the kernel's table tells of. */
enum { IN_A_WORD = 64 };

/* Leaves the calling thread this descriptor alone, in a table of its own. Before Linux 5.18 a
 * copied table ends where the closed range begins, and what its last word tells of is not closed at
 * the thread's end unless the word is whole. */
static bool set_apart(int fd) {
    unsigned kept = (unsigned)fd;
    unsigned next_word = (kept / IN_A_WORD + 1) * IN_A_WORD;
    bool is_apart = syscall(SYS_close_range, next_word, UINT_MAX, UNSHARE_TABLE) == 0;
    if (is_apart) {
        syscall(SYS_close_range, kept + 1, UINT_MAX, 0u);
    }
    if (is_apart && kept > 0) {
        syscall(SYS_close_range, 0u, kept - 1, 0u);
    }
    return is_apart;
}

static void *hold(void *argument) {
    struct pgw_life_lock *lock = argument;
    bool is_apart = set_apart(lock->fd);
    pthread_mutex_lock(&lock->mutex);
    lock->holds = true;
    lock->is_apart = is_apart;
    pthread_cond_broadcast(&lock->changed);
    while (!lock->ends) {
        pthread_cond_wait(&lock->changed, &lock->mutex);
    }
    pthread_mutex_unlock(&lock->mutex);
    syscall(SYS_close, lock->fd); /* of this thread's table, of which sanitizers know nothing */
    return NULL;
}

/* The process's signals are not for the holder. */
static int start(struct pgw_life_lock *lock) {
    sigset_t all;
    sigset_t before;
    int error;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&lock->thread, NULL, hold, lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == EAGAIN ? -ENOMEM : -error; /* -EAGAIN is that of a lock that others have */
}

/* The descriptor is the holder's from here on, if this succeeds. */
static int hand_over(int fd, struct pgw_life_lock **made) {
    struct pgw_life_lock *lock = calloc(1, sizeof *lock);
    int error;
    if (lock == NULL) {
        return -ENOMEM;
    }
    pthread_mutex_init(&lock->mutex, NULL);
    pthread_cond_init(&lock->changed, NULL);
    lock->fd = fd;
    error = start(lock);
    if (error != 0) {
        free(lock);
        return error;
    }
    pthread_mutex_lock(&lock->mutex);
    while (!lock->holds) {
        pthread_cond_wait(&lock->changed, &lock->mutex);
    }
    bool is_apart = lock->is_apart;
    pthread_mutex_unlock(&lock->mutex);
    if (is_apart) {
        close(fd);
    }
    *made = lock;
    return 0;
}

/* The lock is one of the open file, whose descriptor this takes: it passes to the holder with it.
 */
static int lock_whole(int fd, struct pgw_life_lock **lock) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int error;
    do {
        error = fcntl(fd, F_OFD_SETLK, &whole) != 0 ? -errno : 0;
    } while (error == -EINTR);
    if (error == -EACCES) {
        error = -EAGAIN;
    }
    if (error == 0) {
        error = hand_over(fd, lock);
    }
    if (error != 0) {
        close(fd);
    }
    return error;
}

int pgw_life_lock_file(const char *path, struct pgw_life_lock **lock) {
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : lock_whole(fd, lock);
}

int pgw_life_lock_opened(int fd, struct pgw_life_lock **lock) {
    char path[64];
    int own;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    own = open(path, O_WRONLY | O_CLOEXEC);
    return own < 0 ? -errno : lock_whole(own, lock);
}

void pgw_life_lock_release(struct pgw_life_lock *lock) {
    pthread_mutex_lock(&lock->mutex);
    lock->ends = true;
    pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&lock->mutex);
    pthread_join(lock->thread, NULL);
    pthread_cond_destroy(&lock->changed);
    pthread_mutex_destroy(&lock->mutex);
    free(lock);
}
