/* Who has a lock for life, and until when: also where its holder is dying in the kernel, which
 * needs root. */
#include "../pgw_device.h"
#include "../pgw_life_lock.h"
#include "../pgw_mount.h"
#include "../pgw_wire.h"
#include "test_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LOOK_US = 1000, MAX_LOOKS = 60000, MESSAGE_BYTES = 64 << 10 };
/* So many descriptors are open before that of the lock, and so many behind it. */
enum { BEFORE = 70, BEHIND = 200 };

/* Of the test that runs. */
static char path[64];
static char target[64];

static int begin(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/pgw-life-lock-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    return 0;
}

static int end(void **state) {
    (void)state;
    return unlink(path);
}

static int begin_with_target(void **state) {
    begin(state);
    snprintf(target, sizeof target, "/tmp/pgw-life-mount-XXXXXX");
    assert_non_null(mkdtemp(target));
    return 0;
}

static int unmount_leftover(void **state) {
    umount2(target, MNT_FORCE); /* whoever hangs in it can end */
    umount2(target, MNT_DETACH);
    rmdir(target);
    return end(state);
}

/* Whether another process could have a record lock, as earlier versions have. */
static bool is_free_for_another(void) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int status = -1;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int fd = open(path, O_RDWR | O_CLOEXEC);
        _exit(fd < 0 || fcntl(fd, F_SETLK, &whole) != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status == 0;
}

static void lock_hasOneHolder_inOneProcess_too(void **state) {
    struct pgw_life_lock *first = NULL;
    struct pgw_life_lock *second = NULL;
    (void)state;
    assert_int_equal(pgw_life_lock_file(path, &first), 0);
    assert_false(is_free_for_another());
    assert_int_equal(pgw_life_lock_file(path, &second), -EAGAIN);
    pgw_life_lock_release(first);
    assert_true(is_free_for_another());
    assert_int_equal(pgw_life_lock_file(path, &second), 0);
    pgw_life_lock_release(second);
}

static void lockOfAnEarlierVersion_isRespected(void **state) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct pgw_life_lock *lock = NULL;
    (void)state;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_SETLK, &whole), 0);
    assert_int_equal(pgw_life_lock_file(path, &lock), -EAGAIN);
    close(fd);
    assert_int_equal(pgw_life_lock_file(path, &lock), 0);
    pgw_life_lock_release(lock);
}

/* As the memory of a session, whose descriptor its keeper and each gateway share. */
static void lockThroughASharedDescriptor_isOfTheOneThatTookIt(void **state) {
    struct pgw_life_lock *first = NULL;
    struct pgw_life_lock *second = NULL;
    (void)state;
    int fd = memfd_create("pgw-life-lock-test", MFD_CLOEXEC);
    if (fd < 0) {
        fail();
        return; /* the analyzer does not know that fail does not return */
    }
    assert_int_equal(pgw_life_lock_opened(fd, &first), 0);
    assert_int_equal(test_descriptors_same_as(fd), 1);
    assert_int_equal(pgw_life_lock_opened(fd, &second), -EAGAIN);
    close(dup(fd));
    assert_int_equal(pgw_life_lock_opened(fd, &second), -EAGAIN);
    pgw_life_lock_release(first);
    assert_int_equal(pgw_life_lock_opened(fd, &second), 0);
    pgw_life_lock_release(second);
    close(fd);
}

static void linkOrMissingFile_isNotLocked(void **state) {
    struct pgw_life_lock *lock = NULL;
    char other[80];
    (void)state;
    snprintf(other, sizeof other, "%s-link", path);
    assert_int_equal(pgw_life_lock_file(other, &lock), -ENOENT);
    assert_int_equal(symlink(path, other), 0);
    assert_int_equal(pgw_life_lock_file(other, &lock), -ELOOP);
    assert_int_equal(unlink(other), 0);
    assert_int_equal(pgw_life_lock_opened(-1, &lock), -ENOENT);
}

static void *look_at_mount(void *argument) {
    char file[80];
    snprintf(file, sizeof file, "%s/file", target);
    return access(file, F_OK) == 0 ? argument : NULL;
}

/* The lowest free one is this, or higher. */
static void open_up_to(int fd) {
    int opened = 0;
    while (opened >= 0 && opened < fd - 1) {
        opened = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
}

/* Has the lock, and another thread that the mount, which nobody serves, holds up in the kernel. */
static pid_t start_holder(int connection) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct pgw_life_lock *lock = NULL;
        pthread_t waits;
        close(connection);
        open_up_to(BEFORE);
        int free_fd = dup(STDIN_FILENO);
        open_up_to(BEHIND);
        close(free_fd);
        if (pgw_life_lock_file(path, &lock) != 0 ||
            pthread_create(&waits, NULL, look_at_mount, NULL) != 0) {
            _exit(1);
        }
        for (;;) {
            pause();
        }
    }
    return child;
}

/* Answers INIT, and reads the first request behind it, which then waits for an answer for good. */
static void read_first_lookup(int connection) {
    static char request[MESSAGE_BYTES];
    const struct pgw_in_header *in = (const void *)request;
    struct {
        struct pgw_out_header header;
        struct pgw_init_out init;
    } reply;
    assert_true(pgw_device_read(connection, request, sizeof request) > 0);
    assert_int_equal(in->opcode, PGW_OPCODE_INIT);
    memset(&reply, 0, sizeof reply);
    reply.header.unique = in->unique;
    reply.header.len = sizeof reply;
    reply.init.major = PGW_FUSE_MAJOR;
    reply.init.minor = PGW_FUSE_MINOR;
    reply.init.max_write = 4096;
    assert_int_equal(pgw_device_write_message(connection, &reply), 0);
    assert_true(pgw_device_read(connection, request, sizeof request) > 0);
}

static int take_in_time(struct pgw_life_lock **lock) {
    int result = -EAGAIN;
    for (int i = 0; i < MAX_LOOKS && result == -EAGAIN; i++) {
        result = pgw_life_lock_file(path, lock);
        usleep(LOOK_US);
    }
    return result;
}

static void lockOfAProcessThatIsDying_isFree(void **state) {
    struct pgw_mount_request request = {"pgw-test", target, ",rootmode=40000", 0};
    struct pgw_life_lock *lock = NULL;
    int status = -1;
    (void)state;
    int connection = pgw_device_open();
    if (connection < 0 || pgw_mount_direct(connection, &request) != 0) {
        print_message("skipped: this user cannot mount\n");
        return;
    }
    pid_t holder = start_holder(connection);
    read_first_lookup(connection);
    assert_int_equal(pgw_life_lock_file(path, &lock), -EAGAIN);
    assert_int_equal(kill(holder, SIGKILL), 0);
    int taken = take_in_time(&lock);
    int ended = waitpid(holder, &status, WNOHANG);
    close(connection); /* which ends what waits */
    assert_int_equal(taken, 0);
    assert_int_equal(ended, 0);
    assert_int_equal(waitpid(holder, &status, 0), holder);
    pgw_life_lock_release(lock);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lock_hasOneHolder_inOneProcess_too, begin, end),
        cmocka_unit_test_setup_teardown(lockOfAnEarlierVersion_isRespected, begin, end),
        cmocka_unit_test_setup_teardown(lockThroughASharedDescriptor_isOfTheOneThatTookIt, begin,
                                        end),
        cmocka_unit_test_setup_teardown(linkOrMissingFile_isNotLocked, begin, end),
        cmocka_unit_test_setup_teardown(lockOfAProcessThatIsDying_isFree, begin_with_target,
                                        unmount_leftover),
    };
    return cmocka_run_group_tests_name("life lock", tests, NULL, NULL);
}
