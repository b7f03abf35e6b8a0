// Process 1 of the gateway's container while it serves. The mounts outlive the JVM, and programs
// wait until the next one serves: so it is started by its parent, within milliseconds, where the
// kubelet would look, clean up, and after the second time wait. What the kubelet is to see are ends
// that a new start does not mend: they are handed on, and so is a JVM that dies again and again.
#include "supervise.h"

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
enum { SHORT_LIFE_MS = 10000, SHORT_LIVES = 5 };
// Shells tell of a signal in this way.
enum { KILLED_BY = 128 };

// Asks the JVM to end (the first three), or for a thread dump.
static const int forwarded[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
static const int crashes[] = {SIGKILL, SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

// One life of the child.
struct life {
    pid_t pid;
    long long begin_ms;
    long oom_kills; // of the container, at its begin
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

static struct life start(char **command, const sigset_t *normal) {
    struct life life = {.begin_ms = now_ms(), .oom_kills = count_oom_kills()};
    pid_t parent = getpid();
    life.pid = fork();
    if (life.pid < 0) {
        perror("posix-gateway: no process for the JVM");
        exit(1);
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

static void tell(const struct life *life, int status, const char *then) {
    const char *why = "";
    char how[64];
    if (WIFSIGNALED(status)) {
        snprintf(how, sizeof(how), "was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
        if (count_oom_kills() > life->oom_kills) {
            why = ", by the memory limit of the container";
        }
    } else {
        snprintf(how, sizeof(how), "ended with code %d", WEXITSTATUS(status));
        why = WEXITSTATUS(status) == OUT_OF_MEMORY ? ", out of memory" : "";
    }
    long long lived_ms = now_ms() - life->begin_ms;
    fprintf(stderr, "posix-gateway: the JVM (process %d) %s%s after %lld.%03lld s; %s\n", life->pid,
            how, why, lived_ms / 1000, lived_ms % 1000, then);
}

// Takes the ends of all children, of which process 1 inherits some. True: the JVM's was among them.
static bool reap(pid_t pid, int *status) {
    bool found = false;
    int seen;
    pid_t ended;
    while ((ended = waitpid(-1, &seen, WNOHANG)) > 0) {
        if (ended == pid) {
            *status = seen;
            found = true;
        }
    }
    return found;
}

// Waits for the end of the JVM, whom signals are handed. Returns its wait status.
static int await_end(pid_t pid, const sigset_t *awaited, bool *ending) {
    int status = 0;
    while (!reap(pid, &status)) {
        int signal = sigwaitinfo(awaited, NULL);
        if (signal > 0 && signal != SIGCHLD) {
            *ending = *ending || signal != SIGQUIT;
            kill(pid, signal);
        }
    }
    return status;
}

void supervise(char **command) {
    sigset_t awaited;
    sigset_t normal;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    for (int i = 0; i < LENGTH(forwarded); i++) {
        sigaddset(&awaited, forwarded[i]);
    }
    signal(SIGCHLD, SIG_DFL); // ignored, ends of children would not be told
    sigprocmask(SIG_BLOCK, &awaited, &normal);
    bool ending = false;
    int short_lives = 0;
    for (;;) {
        struct life life = start(command, &normal);
        int status = await_end(life.pid, &awaited, &ending);
        short_lives = now_ms() - life.begin_ms < SHORT_LIFE_MS ? short_lives + 1 : 0;
        if (ending || !is_crash(status) || short_lives == SHORT_LIVES) {
            if (!ending && is_crash(status)) {
                tell(&life, status, "not started again after so many short lives in a row");
            }
            exit(WIFSIGNALED(status) ? KILLED_BY + WTERMSIG(status) : WEXITSTATUS(status));
        }
        tell(&life, status, "started anew");
    }
}
