/*
 * pgw-mount-guard TARGET MAJOR:MINOR: unmounts when the server that started it is gone.
 *
 * Standard input is a pipe whose other end the server alone holds; its end means that the server
 * has died or closed the session. A mount that is no longer ours (another device at the place) is
 * left alone. The mount itself is never looked at, only the mount table: a look at a dead or stuck
 * mount may hang.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define LINE_BYTES 8192

/* Undoes the mount table's \040 and the like, in place. */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] != '\0' &&
            from[3] != '\0') {
            *to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* Is the topmost mount at the target the one with this device number? */
static bool still_mounted(const char *target, const char *device) {
    char line[LINE_BYTES];
    char found[32];
    char *path = malloc(LINE_BYTES);
    bool ours = false;
    FILE *table = fopen("/proc/self/mountinfo", "re");

    while (table != NULL && path != NULL && fgets(line, sizeof line, table) != NULL) {
        if (sscanf(line, "%*s %*s %31s %*s %8191s", found, path) == 2) {
            unescape(path);
            ours = strcmp(path, target) == 0 ? strcmp(found, device) == 0 : ours;
        }
    }
    if (table != NULL) {
        fclose(table);
    }
    free(path);
    return ours;
}

/* Until nobody holds the other end of the pipe any more. */
static void wait_for_end(void) {
    char byte;
    ssize_t bytes;
    do {
        bytes = read(STDIN_FILENO, &byte, 1);
    } while (bytes > 0 || (bytes < 0 && errno == EINTR));
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: pgw-mount-guard TARGET MAJOR:MINOR < pipe\n");
        return 2;
    }
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    setsid();
    if (chdir("/") != 0) {
        return 1;
    }
    wait_for_end();
    if (!still_mounted(argv[1], argv[2]) || umount2(argv[1], MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
        return 0;
    }
    execlp("fusermount", "fusermount", "-u", "-z", "-q", "--", argv[1], (char *)NULL);
    return 1;
}
