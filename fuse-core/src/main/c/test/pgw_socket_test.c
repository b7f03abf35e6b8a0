/* Descriptors over Unix sockets. */
#include "pgw_socket.h"

#include "test_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* The number of the last but one of four that would be opened now. */
static rlim_t third_free_descriptor(void) {
    int found = 0;
    int fd = -1;
    while (found < 3) {
        found += fcntl(++fd, F_GETFD) < 0;
    }
    return (rlim_t)fd;
}

static void send_descriptors(int socket, int count) {
    const int fds[] = {socket, socket, socket, socket};

    assert_int_equal(pgw_socket_send_fds(socket, "x", 1, fds, count), 1);
}

static void descriptors_come_with_the_data_and_empty_places_are_marked(void **state) {
    int pair[2];
    int fds[3];
    char byte;
    (void)state;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    send_descriptors(pair[0], 2);
    assert_int_equal(pgw_socket_receive(pair[1], &byte, 1, fds, 3), 1);
    assert_true(fcntl(fds[0], F_GETFD) == FD_CLOEXEC);
    assert_true(fcntl(fds[1], F_GETFD) == FD_CLOEXEC);
    assert_int_equal(fds[2], -1);
    close(fds[0]);
    close(fds[1]);
    close(pair[0]);
    close(pair[1]);
}

static void what_is_sent_with_descriptors_stays_the_senders(void **state) {
    int pair[2];
    int fd;
    char bytes[2];
    (void)state;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(pgw_socket_send_fds(pair[0], "ab", 2, &pair[1], 1), 2);
    assert_int_equal(pgw_socket_receive(pair[1], bytes, 2, &fd, 1), 2);
    assert_memory_equal(bytes, "ab", 2);
    assert_int_equal(test_descriptors_same_as(pair[1]), 2);
    close(fd);
    close(pair[0]);
    close(pair[1]);
}

static void descriptors_without_a_place_are_closed(void **state) {
    int pair[2];
    int fd;
    char byte;
    (void)state;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    send_descriptors(pair[0], 4);
    assert_int_equal(pgw_socket_receive(pair[1], &byte, 1, &fd, 1), 1);
    assert_int_equal(test_descriptors_same_as(fd), 2);
    assert_int_equal(test_descriptors_same_as(pair[0]), 2);
    close(fd);
    assert_int_equal(test_descriptors_same_as(pair[0]), 1);
    close(pair[0]);
    close(pair[1]);
}

/* As if the sender had sent fewer: who counts on the last one would do without. */
static void descriptors_beyond_the_limit_of_the_process_are_an_error(void **state) {
    int pair[2];
    int fds[4];
    char byte;
    struct rlimit limit;
    (void)state;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    send_descriptors(pair[0], 4);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    struct rlimit short_of_one = {.rlim_cur = third_free_descriptor() + 1,
                                  .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &short_of_one), 0);
    long result = pgw_socket_receive(pair[1], &byte, 1, fds, 4);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(result, -EMFILE);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(fds[i], -1);
    }
    assert_int_equal(test_descriptors_same_as(pair[0]), 1);
    close(pair[0]);
    close(pair[1]);
}

static void the_end_of_the_peer_is_no_data_and_its_user_is_known(void **state) {
    int pair[2];
    char byte;
    (void)state;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(pgw_socket_peer_uid(pair[1]), (long)getuid());
    assert_int_equal(pgw_socket_send(pair[0], "ab", 2), 0);
    assert_int_equal(pgw_socket_receive(pair[1], &byte, 1, NULL, 0), 1);
    close(pair[0]);
    assert_int_equal(pgw_socket_receive(pair[1], &byte, 1, NULL, 0), 1);
    assert_int_equal(pgw_socket_receive(pair[1], &byte, 1, NULL, 0), 0);
    assert_int_equal(pgw_socket_send(pair[1], "ab", 2), -EPIPE);
    assert_int_equal(pgw_socket_send_fds(pair[1], "ab", 2, &pair[1], 1), -EPIPE);
    assert_int_equal(pgw_socket_send_fds(pair[1], "ab", 2, &pair[1], 0), -EINVAL);
    close(pair[1]);
}

static void a_missing_socket_and_a_path_too_long_are_told_apart(void **state) {
    char path[200];
    (void)state;

    memset(path, 'p', sizeof path);
    path[sizeof path - 1] = '\0';
    assert_int_equal(pgw_socket_connect("/nonexistent/socket", 100), -ENOENT);
    assert_int_equal(pgw_socket_connect(path, 100), -ENAMETOOLONG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_come_with_the_data_and_empty_places_are_marked),
        cmocka_unit_test(what_is_sent_with_descriptors_stays_the_senders),
        cmocka_unit_test(descriptors_without_a_place_are_closed),
        cmocka_unit_test(descriptors_beyond_the_limit_of_the_process_are_an_error),
        cmocka_unit_test(the_end_of_the_peer_is_no_data_and_its_user_is_known),
        cmocka_unit_test(a_missing_socket_and_a_path_too_long_are_told_apart),
    };
    return cmocka_run_group_tests_name("socket", tests, NULL, NULL);
}
