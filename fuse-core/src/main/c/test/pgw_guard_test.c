/* pgw-mount-guard on a tmpfs: unmounts what is still the mount it was given, and nothing else.
 * Needs root. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The program under test; the Makefile names it. */
#ifndef PGW_GUARD
#define PGW_GUARD "./pgw-mount-guard"
#endif

static char target[] = "/tmp/pgw guard test-XXXXXX";

static int unmount_leftover(void **state) {
    (void)state;
    umount2(target, MNT_DETACH);
    rmdir(target);
    return 0;
}

/* Runs the guard on the target until the other end of its pipe is closed; its status. */
static int guard(const char *device) {
    int ends[2];
    int status;
    pid_t child;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[0], STDIN_FILENO);
        execl(PGW_GUARD, "pgw-mount-guard", target, device, (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void device_of(const char *path, char *text, size_t bytes) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    snprintf(text, bytes, "%u:%u", major(status.st_dev), minor(status.st_dev));
}

static void only_the_very_mount_is_unmounted(void **state) {
    char below[32];
    char mounted[32];
    (void)state;

    assert_non_null(mkdtemp(target));
    device_of(target, below, sizeof below);
    if (mount("pgw-test", target, "tmpfs", 0, NULL) != 0) {
        print_message("skipped: this user cannot mount\n");
        return;
    }
    device_of(target, mounted, sizeof mounted);
    assert_int_equal(guard("999:999"), 0);
    device_of(target, below, sizeof below);
    assert_string_equal(below, mounted);
    assert_int_equal(guard(mounted), 0);
    device_of(target, below, sizeof below);
    assert_string_not_equal(below, mounted);
    assert_int_equal(guard(mounted), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(only_the_very_mount_is_unmounted, unmount_leftover),
    };
    return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
