// Process 1 of the gateway's container while it serves. The mounts outlive the JVM, and programs
// wait until the next one serves: so it is started by its parent, within milliseconds, where the
// kubelet would look, clean up, and after the second time wait. Better still, the next one is there
// already: a standby, warm and without work. The lock that says who serves wakes it. What the
// kubelet is to see are ends that a new start does not mend: they are handed on, and so is a JVM
// that dies again and again.
#include "supervise.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The JVM's exit code when memory ran out (ExitOnOutOfMemoryError, OutOfMemory.EXIT).
enum { OUT_OF_MEMORY = 3 };
// So many lives in a row that were shorter than this are a defect that a new start does not mend.
// One that lived longer gets a standby, whose start takes no time from it any more.
#ifndef SHORT_LIFE_MS
#define SHORT_LIFE_MS 10000 // tests make it shorter
#endif
enum { SHORT_LIVES = 5 };
// A standby that died while it waited is followed by another one only then.
enum { STANDBY_AGAIN_MS = 60000 };
// Shells tell of a signal in this way.
enum { KILLED_BY = 128 };
// The kernel tells of the end of a killed JVM when its last thread has ended, which may wait for a
// disk. So it is looked at this often; one that is seen to be dying twice is not just about to end.
enum { LOOK_MS = 1000, LOOKS = 2 };

// Asks the JVM to end (the first three), or for a thread dump.
static const int forwarded[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
static const int crashes[] = {SIGKILL, SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

// One JVM.
struct life {
    pid_t pid;          // 0: there is none
    long long begin_ms; // as what it is: serving, or standby
    bool ended;
    int status; // when it ended
    int dying;  // how often in a row it was seen so
};

// What runs. The standby was started later, so that it stands behind the serving one for the lock.
struct pair {
    char **command;
    char **standby_command; // NULL: no standby
    sigset_t awaited;
    sigset_t normal; // signals as they were, for children
    struct life serving;
    struct life standby;
    long long standby_ms; // when one is started, if there is none
    int short_lives;
    bool ending;
};

static long long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// How often the kernel killed a process of this container for its memory limit; 0 where it does not
// say.
static long count_oom_kills(void) {
    static const char *const files[] = {"/sys/fs/cgroup/memory.events",
                                        "/sys/fs/cgroup/memory/memory.oom_control"};
    long kills = 0;
    for (int i = 0; i < LENGTH(files); i++) {
        FILE *file = fopen(files[i], "re");
        if (file == NULL) {
            continue;
        }
        char line[64];
        while (fgets(line, sizeof(line), file) != NULL) {
            if (strncmp(line, "oom_kill ", 9) == 0) {
                kills = strtol(line + 9, NULL, 10);
            }
        }
        fclose(file);
    }
    return kills;
}

// Did it kill one since this was last asked?
static bool has_killed(void) {
    static long known;
    long before = known;
    known = count_oom_kills();
    return known > before;
}

// Without a pid where the container may have no more processes.
static struct life start(char **command, const sigset_t *normal) {
    struct life life = {.begin_ms = now_ms()};
    pid_t parent = getpid();
    life.pid = fork();
    if (life.pid < 0) {
        perror("posix-gateway: cannot start a process for the JVM");
        life.pid = 0;
        return life;
    }
    if (life.pid > 0) {
        return life;
    }
    sigprocmask(SIG_SETMASK, normal, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) { // else it ended before it could be noticed
        execv(command[0], command);
        fprintf(stderr, "posix-gateway: %s cannot be started: %s\n", command[0], strerror(errno));
    }
    _exit(1);
}

// What may be hoped of a thread.
enum prospect {
    GONE,
    ENDS,  // it was killed, or is in its exit
    WAITS, // only the kernel can go on with it
    LIVES
};

static enum prospect look_at(pid_t pid, const char *task) {
    enum { EXITING = 4 }; // PF_EXITING of the kernel's <linux/sched.h>
    const unsigned long long killed = 1ULL << (SIGKILL - 1);
    char path[320];
    char text[1024];
    snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", pid, task);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return GONE;
    }
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    // The fields behind the name, see proc_pid_stat(5).
    const char *fields = strrchr(text, ')');
    char state;
    unsigned long long flags;
    unsigned long long pending;
    int found = fields == NULL
                    ? 0
                    : sscanf(fields + 1,
                             " %c %*s %*s %*s %*s %*s %llu %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
                             " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
                             &state, &flags, &pending);
    if (found != 3) {
        return GONE;
    }
    if ((flags & EXITING) != 0 || (pending & killed) != 0) {
        return ENDS;
    }
    return state == 'D' ? WAITS : LIVES;
}

// Was it killed, or does it exit, and waits in the kernel for what is left of that? Its first
// thread ends then, and no other can do anything.
static bool is_dying(pid_t pid) {
    char path[32];
    snprintf(path, sizeof(path), "%d", pid);
    if (look_at(pid, path) != ENDS) {
        return false;
    }
    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    bool lives = false;
    const struct dirent *task;
    while (tasks != NULL && !lives && (task = readdir(tasks)) != NULL) {
        lives = task->d_name[0] != '.' && look_at(pid, task->d_name) == LIVES;
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
    return tasks != NULL && !lives;
}

static bool is_among(int wanted, const int *signals, int count) {
    for (int i = 0; i < count; i++) {
        if (signals[i] == wanted) {
            return true;
        }
    }
    return false;
}

// Does a new start mend this end?
static bool is_crash(int status) {
    return WIFSIGNALED(status) ? is_among(WTERMSIG(status), crashes, LENGTH(crashes))
                               : WEXITSTATUS(status) == OUT_OF_MEMORY;
}

static void tell(const struct life *life, const char *then) {
    const char *why;
    char how[64];
    if (life->dying > 0) {
        snprintf(how, sizeof(how), "does not end, though it was killed");
        why = has_killed() ? ", by the memory limit of the container," : "";
    } else if (WIFSIGNALED(life->status)) {
        snprintf(how, sizeof(how), "was killed by signal %d (%s)", WTERMSIG(life->status),
                 strsignal(WTERMSIG(life->status)));
        why = has_killed() ? ", by the memory limit of the container" : "";
    } else {
        snprintf(how, sizeof(how), "ended with code %d", WEXITSTATUS(life->status));
        why = WEXITSTATUS(life->status) == OUT_OF_MEMORY ? ", out of memory" : "";
    }
    long long lived_ms = now_ms() - life->begin_ms;
    fprintf(stderr, "posix-gateway: the JVM (process %d) %s%s after %lld.%03lld s; %s\n", life->pid,
            how, why, lived_ms / 1000, lived_ms % 1000, then);
}

static void mark_if(struct life *life, pid_t ended, int status) {
    if (life->pid == ended) {
        life->ended = true;
        life->dying = 0;
        life->status = status;
    }
}

// Takes the ends of all children, of which process 1 inherits some.
static void reap(struct pair *pair) {
    int status;
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
        mark_if(&pair->serving, ended, status);
        mark_if(&pair->standby, ended, status);
    }
}

static struct life start_serving(const struct pair *pair) {
    struct life life = start(pair->command, &pair->normal);
    if (life.pid == 0) {
        exit(1);
    }
    return life;
}

// The one that serves goes on, whether there can be a standby now or not.
static void start_standby(struct pair *pair) {
    pair->standby = start(pair->standby_command, &pair->normal);
    if (pair->standby.pid == 0) {
        pair->standby_ms = now_ms() + STANDBY_AGAIN_MS;
    }
}

// Nobody serves: the standby already goes on, or a JVM is started, unless that would be of no use.
static void follow(struct pair *pair) {
    const struct life *past = &pair->serving;
    long long now = now_ms();
    pair->short_lives = now - past->begin_ms < SHORT_LIFE_MS ? pair->short_lives + 1 : 0;
    bool crash = !pair->ending && is_crash(past->status);
    if (!crash || pair->short_lives == SHORT_LIVES) {
        if (crash) {
            tell(past, "not restarted, because it ended too quickly too many times in a row");
        }
        exit(WIFSIGNALED(past->status) ? KILLED_BY + WTERMSIG(past->status)
                                       : WEXITSTATUS(past->status));
    }
    bool waits = pair->standby.pid != 0;
    tell(past, waits ? "the standby takes over" : "restarted");
    pair->serving = waits ? pair->standby : start_serving(pair);
    pair->serving.begin_ms = now;
    pair->standby = (struct life){0};
    pair->standby_ms = now + SHORT_LIFE_MS;
}

static void bury(struct pair *pair) {
    tell(&pair->standby, "it was the standby; a new one starts in a minute");
    pair->standby = (struct life){0};
    pair->standby_ms = now_ms() + STANDBY_AGAIN_MS;
}

// One that was killed, and whose threads the kernel keeps, has ended for all that matters here.
static void follow_dying(struct pair *pair, int looks) {
    struct life *serving = &pair->serving;
    serving->dying = !pair->ending && is_dying(serving->pid) ? serving->dying + 1 : 0;
    if (serving->dying >= looks) {
        serving->status = SIGKILL;
        follow(pair);
    }
}

// The next signal; 0: it is time for a standby; -1: it is time for a look at the serving one.
static int await(const struct pair *pair) {
    long long left_ms = LOOK_MS;
    if (pair->standby_command != NULL && pair->standby.pid == 0 && !pair->ending) {
        long long standby_ms = pair->standby_ms - now_ms();
        left_ms = standby_ms < left_ms ? standby_ms : left_ms;
    }
    if (left_ms <= 0) {
        return 0;
    }
    struct timespec left = {.tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000};
    return sigtimedwait(&pair->awaited, NULL, &left);
}

// The standby is gone before the serving one lets go: its turn is that of another pod's, which may
// be newer.
static void hand_on(struct pair *pair, int signal) {
    if (pair->standby.pid != 0) {
        follow_dying(pair, 1); // it leads already
    }
    pid_t standby = pair->standby.pid;
    if (signal != SIGQUIT) {
        pair->ending = true;
        if (standby != 0) {
            kill(standby, SIGKILL);
            waitpid(standby, NULL, 0);
            pair->standby = (struct life){0};
        }
    } else if (standby != 0) {
        kill(standby, signal);
    }
    kill(pair->serving.pid, signal);
}

static void block_signals(struct pair *pair) {
    sigemptyset(&pair->awaited);
    sigaddset(&pair->awaited, SIGCHLD);
    for (int i = 0; i < LENGTH(forwarded); i++) {
        sigaddset(&pair->awaited, forwarded[i]);
    }
    signal(SIGCHLD, SIG_DFL); // ignored, ends of children would not be told
    sigprocmask(SIG_BLOCK, &pair->awaited, &pair->normal);
}

void supervise(char **command, char **standby_command) {
    struct pair pair = {.command = command, .standby_command = standby_command};
    block_signals(&pair);
    has_killed(); // what was before
    pair.serving = start_serving(&pair);
    pair.standby_ms = pair.serving.begin_ms + SHORT_LIFE_MS;
    for (;;) {
        int signal = await(&pair);
        if (signal == 0) {
            start_standby(&pair);
        } else if (signal == SIGCHLD) {
            reap(&pair);
            if (pair.standby.ended) {
                bury(&pair);
            }
            if (pair.serving.ended) {
                follow(&pair);
            }
        } else if (signal > 0) {
            hand_on(&pair, signal);
        } else {
            follow_dying(&pair, LOOKS);
        }
    }
}
