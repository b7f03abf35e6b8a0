/* The gateway's end of the bypass socket, asked as the library asks. */
#include "pgw_bypass.h"

#include "test_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char folder[64];
    char socket[80];
    struct pgw_bypass_server *server;
};

/* A descriptor, or the end of the test. */
static int good(int fd) {
    if (fd < 0) {
        perror("a descriptor that the test needs");
        abort();
    }
    return fd;
}

static void write_file(const char *folder, const char *name, const char *text) {
    char path[128];
    int fd;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0777);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void remove_file(const char *folder, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

/* Blocks 70 and 71, of 4 and 3 bytes. */
static int begin(void **state) {
    struct place *place = calloc(1, sizeof *place);
    int error = 0;
    assert_non_null(place);
    snprintf(place->folder, sizeof place->folder, "/tmp/pgw-bypass-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->socket, sizeof place->socket, "%s/socket", place->folder);
    write_file(place->folder, "70", "abcd");
    write_file(place->folder, "71", "efg");
    place->server = pgw_bypass_listen(place->socket, &error);
    assert_non_null(place->server);
    *state = place;
    return 0;
}

static int end(void **state) {
    struct place *place = *state;
    pgw_bypass_close(place->server);
    remove_file(place->folder, "70");
    remove_file(place->folder, "71");
    remove_file(place->folder, "socket");
    rmdir(place->folder);
    free(place);
    return 0;
}

static int ask(const struct place *place, const void *question, size_t bytes, int proof) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct iovec data = {.iov_base = (void *)(uintptr_t)question, .iov_len = bytes};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    int fd = good(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    memcpy(address.sun_path, place->socket, strlen(place->socket) + 1);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    if (proof >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.align), &proof, sizeof proof);
    }
    assert_int_equal(sendmsg(fd, &message, MSG_NOSIGNAL), (ssize_t)bytes);
    return fd;
}

static struct pgw_bypass_answer received(int connection, int *fds, int room) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(4 * sizeof(int))];
    } control;
    struct pgw_bypass_answer answer = {0};
    struct iovec data = {.iov_base = &answer, .iov_len = sizeof answer};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *part;
    assert_int_equal(recvmsg(connection, &message, 0), (ssize_t)sizeof answer);
    part = CMSG_FIRSTHDR(&message);
    assert_true((part != NULL) == (room > 0));
    if (part != NULL && fds != NULL) {
        assert_int_equal(part->cmsg_len, CMSG_LEN((size_t)room * sizeof(int)));
        memcpy(fds, CMSG_DATA(part), (size_t)room * sizeof(int));
    }
    close(connection);
    return answer;
}

static const struct pgw_bypass_question wanted = {
    .magic = PGW_BYPASS_MAGIC, .version = PGW_BYPASS_VERSION, .content = 5, .most_blocks = 9};

static void a_question_brings_what_the_kernel_knows_of_the_proof(void **state) {
    struct place *place = *state;
    struct pgw_bypass_asked asked;
    struct stat status;
    int proof = good(open(place->folder, O_RDONLY | O_CLOEXEC));
    int file = good(openat(proof, "70", O_RDONLY | O_APPEND | O_CLOEXEC));
    int client = ask(place, &wanted, sizeof wanted, file);
    assert_int_equal(pgw_bypass_next(place->server, &asked), 0);
    assert_int_equal(fstat(file, &status), 0);
    assert_int_equal(asked.inode, status.st_ino);
    assert_int_equal(asked.flags & (O_ACCMODE | O_APPEND), O_RDONLY | O_APPEND);
    assert_int_equal(asked.pid, getpid());
    assert_int_equal(asked.uid, getuid());
    assert_int_equal(asked.content, 5);
    assert_int_equal(asked.most_blocks, 9);
    pgw_bypass_close_proof(asked.proof, asked.place);
    close(asked.connection);
    close(client);
    close(file);
    client = ask(place, &wanted, sizeof wanted, proof);
    assert_int_equal(pgw_bypass_next(place->server, &asked), 0);
    assert_int_equal(asked.inode, 0);
    pgw_bypass_tell(asked.connection, PGW_BYPASS_FOREIGN, NULL, 0);
    assert_int_equal(received(client, NULL, 0).status, PGW_BYPASS_FOREIGN);
    pgw_bypass_close_proof(asked.proof, asked.place);
    close(asked.connection);
    close(proof);
}

static void what_is_no_question_is_hung_up_on(void **state) {
    struct place *place = *state;
    struct pgw_bypass_asked asked;
    struct pgw_bypass_question wrong = wanted;
    int proof = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int clients[4];
    char byte;
    wrong.magic = 1;
    clients[0] = ask(place, &wrong, sizeof wrong, proof);
    clients[1] = ask(place, "x", 1, proof);
    clients[2] = ask(place, "x", 1, -1);
    clients[3] = ask(place, &wanted, sizeof wanted, -1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pgw_bypass_next(place->server, &asked), 0);
        assert_int_equal(asked.major, PGW_BYPASS_NOTHING);
        good(asked.proof);
        pgw_bypass_close_proof(asked.proof, asked.place);
        close(asked.connection);
    }
    assert_int_equal(pgw_bypass_next(place->server, &asked), 0);
    assert_int_equal(asked.proof, -1);
    assert_int_equal(asked.major, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(recv(clients[i], &byte, 1, 0), 0);
    }
    for (int i = 0; i < 4; i++) {
        close(clients[i]);
    }
    close(asked.connection);
    close(proof);
}

static void of_several_descriptors_one_is_taken(void **state) {
    struct place *place = *state;
    struct pgw_bypass_asked asked;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(20 * sizeof(int))];
    } control = {0};
    struct pgw_bypass_question question = wanted;
    struct iovec data = {.iov_base = &question, .iov_len = sizeof question};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int client = good(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    memcpy(address.sun_path, place->socket, strlen(place->socket) + 1);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    control.align.cmsg_level = SOL_SOCKET;
    control.align.cmsg_type = SCM_RIGHTS;
    control.align.cmsg_len = CMSG_LEN(20 * sizeof(int));
    for (size_t i = 0; i < 20; i++) {
        memcpy(CMSG_DATA(&control.align) + i * sizeof(int), &client, sizeof client);
    }
    assert_int_equal(sendmsg(client, &message, MSG_NOSIGNAL), (ssize_t)sizeof question);
    assert_int_equal(pgw_bypass_next(place->server, &asked), 0);
    good(asked.proof);
    assert_int_equal(test_descriptors_same_as(client), 2);
    pgw_bypass_close_proof(asked.proof, asked.place);
    close(asked.connection);
    close(client);
}

/* The kernel takes the peer for this user. */
static int ask_as(uid_t user, const struct place *place, int proof) {
    uid_t before = geteuid();
    assert_int_equal(seteuid(user), 0);
    int client = ask(place, &wanted, sizeof wanted, proof);
    assert_int_equal(seteuid(before), 0);
    return client;
}

/* Whether a proof is shown: else it was dropped, and not closed by the gateway. */
static bool shows(const struct place *place, uid_t user, int proof, uint32_t *peer) {
    struct pgw_bypass_asked asked;
    int client = ask_as(user, place, proof);
    assert_int_equal(pgw_bypass_next(place->server, &asked), 0);
    assert_true(asked.limited == (asked.proof < 0));
    close(asked.connection);
    close(client);
    *peer = asked.place;
    assert_int_equal(test_descriptors_same_as(proof), asked.proof < 0 ? 1 : 2);
    if (asked.proof >= 0) {
        close(asked.proof);
    }
    return asked.proof >= 0;
}

static void a_peer_whose_proofs_are_not_closed_shows_no_more_and_others_do(void **state) {
    struct place *place = *state;
    uint32_t peer;
    uint32_t other;
    int shown = 0;
    int file;
    if (geteuid() != 0) {
        skip();
        return;
    }
    assert_int_equal(chmod(place->folder, 0755), 0);
    file = good(memfd_create("shown", MFD_CLOEXEC));
    while (shown < 1000 && shows(place, 7001, file, &peer)) {
        shown++;
    }
    assert_in_range(shown, 16, 128);
    assert_true(shows(place, 7002, file, &other));
    assert_int_not_equal(peer, other);
    pgw_bypass_close_proof(-1, other);
    pgw_bypass_close_proof(-1, peer);
    assert_true(shows(place, 7001, file, &peer));
    assert_false(shows(place, 7001, file, &peer));
    for (; shown > 0; shown--) {
        pgw_bypass_close_proof(-1, peer);
    }
    close(file);
}

struct crowd {
    const struct place *place;
    int idle[200];
    int asks;
};

/* A thread of its own: a connect waits where the kernel lets fewer wait than come. */
static void *come_and_ask_last(void *data) {
    struct crowd *crowd = data;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, crowd->place->socket, strlen(crowd->place->socket) + 1);
    for (int i = 0; i < 200; i++) {
        crowd->idle[i] = good(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        good(connect(crowd->idle[i], (struct sockaddr *)&address, sizeof address));
    }
    crowd->asks = ask(crowd->place, &wanted, sizeof wanted, -1);
    return NULL;
}

static void many_who_ask_nothing_do_not_keep_others_away(void **state) {
    struct place *place = *state;
    struct crowd crowd = {.place = place};
    struct pgw_bypass_asked asked;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, come_and_ask_last, &crowd), 0);
    assert_int_equal(pgw_bypass_next(place->server, &asked), 0);
    pthread_join(thread, NULL);
    close(asked.connection);
    close(crowd.asks);
    for (int i = 0; i < 200; i++) {
        close(crowd.idle[i]);
    }
    pgw_bypass_stop(place->server);
    assert_int_equal(pgw_bypass_next(place->server, &asked), -ECANCELED);
}

static enum pgw_bypass_status give(struct place *place, const struct pgw_bypass_answer *file,
                                   int folder, int *fds) {
    struct pgw_bypass_asked asked;
    struct pgw_bypass_answer answer = *file;
    struct pgw_bypass_blocks blocks = {&folder, 1, 70};
    int client = ask(place, &wanted, sizeof wanted, -1);
    enum pgw_bypass_status given;
    assert_int_equal(pgw_bypass_next(place->server, &asked), 0);
    given = pgw_bypass_give(asked.connection, &answer, &blocks);
    answer = received(client, fds, given == PGW_BYPASS_GIVEN ? (int)file->blocks : 0);
    assert_int_equal(answer.status, given);
    close(asked.connection);
    return given;
}

static void blocks_are_given_whole_or_not_at_all_and_for_reading_alone(void **state) {
    struct place *place = *state;
    struct pgw_bypass_answer file = {.content = 1, .size_bytes = 7, .block_bytes = 4, .blocks = 2};
    char text[16] = "";
    char link[40];
    int fds[2] = {-1, -1};
    int folder = pgw_bypass_folder(place->folder, "");
    if (folder == -EROFS) {
        skip();
        return;
    }
    good(folder);
    assert_int_equal(give(place, &file, folder, fds), PGW_BYPASS_GIVEN);
    assert_int_equal(pread(good(fds[0]), text, 7, 0), 4);
    assert_int_equal(pread(good(fds[1]), text + 4, 7, 0), 3);
    assert_string_equal(text, "abcdefg");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fds[0]);
    assert_int_equal(open(link, O_RDWR | O_CLOEXEC), -1);
    assert_int_equal(errno, EROFS);
    assert_int_equal(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
    close(fds[0]);
    close(fds[1]);
    file.size_bytes = 8;
    assert_int_equal(give(place, &file, folder, fds), PGW_BYPASS_NOT_LOCAL);
    file.size_bytes = 12;
    file.blocks = 3;
    assert_int_equal(give(place, &file, folder, fds), PGW_BYPASS_NOT_LOCAL);
    close(folder);
}

/* Whoever asked for a server must hear of it: as no error, it would be taken for a server. */
static void who_cannot_listen_is_told_why(void **state) {
    char path[200] = "/tmp/";
    struct rlimit before;
    struct rlimit none;
    int error = 0;
    (void)state;
    assert_null(pgw_bypass_listen("/tmp/pgw-bypass-is-not-there/socket", &error));
    assert_int_equal(error, ENOENT);
    memset(path + strlen(path), 'a', 150);
    assert_null(pgw_bypass_listen(path, &error));
    assert_int_equal(error, ENAMETOOLONG);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    error = 0;
    assert_null(pgw_bypass_listen("/tmp/pgw-bypass-socket", &error));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(error, EMFILE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_cannot_listen_is_told_why),
        cmocka_unit_test_setup_teardown(a_question_brings_what_the_kernel_knows_of_the_proof, begin,
                                        end),
        cmocka_unit_test_setup_teardown(what_is_no_question_is_hung_up_on, begin, end),
        cmocka_unit_test_setup_teardown(of_several_descriptors_one_is_taken, begin, end),
        cmocka_unit_test_setup_teardown(
            a_peer_whose_proofs_are_not_closed_shows_no_more_and_others_do, begin, end),
        cmocka_unit_test_setup_teardown(many_who_ask_nothing_do_not_keep_others_away, begin, end),
        cmocka_unit_test_setup_teardown(blocks_are_given_whole_or_not_at_all_and_for_reading_alone,
                                        begin, end),
    };
    return cmocka_run_group_tests_name("bypass", tests, NULL, NULL);
}
