#include "pgw_sched_idle.h"

#include "pgw_affinity.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { REQUESTS = 64, RESTFUL_LOOKS = 40, LOOKS_TO_SWEEP = 20 };

#define NS_PER_S UINT64_C(1000000000)
#define QUICK_NS (REQUESTS * UINT64_C(300000)) /* for REQUESTS */
#define LOOK_NS UINT64_C(5000000)
#define MAX_WAIT_NS UINT64_C(100000) /* for one request */
#define MIN_PAUSE_NS NS_PER_S
#define MAX_PAUSE_NS (64 * NS_PER_S)
#define LONG_NS (10 * NS_PER_S) /* who stood back so long is forgiven earlier failures */

/* What the kernel tells of a thread in /proc: schedstat and stat. */
struct usage {
    uint64_t ran_ns;
    uint64_t waited_ns;
    uint64_t met;
};

struct pgw_sched_idle {
    struct pgw_sched_idle *next;
    pid_t thread;
    int schedstat;
    int stat;
    atomic_uint_fast64_t met; /* written by the thread alone */
    atomic_bool back;
    atomic_uint_fast64_t not_before_ns;

    /* The thread's own. */
    int counted;
    uint64_t counted_since_ns;

    /* Under the watch's lock. */
    bool wants_back;
    struct usage seen;
    int restful;
    uint64_t back_since_ns;
    uint64_t pause_ns;
};

/*
 * All classes of the process, and the one thread that watches them while there are any. It alone
 * sends threads back, so that none is kept waiting while it holds the lock.
 */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct pgw_sched_idle *first;
    int busy; /* classes that stand back or want to */
    int looks;
    bool sweep;
    bool watched;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static int set_policy(pid_t thread, int policy) {
    struct sched_param none = {0};
    return sched_setscheduler(thread, policy, &none);
}

static void *go_there_and_back(void *possible) {
    *(bool *)possible = set_policy(0, SCHED_IDLE) == 0 && set_policy(0, SCHED_OTHER) == 0;
    return NULL;
}

static bool possible;

static void find_out(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, go_there_and_back, &possible) == 0) {
        pthread_join(thread, NULL);
    }
}

bool pgw_sched_idle_possible(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_out);
    return possible;
}

static bool read_usage(const struct pgw_sched_idle *sched_idle, struct usage *usage) {
    char text[128];
    ssize_t length = pread(sched_idle->schedstat, text, sizeof text - 1, 0);
    if (length <= 0) {
        return false;
    }
    text[length] = '\0';
    char *after;
    usage->ran_ns = strtoull(text, &after, 10);
    usage->waited_ns = strtoull(after, NULL, 10);
    usage->met = atomic_load_explicit(&sched_idle->met, memory_order_relaxed);
    return true;
}

/* "1234 (pgw-uring-0) R ...": does it want to run? */
static bool is_runnable(const struct pgw_sched_idle *sched_idle) {
    char text[128];
    ssize_t length = pread(sched_idle->stat, text, sizeof text - 1, 0);
    if (length <= 0) {
        return false;
    }
    text[length] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && name_end + 2 < text + length && name_end[2] == 'R';
}

/* Under the lock. `at_fault`: it was kept waiting. */
static void promote(struct pgw_sched_idle *sched_idle, bool at_fault) {
    uint64_t now = now_ns();
    (void)set_policy(sched_idle->thread, SCHED_OTHER);
    if (!at_fault || now - sched_idle->back_since_ns > LONG_NS) {
        sched_idle->pause_ns = MIN_PAUSE_NS;
    }
    if (at_fault) {
        atomic_store_explicit(&sched_idle->not_before_ns, now + sched_idle->pause_ns,
                              memory_order_relaxed);
        if (sched_idle->pause_ns < MAX_PAUSE_NS) {
            sched_idle->pause_ns *= 2;
        }
    }
    atomic_store_explicit(&sched_idle->back, false, memory_order_release);
    watch.busy--;
    watch.sweep = true;
}

static void look_at(struct pgw_sched_idle *sched_idle) {
    struct usage before = sched_idle->seen;
    struct usage *now = &sched_idle->seen;
    if (!read_usage(sched_idle, now)) {
        promote(sched_idle, true);
        return;
    }
    uint64_t met = now->met - before.met;
    if (met > 0) {
        sched_idle->restful = 0;
        if (now->waited_ns - before.waited_ns > met * MAX_WAIT_NS) {
            promote(sched_idle, true);
        }
    } else if (now->ran_ns == before.ran_ns && is_runnable(sched_idle)) {
        promote(sched_idle, true);
    } else if (++sched_idle->restful > RESTFUL_LOOKS) {
        promote(sched_idle, false);
    }
}

static void send_back(struct pgw_sched_idle *sched_idle) {
    sched_idle->wants_back = false;
    sched_idle->restful = 0;
    sched_idle->back_since_ns = now_ns();
    if (!read_usage(sched_idle, &sched_idle->seen) ||
        set_policy(sched_idle->thread, SCHED_IDLE) != 0) {
        watch.busy--;
        return;
    }
    atomic_store_explicit(&sched_idle->back, true, memory_order_release);
}

static bool stands_back(pid_t thread) {
    for (struct pgw_sched_idle *sched_idle = watch.first; sched_idle != NULL;
         sched_idle = sched_idle->next) {
        if (sched_idle->thread == thread) {
            return pgw_sched_idle_is_demoted(sched_idle);
        }
    }
    return false;
}

/* Threads inherit the policy of who starts them (SCHED_RESET_ON_FORK does not help for this one):
 * those that a thread started while it stood back come forward. */
static void bring_children_forward(void) {
    DIR *threads = opendir("/proc/self/task");
    struct dirent *entry;
    while (threads != NULL && (entry = readdir(threads)) != NULL) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0 && sched_getscheduler(thread) == SCHED_IDLE && !stands_back(thread)) {
            (void)set_policy(thread, SCHED_OTHER);
        }
    }
    if (threads != NULL) {
        closedir(threads);
    }
}

static void look_at_all(void) {
    for (struct pgw_sched_idle *sched_idle = watch.first; sched_idle != NULL;
         sched_idle = sched_idle->next) {
        if (sched_idle->wants_back) {
            send_back(sched_idle);
        } else if (pgw_sched_idle_is_demoted(sched_idle)) {
            look_at(sched_idle);
        }
    }
    if (watch.sweep || ++watch.looks % LOOKS_TO_SWEEP == 0) {
        watch.sweep = false;
        bring_children_forward();
    }
}

static void *keep_watch(void *unused) {
    const struct timespec pause = {.tv_nsec = (long)LOOK_NS};
    (void)unused;
    (void)pgw_affinity_none();
    pthread_setname_np(pthread_self(), "pgw-sched_idle");
    pthread_mutex_lock(&watch.lock);
    while (watch.first != NULL) {
        if (watch.busy == 0 && !watch.sweep) {
            pthread_cond_wait(&watch.changed, &watch.lock);
            continue;
        }
        look_at_all();
        pthread_mutex_unlock(&watch.lock);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&watch.lock);
    }
    watch.watched = false;
    pthread_mutex_unlock(&watch.lock);
    return NULL;
}

/* Under the lock. The process's signals are not for the watcher. */
static bool start_watch(void) {
    sigset_t all;
    sigset_t before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, keep_watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        pthread_detach(thread);
    }
    return started;
}

static int open_proc(pid_t thread, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)thread, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void free_sched_idle(struct pgw_sched_idle *sched_idle) {
    if (sched_idle->schedstat >= 0) {
        close(sched_idle->schedstat);
    }
    if (sched_idle->stat >= 0) {
        close(sched_idle->stat);
    }
    free(sched_idle);
}

struct pgw_sched_idle *pgw_sched_idle_open(void) {
    if (!pgw_sched_idle_possible() || sched_getscheduler(0) != SCHED_OTHER) {
        return NULL;
    }
    struct pgw_sched_idle *sched_idle = calloc(1, sizeof *sched_idle);
    if (sched_idle == NULL) {
        return NULL;
    }
    sched_idle->thread = (pid_t)syscall(SYS_gettid);
    sched_idle->schedstat = open_proc(sched_idle->thread, "schedstat");
    sched_idle->stat = open_proc(sched_idle->thread, "stat");
    sched_idle->pause_ns = MIN_PAUSE_NS;
    bool entered = sched_idle->stat >= 0 && read_usage(sched_idle, &sched_idle->seen);
    pthread_mutex_lock(&watch.lock);
    if (entered && !watch.watched) {
        watch.watched = start_watch();
    }
    entered = entered && watch.watched;
    if (entered) {
        sched_idle->next = watch.first;
        watch.first = sched_idle;
    }
    pthread_mutex_unlock(&watch.lock);
    if (!entered) {
        free_sched_idle(sched_idle);
        return NULL;
    }
    return sched_idle;
}

static void ask_to_demote(struct pgw_sched_idle *sched_idle) {
    pthread_mutex_lock(&watch.lock);
    if (!sched_idle->wants_back) {
        sched_idle->wants_back = true;
        watch.busy++;
        pthread_cond_signal(&watch.changed);
    }
    pthread_mutex_unlock(&watch.lock);
}

static void consider(struct pgw_sched_idle *sched_idle) {
    uint64_t now = now_ns();
    bool quick = now - sched_idle->counted_since_ns < QUICK_NS;
    sched_idle->counted = 0;
    sched_idle->counted_since_ns = now;
    if (quick && now >= atomic_load_explicit(&sched_idle->not_before_ns, memory_order_relaxed)) {
        ask_to_demote(sched_idle);
    }
}

void pgw_sched_idle_met(struct pgw_sched_idle *sched_idle, int requests) {
    if (sched_idle == NULL) {
        return;
    }
    uint64_t met = atomic_load_explicit(&sched_idle->met, memory_order_relaxed);
    atomic_store_explicit(&sched_idle->met, met + (uint64_t)requests, memory_order_relaxed);
    sched_idle->counted += requests;
    if (sched_idle->counted >= REQUESTS &&
        !atomic_load_explicit(&sched_idle->back, memory_order_relaxed)) {
        consider(sched_idle);
    }
}

bool pgw_sched_idle_is_demoted(const struct pgw_sched_idle *sched_idle) {
    return sched_idle != NULL && atomic_load_explicit(&sched_idle->back, memory_order_acquire);
}

void pgw_sched_idle_close(struct pgw_sched_idle *sched_idle) {
    if (sched_idle == NULL) {
        return;
    }
    (void)set_policy(0, SCHED_OTHER);
    pthread_mutex_lock(&watch.lock);
    if (sched_idle->wants_back) {
        watch.busy--;
    }
    if (pgw_sched_idle_is_demoted(sched_idle)) {
        promote(sched_idle, false);
    }
    for (struct pgw_sched_idle **link = &watch.first; *link != NULL; link = &(*link)->next) {
        if (*link == sched_idle) {
            *link = sched_idle->next;
            break;
        }
    }
    pthread_cond_signal(&watch.changed);
    pthread_mutex_unlock(&watch.lock);
    free_sched_idle(sched_idle);
}
