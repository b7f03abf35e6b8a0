/* Who holds the lock of a folder, and whose record lock on a file is seen. */
#include "../pgw_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

static void at(const char *name, char *path, size_t bytes) {
    snprintf(path, bytes, "%s/%s", root, name);
}

static int begin(void **state) {
    char path[128];
    int fd;
    (void)state;
    snprintf(root, sizeof root, "/tmp/pgw-lock-XXXXXX");
    assert_non_null(mkdtemp(root));
    at("folder", path, sizeof path);
    assert_int_equal(mkdir(path, 0500), 0);
    at("file", path, sizeof path);
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    return 0;
}

static int end(void **state) {
    static const char *const left[] = {"folder", "file", "link"};
    (void)state;
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        char path[128];
        at(left[i], path, sizeof path);
        (void)remove(path);
    }
    assert_int_equal(rmdir(root), 0);
    return 0;
}

static void folder_hasOneHolderUntilItsDescriptorIsClosed(void **state) {
    char path[128];
    struct stat status;
    struct stat there;
    int held;
    (void)state;
    at("folder", path, sizeof path);
    held = pgw_lock_folder(path, &status);
    assert_true(held >= 0);
    assert_int_equal(stat(path, &there), 0);
    assert_true(status.st_dev == there.st_dev && status.st_ino == there.st_ino);
    assert_int_equal(pgw_lock_folder(path, &status), -EAGAIN);
    close(held);
    held = pgw_lock_folder(path, &status);
    assert_true(held >= 0);
    close(held);
}

static void linkOrFile_isNotLocked(void **state) {
    char path[128];
    struct stat status;
    (void)state;
    at("link", path, sizeof path);
    assert_int_equal(symlink("folder", path), 0);
    assert_true(pgw_lock_folder(path, &status) < 0);
    at("file", path, sizeof path);
    assert_int_equal(pgw_lock_folder(path, &status), -ENOTDIR);
    at("missing", path, sizeof path);
    assert_int_equal(pgw_lock_folder(path, &status), -ENOENT);
}

/* A child holds such a lock until it has read a byte; what the parent sees meanwhile. */
static int seen_beside(short type, const char *path) {
    int ready[2];
    int done[2];
    int seen;
    char byte = 0;
    pid_t child;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    assert_int_equal(pipe2(done, O_CLOEXEC), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
        int fd = open(path, O_RDWR | O_CLOEXEC);
        bool locked = fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0;
        close(done[1]);
        _exit(!(locked && write(ready[1], &byte, 1) == 1 && read(done[0], &byte, 1) == 0));
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    seen = pgw_lock_is_held(path);
    close(done[1]);
    close(done[0]);
    close(ready[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return seen;
}

static void recordLockOfAnotherProcess_isSeenThroughADescriptorForReading(void **state) {
    char path[128];
    (void)state;
    at("file", path, sizeof path);
    assert_int_equal(pgw_lock_is_held(path), 0);
    assert_int_equal(seen_beside(F_RDLCK, path), 1);
    assert_int_equal(seen_beside(F_WRLCK, path), 1);
    assert_int_equal(pgw_lock_is_held(path), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(folder_hasOneHolderUntilItsDescriptorIsClosed, begin, end),
        cmocka_unit_test_setup_teardown(linkOrFile_isNotLocked, begin, end),
        cmocka_unit_test_setup_teardown(
            recordLockOfAnotherProcess_isSeenThroughADescriptorForReading, begin, end),
    };
    return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
