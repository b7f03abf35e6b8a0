/*
 * pgw-mount-guard TARGET MAJOR:MINOR SERVER: unmounts when the server, a process id, is gone.
 *
 * Standard input is a pipe whose other end the server alone holds; its end means that the server
 * has died or closed the session. A killed server that has a file of its own mount open cannot
 * finish its exit: the kernel waits for it to answer the flush of that file, and the pipe stays
 * open. So the guard looks at the server's tasks, too, and aborts the connection of one that is
 * dying. That is right only because nobody else can serve the mount: a session that a keeper holds
 * has no guard. The server gives its id itself: its children become another's while it is dying.
 *
 * A mount that is no longer ours (another device at the place) is left alone. The mount itself is
 * never looked at, only the mount table: a look at a dead or stuck mount may hang.
 */
#include "pgw_mount_table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define POLL_MS 1000

/* Of the fields after the name: the 1st, the 7th and the 29th. */
#define STATE_FLAGS_PENDING                                                                        \
    " %c %*s %*s %*s %*s %*s %u"                                                                   \
    " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu"
#define EXITING 4u /* PF_EXITING of the kernel's <linux/sched.h> */
#define KILLED (1ul << (SIGKILL - 1))

/* What may be hoped of a task: ENDS is one that was killed or is in its exit, WAITS one that only
 * the kernel can go on with, LIVES any other. */
enum task { GONE, ENDS, WAITS, LIVES };

/* Parts of the task's line in /proc, see proc_pid_stat(5). */
static enum task look_at(long process, const char *task) {
    char path[128];
    char line[1024];
    char state = '\0';
    unsigned flags = 0;
    unsigned long pending = 0;

    snprintf(path, sizeof path, "/proc/%ld/task/%.32s/stat", process, task);
    FILE *stat = fopen(path, "re");
    if (stat == NULL) {
        return GONE;
    }
    const char *name_end = fgets(line, sizeof line, stat) != NULL ? strrchr(line, ')') : NULL;
    fclose(stat);
    if (name_end == NULL ||
        sscanf(name_end + 1, STATE_FLAGS_PENDING, &state, &flags, &pending) != 3) {
        return GONE;
    }
    if ((flags & EXITING) != 0 || (pending & KILLED) != 0) {
        return ENDS;
    }
    return state == 'D' ? WAITS : LIVES;
}

/*
 * Has the process been killed, and does it wait in the kernel to finish its exit? Each of its tasks
 * may be the last one, its first one, too, which waits for the answer then. A task that lives says
 * that only the first one has ended.
 */
static bool is_dying(long process) {
    char path[64];
    snprintf(path, sizeof path, "%ld", process);
    if (look_at(process, path) != ENDS) {
        return false;
    }
    snprintf(path, sizeof path, "/proc/%ld/task", process);
    DIR *tasks = opendir(path);
    if (tasks == NULL) {
        return true;
    }
    bool dying = true;
    for (const struct dirent *task = readdir(tasks); task != NULL && dying; task = readdir(tasks)) {
        dying = task->d_name[0] == '.' || look_at(process, task->d_name) != LIVES;
    }
    closedir(tasks);
    return dying;
}

/* Until nobody holds the other end of the pipe any more (false), or its holder is dying (true). */
static bool wait_for_end(long server) {
    for (;;) {
        struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};
        int ready = poll(&end, 1, POLL_MS);
        if (ready == 0 && is_dying(server)) {
            return true;
        }
        char byte;
        if (ready > 0) {
            ssize_t bytes = read(STDIN_FILENO, &byte, 1);
            if (bytes == 0 || (bytes < 0 && errno != EINTR)) {
                return false;
            }
        }
    }
}

/* Ends the connection, so that every call that waits for an answer fails. */
static void abort_connection(const char *target, const char *device) {
    char path[64];
    const char *minor = strchr(device, ':');

    if (umount2(target, MNT_FORCE | UMOUNT_NOFOLLOW) == 0 || errno != EPERM || minor == NULL) {
        return;
    }
    /* The file belongs to whoever mounted through fusermount. It is of the connection that has the
     * number now: of ours, if the mount is still there once it is open. */
    snprintf(path, sizeof path, "/sys/fs/fuse/connections/%.16s/abort", minor + 1);
    int abort_file = open(path, O_WRONLY | O_CLOEXEC);
    if (abort_file >= 0) {
        if (pgw_mount_table_has(target, device)) {
            ssize_t written = write(abort_file, "1", 1);
            (void)written;
        }
        close(abort_file);
    }
}

int main(int argc, char **argv) {
    long server = argc == 4 ? strtol(argv[3], NULL, 10) : 0;

    if (server <= 0) {
        fprintf(stderr, "usage: pgw-mount-guard TARGET MAJOR:MINOR SERVER < pipe\n");
        return 2;
    }
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    setsid();
    if (chdir("/") != 0) {
        return 1;
    }
    if (wait_for_end(server) && pgw_mount_table_has(argv[1], argv[2])) {
        abort_connection(argv[1], argv[2]);
    }
    if (!pgw_mount_table_has(argv[1], argv[2]) ||
        umount2(argv[1], MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
        return 0;
    }
    execlp("fusermount", "fusermount", "-u", "-z", "-q", "--", argv[1], (char *)NULL);
    return 1;
}
