/* Descriptors counted by what they refer to: others of the process come and go, as a sanitizer
 * reads files of its own. */
#ifndef TEST_DESCRIPTORS_H
#define TEST_DESCRIPTORS_H

#include <sys/stat.h>

enum { TEST_DESCRIPTORS_LOOKED_AT = 1024 };

/* How many descriptors of this process are of the same file or socket as fd, itself among them; -1:
 * fd is not open. */
static inline int test_descriptors_same_as(int fd) {
    struct stat wanted, found;
    int count = 0;
    if (fstat(fd, &wanted) != 0) {
        return -1;
    }
    for (int each = 0; each < TEST_DESCRIPTORS_LOOKED_AT; each++) {
        count += fstat(each, &found) == 0 && found.st_dev == wanted.st_dev &&
                 found.st_ino == wanted.st_ino;
    }
    return count;
}

#endif
