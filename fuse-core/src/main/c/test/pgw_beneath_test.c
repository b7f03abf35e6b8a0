/* What is opened beneath a folder, and what is not, with the kernel's help and without. */
#include "../pgw_beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A folder with the folder blocks, in which 70 is a file. */
struct place {
    enum pgw_beneath_way way;
    char root[64];
    int blocks;
};

static void at(const struct place *place, const char *name, char *path, size_t bytes) {
    snprintf(path, bytes, "%s/%s", place->root, name);
}

static void write_file(const struct place *place, const char *name, const char *text) {
    char path[128];
    int fd;
    at(place, name, path, sizeof path);
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0777);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void make_link(const struct place *place, const char *target, const char *name) {
    char path[128];
    at(place, name, path, sizeof path);
    assert_int_equal(symlink(target, path), 0);
}

static int begin(void **state, enum pgw_beneath_way way) {
    static struct place place;
    char path[128];
    place.way = way;
    snprintf(place.root, sizeof place.root, "/tmp/pgw-beneath-XXXXXX");
    assert_non_null(mkdtemp(place.root));
    at(&place, "blocks", path, sizeof path);
    assert_int_equal(mkdir(path, 0755), 0);
    write_file(&place, "blocks/70", "abcd");
    place.blocks = pgw_beneath_folder(place.root, "blocks", way);
    assert_true(place.blocks >= 0);
    *state = &place;
    return 0;
}

static int begin_kernel(void **state) {
    return begin(state, PGW_BENEATH_KERNEL);
}

static int begin_steps(void **state) {
    return begin(state, PGW_BENEATH_STEPS);
}

static int end(void **state) {
    static const char *const left[] = {"blocks/70", "blocks/71", "blocks", "link", "secret"};
    struct place *place = *state;
    close(place->blocks);
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        char path[128];
        at(place, left[i], path, sizeof path);
        (void)remove(path);
    }
    assert_int_equal(rmdir(place->root), 0);
    return 0;
}

static int opened(const struct place *place, const char *name) {
    struct stat status;
    int fd = pgw_beneath_file(place->blocks, name, &status, place->way);
    if (fd >= 0) {
        close(fd);
    }
    return fd;
}

static void file_ofItsFolder_isOpenedForReading(void **state) {
    struct place *place = *state;
    struct stat status;
    char text[8] = "";
    int fd = pgw_beneath_file(place->blocks, "70", &status, place->way);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, text, sizeof text), 4);
    assert_string_equal(text, "abcd");
    assert_int_equal(status.st_size, 4);
    assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK), O_RDONLY);
    close(fd);
    assert_int_equal(opened(place, "72"), -ENOENT);
}

static void link_isNotFollowed(void **state) {
    struct place *place = *state;
    write_file(place, "secret", "of another");
    make_link(place, "../secret", "blocks/71");
    assert_int_equal(opened(place, "71"), -ELOOP);
    make_link(place, "blocks", "link");
    assert_true(pgw_beneath_folder(place->root, "link", place->way) < 0);
    assert_true(pgw_beneath_folder(place->root, "link/.", place->way) < 0);
}

static void wayOut_isRefused(void **state) {
    struct place *place = *state;
    write_file(place, "secret", "of another");
    assert_int_equal(opened(place, "../secret"), -EXDEV);
    assert_int_equal(pgw_beneath_folder(place->root, "blocks/../..", place->way), -EXDEV);
    assert_true(pgw_beneath_folder("/", "proc/self", place->way) < 0);
}

static void descriptorOfTheProcess_isNotOpened(void **state) {
    const struct place *place = *state;
    struct stat status;
    char name[16];
    char path[128];
    int secret;
    int folder = pgw_beneath_folder("/proc/self/fd", "", place->way);
    assert_true(folder >= 0);
    write_file(place, "secret", "of another");
    at(place, "secret", path, sizeof path);
    secret = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(secret >= 0);
    snprintf(name, sizeof name, "%d", secret);
    assert_int_equal(pgw_beneath_file(folder, name, &status, place->way), -ELOOP);
    close(secret);
    close(folder);
}

static void whatIsNoFile_isRefusedWithoutWaiting(void **state) {
    const struct place *place = *state;
    char path[128];
    at(place, "blocks/71", path, sizeof path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(opened(place, "71"), -EPERM);
}

static void fileOfAnotherOwner_isRefused(void **state) {
    const struct place *place = *state;
    char path[128];
    if (geteuid() != 0) {
        skip();
        return;
    }
    at(place, "blocks/70", path, sizeof path);
    assert_int_equal(chown(path, 4711, 4711), 0);
    assert_int_equal(opened(place, "70"), -EPERM);
    at(place, "blocks", path, sizeof path);
    assert_int_equal(chown(path, 4711, 4711), 0);
    assert_true(opened(place, "70") >= 0);
}

#define BOTH(test)                                                                                 \
    {#test " with openat2", test, begin_kernel, end, NULL}, {                                      \
        #test " by steps", test, begin_steps, end, NULL                                            \
    }

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH(file_ofItsFolder_isOpenedForReading),
        BOTH(link_isNotFollowed),
        BOTH(wayOut_isRefused),
        BOTH(descriptorOfTheProcess_isNotOpened),
        BOTH(whatIsNoFile_isRefusedWithoutWaiting),
        BOTH(fileOfAnotherOwner_isRefused),
    };
    return cmocka_run_group_tests_name("beneath", tests, NULL, NULL);
}
