/* What of a file is read without its disk, and what is not. */
#include "../pgw_resident.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define BYTES (1 << 18)
#define SYS_CACHESTAT 451

static char content[BYTES];
static char into[BYTES];

/* A file of its own below a folder, without a name, all of it written to the disk. */
static int make(const char *folder) {
    char path[64];
    int fd;
    snprintf(path, sizeof path, "%s/pgw-resident-XXXXXX", folder);
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    for (size_t i = 0; i < sizeof content; i++) {
        content[i] = (char)(i % 251);
    }
    assert_int_equal(write(fd, content, sizeof content), sizeof content);
    assert_int_equal(fdatasync(fd), 0);
    memset(into, 0, sizeof into);
    return fd;
}

/* Skips where the kernel is too old. */
static ssize_t read_now(int fd, size_t bytes, off_t offset) {
    ssize_t count = pgw_resident_read(fd, into, bytes, offset);
    if (count == -ENOSYS || count == -EOPNOTSUPP) {
        print_message("[  SKIPPED ] cachestat(2) or RWF_NOWAIT is missing\n");
        skip();
    }
    return count;
}

/* With those that are being read. */
static uint64_t cached_pages(int fd) {
    const uint64_t whole[] = {0, 0};
    uint64_t pages[5] = {0};
    assert_int_equal(syscall(SYS_CACHESTAT, fd, whole, pages, 0), 0);
    return pages[0];
}

static void what_is_in_memory_is_read(void **state) {
    int fd = make("/var/tmp");
    (void)state;
    assert_int_equal(pgw_resident_begin(fd), 0);
    assert_int_equal(read_now(fd, BYTES - 100, 7), BYTES - 100);
    assert_memory_equal(into, content + 7, BYTES - 100);
    close(fd);
}

static void what_is_not_is_left_and_not_begun_to_be_read(void **state) {
    int fd = make("/var/tmp");
    (void)state;
    if (fcntl(fd, F_GET_SEALS) >= 0) {
        print_message("[  SKIPPED ] /var/tmp is memory\n");
        skip();
    }
    assert_int_equal(pgw_resident_begin(fd), 0);
    assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    assert_int_equal(read_now(fd, BYTES, 0), -EAGAIN);
    assert_int_equal(cached_pages(fd), 0);
    assert_int_equal(pread(fd, into, BYTES, 0), BYTES);
    assert_int_equal(read_now(fd, BYTES, 0), BYTES);
    close(fd);
}

static void memory_is_read_where_the_file_system_has_no_disk(void **state) {
    int fd = make("/dev/shm");
    (void)state;
    assert_int_equal(pgw_resident_begin(fd), 0);
    assert_int_not_equal(pgw_resident_read(fd, into, BYTES, 0), -EOPNOTSUPP);
    assert_int_equal(read_now(fd, BYTES, 0), BYTES);
    assert_memory_equal(into, content, BYTES);
    close(fd);
}

static void the_end_of_the_file_is_not_passed(void **state) {
    int fd = make("/var/tmp");
    (void)state;
    assert_int_equal(pgw_resident_begin(fd), 0);
    assert_int_equal(read_now(fd, 100, BYTES - 50), -EAGAIN);
    assert_int_equal(read_now(fd, 0, 0), -EAGAIN);
    assert_int_equal(ftruncate(fd, BYTES - 100), 0);
    assert_int_equal(read_now(fd, 100, BYTES - 150), -EAGAIN);
    close(fd);
}

static void the_time_of_access_stays(void **state) {
    const struct timespec old[] = {{1000, 0}, {2000, 0}};
    struct stat status;
    int fd = make("/var/tmp");
    (void)state;
    assert_int_equal(futimens(fd, old), 0);
    assert_int_equal(pgw_resident_begin(fd), 0);
    assert_int_equal(pread(fd, into, BYTES, 0), BYTES);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_atim.tv_sec, 1000);
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_memory_is_read),
        cmocka_unit_test(what_is_not_is_left_and_not_begun_to_be_read),
        cmocka_unit_test(memory_is_read_where_the_file_system_has_no_disk),
        cmocka_unit_test(the_end_of_the_file_is_not_passed),
        cmocka_unit_test(the_time_of_access_stays),
    };
    return cmocka_run_group_tests_name("resident", tests, NULL, NULL);
}
