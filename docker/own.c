// Gives a folder to a user, who alone may then use it, or with "shown" change it while others look:
// own USER-ID FOLDER [shown]. For the gateway's folders, which the kubelet makes for root.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char *end = NULL;
    int shown = argc == 4 && strcmp(argv[3], "shown") == 0;
    unsigned long user = argc == 3 || shown ? strtoul(argv[1], &end, 10) : 0;
    if (end == NULL || end == argv[1] || *end != '\0' || user > 0xfffffffeUL) {
        fputs("own: give a numeric user id, a folder, and optionally: shown\n", stderr);
        return 2;
    }
    if (lchown(argv[2], (uid_t)user, (gid_t)user) != 0 ||
        chmod(argv[2], shown ? 0755 : 0700) != 0) {
        perror(argv[2]);
        return 1;
    }
    return 0;
}
