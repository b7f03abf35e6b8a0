// Gives a folder to a user, who alone may then use it: own USER-ID FOLDER. For the gateway's spool,
// which the kubelet makes for root.
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char *end = NULL;
    unsigned long user = argc == 3 ? strtoul(argv[1], &end, 10) : 0;
    if (argc != 3 || end == argv[1] || *end != '\0' || user > 0xfffffffeUL) {
        fputs("own: give the number of a user, and a folder\n", stderr);
        return 2;
    }
    if (lchown(argv[2], (uid_t)user, (gid_t)user) != 0 || chmod(argv[2], 0700) != 0) {
        perror(argv[2]);
        return 1;
    }
    return 0;
}
