#include "pgw_wake.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The JDK uses SIGRTMAX - 2 for the same; libc takes the first two. */
#define WAKE_SIGNAL (SIGRTMAX - 5)

static void wake(int signal) {
    (void)signal;
}

int pgw_wake_install(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = wake;
    sigemptyset(&action.sa_mask);
    return sigaction(WAKE_SIGNAL, &action, NULL) != 0 ? -errno : 0;
}

int pgw_wake_self(void) {
    return (int)syscall(SYS_gettid);
}

int pgw_wake_thread(int thread) {
    return syscall(SYS_tgkill, getpid(), thread, WAKE_SIGNAL) != 0 ? -errno : 0;
}
