/* pgw-mount-guard: unmounts what is still the mount it was given, and nothing else; also when the
 * server is dying in the kernel. Needs root. */
#include "../pgw_device.h"
#include "../pgw_mount.h"
#include "../pgw_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
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

enum { LOOK_US = 1000, MAX_LOOKS = 60000, MESSAGE_BYTES = 64 << 10, OPCODE_OPEN = 14 };

/* Of the test that runs. */
static char target[64];

static int unmount_leftover(void **state) {
    (void)state;
    umount2(target, MNT_FORCE); /* whoever hangs in it is let go */
    umount2(target, MNT_DETACH);
    remove(target);
    return 0;
}

/* Starts the guard on the target; the read end of its pipe is taken. */
static pid_t start_guard(const char *device, pid_t server, int pipe_end) {
    char number[16];
    snprintf(number, sizeof number, "%d", (int)server);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(pipe_end, STDIN_FILENO);
        execl(PGW_GUARD, "pgw-mount-guard", target, device, number, (char *)NULL);
        _exit(127);
    }
    close(pipe_end);
    return child;
}

/* Waits for a child; its status as waitpid() gives it, or -1 when it does not end in time. */
static int await(pid_t child) {
    int status = -1;
    for (int i = 0; i < MAX_LOOKS && waitpid(child, &status, WNOHANG) == 0; i++) {
        usleep(LOOK_US);
    }
    return status;
}

/* Runs the guard on the target until the other end of its pipe is closed; its status. */
static int guard(const char *device) {
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = start_guard(device, getpid(), ends[0]);
    close(ends[1]);
    int status = await(child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void device_of(const char *path, char *text, size_t bytes) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    snprintf(text, bytes, "%u:%u", major(status.st_dev), minor(status.st_dev));
}

/* The same without a request to the server. */
static void device_of_mount(char *text, size_t bytes) {
    struct statx status;
    assert_int_equal(statx(AT_FDCWD, target, AT_STATX_DONT_SYNC, 0, &status), 0);
    snprintf(text, bytes, "%u:%u", status.stx_dev_major, status.stx_dev_minor);
}

static void only_the_very_mount_is_unmounted(void **state) {
    char below[32];
    char mounted[32];
    (void)state;

    snprintf(target, sizeof target, "/tmp/pgw guard test-XXXXXX");
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

/* Makes the folder and all above it below the one that is open. */
static void make_folders(int at, char *path) {
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        assert_true(mkdirat(at, path, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
    assert_int_equal(mkdirat(at, path, 0700), 0);
}

/* Shows a folder of the file system, whose path ends in that of the target, elsewhere. */
static void show_elsewhere(int files, const char *separator, char *elsewhere) {
    char folder[128];
    char source[64];
    snprintf(folder, sizeof folder, "a%s%s", separator, target);
    make_folders(files, folder);
    int shown = openat(files, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(shown >= 0);
    snprintf(source, sizeof source, "/proc/self/fd/%d", shown);
    assert_non_null(mkdtemp(elsewhere));
    assert_int_equal(mount(source, elsewhere, NULL, MS_BIND, NULL), 0);
    close(shown);
}

/* The mount is covered by another one, and users have folders shown that they named. */
static void what_a_bind_mount_shows_is_not_taken_for_its_place(void **state) {
    static const char *const separators[] = {"\v", "\r", "\f", "\t", "\n", " ", "\\"};
    enum { SEPARATORS = sizeof separators / sizeof *separators };
    char elsewhere[SEPARATORS][32];
    char mounted[32];
    char upper[32];
    char above[32];
    (void)state;

    snprintf(target, sizeof target, "/tmp/pgw-guard-test-XXXXXX");
    assert_non_null(mkdtemp(target));
    if (mount("pgw-test", target, "tmpfs", 0, NULL) != 0) {
        print_message("skipped: this user cannot mount\n");
        return;
    }
    device_of(target, mounted, sizeof mounted);
    int files = open(target, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (files < 0) {
        fail();
        return; /* the analyzer does not know that fail does not return */
    }
    assert_int_equal(mount("pgw-upper", target, "tmpfs", 0, NULL), 0);
    device_of(target, upper, sizeof upper);
    for (int i = 0; i < SEPARATORS; i++) {
        snprintf(elsewhere[i], sizeof elsewhere[i], "/tmp/pgw-shown-XXXXXX");
        show_elsewhere(files, separators[i], elsewhere[i]);
    }
    close(files);
    int status = guard(mounted);
    device_of(target, above, sizeof above);
    for (int i = 0; i < SEPARATORS; i++) {
        assert_int_equal(umount2(elsewhere[i], MNT_DETACH), 0);
        assert_int_equal(rmdir(elsewhere[i]), 0);
    }
    umount2(target, MNT_DETACH);
    assert_int_equal(status, 0);
    assert_string_equal(above, upper);
}

/* Answers requests of a mount whose root is a file, until that has been opened. */
static void serve_open(int fd) {
    static char request[MESSAGE_BYTES];
    struct {
        struct pgw_out_header header;
        union {
            struct pgw_init_out init;
            struct pgw_open_out open;
        } body;
    } reply;
    const struct pgw_in_header *in = (const void *)request;
    do {
        assert_true(pgw_device_read(fd, request, sizeof request) > 0);
        memset(&reply, 0, sizeof reply);
        reply.header.unique = in->unique;
        reply.header.len = sizeof reply.header;
        if (in->opcode == PGW_OPCODE_INIT) {
            reply.body.init.major = PGW_FUSE_MAJOR;
            reply.body.init.minor = PGW_FUSE_MINOR;
            reply.body.init.max_write = 4096;
            reply.header.len += sizeof reply.body.init;
        } else if (in->opcode == OPCODE_OPEN) {
            reply.header.len += sizeof reply.body.open;
        } else {
            reply.header.error = -ENOSYS;
        }
        assert_int_equal(pgw_device_write_message(fd, &reply), 0);
    } while (in->opcode != OPCODE_OPEN);
}

/* What holds the pipe, and a file of the mount that it leaves nobody to serve; of one task. */
static pid_t start_server(const char *file, int connection, int pipe_end, int opened) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(connection);
        int fd = open(file, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || write(opened, "o", 1) != 1) {
            _exit(1);
        }
        for (;;) {
            pause();
        }
    }
    close(pipe_end);
    close(opened);
    return child;
}

static void a_server_that_waits_for_itself_in_its_exit_is_dying(void **state) {
    struct pgw_mount_request request = {"pgw-test", target, ",rootmode=100000", 0};
    int ends[2];
    int opened[2];
    char device[32];
    char byte;
    (void)state;

    snprintf(target, sizeof target, "/tmp/pgw-guard-test-XXXXXX");
    int place = mkstemp(target);
    assert_true(place >= 0);
    close(place);
    int connection = pgw_device_open();
    if (connection < 0 || pgw_mount_direct(connection, &request) != 0) {
        print_message("skipped: this user cannot mount\n");
        return;
    }
    device_of_mount(device, sizeof device);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(pipe2(opened, O_CLOEXEC), 0);
    pid_t server = start_server(target, connection, ends[1], opened[1]);
    pid_t guarding = start_guard(device, server, ends[0]);
    serve_open(connection);
    assert_int_equal(read(opened[0], &byte, 1), 1);
    assert_int_equal(kill(server, SIGKILL), 0);
    int status = await(guarding);
    if (status == -1) {
        fail_msg("the guard does not see that the server is dying");
    }
    assert_int_equal(status, 0);
    assert_true(WIFSIGNALED(await(server)));
    close(opened[0]);
    close(connection);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_server_that_waits_for_itself_in_its_exit_is_dying,
                                  unmount_leftover),
        cmocka_unit_test_teardown(only_the_very_mount_is_unmounted, unmount_leftover),
        cmocka_unit_test_teardown(what_a_bind_mount_shows_is_not_taken_for_its_place,
                                  unmount_leftover),
    };
    return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
