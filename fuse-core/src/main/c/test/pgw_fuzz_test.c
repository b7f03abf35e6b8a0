/*
 * Whatever bytes come over the bypass socket, to the gateway's end and to the library's, and
 * whatever a slot of a kept session's memory holds: nothing is read or written beside it, no
 * descriptor stays open, and the next good question is answered.
 *
 * Messages are made by changing those of the corpus, a folder with a message in each file. A run is
 * short; PGW_FUZZ_SECONDS makes it longer, PGW_FUZZ_SEED repeats one.
 */
#include "pgw_bypass.h"
#include "pgw_uring_saved.h"

#include "test_descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef PGW_CORPUS
#define PGW_CORPUS "test/corpus"
#endif

/* The library, which is linked into no test, with a time of its own: after a bad answer it would
 * ask nobody for a second. */
static int later(struct timespec *now);
#define clock_gettime(which, now) later(now)
#include "bypass/ask.c" // NOLINT(bugprone-suspicious-include)
#include "bypass/raw.c" // NOLINT(bugprone-suspicious-include)
#undef clock_gettime

static int later(struct timespec *now) {
    static _Atomic time_t seconds;
    *now = (struct timespec){.tv_sec = atomic_fetch_add(&seconds, 2)};
    return 0;
}

#define MIN_ROUNDS 2000
#define MAX_BYTES 8192
#define MAX_SEEDS 64
#define SLOT_BYTES 8192

static char seeds[MAX_SEEDS][MAX_BYTES];
static size_t seed_bytes[MAX_SEEDS];
static size_t seed_count;
static _Thread_local uint64_t random_state;
static int passed; /* what comes along with messages */
static int passed_before;

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static size_t below(size_t limit) {
    return (size_t)(next_random() % limit);
}

static void read_seed(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? -1 : read(fd, seeds[seed_count], MAX_BYTES);
    if (bytes >= 0) {
        seed_bytes[seed_count++] = (size_t)bytes;
    }
    if (fd >= 0) {
        close(fd);
    }
}

static int read_corpus(void **state) {
    const char *seed = getenv("PGW_FUZZ_SEED");
    DIR *folder = opendir(PGW_CORPUS);
    (void)state;
    if (folder == NULL) {
        fail_msg("no folder %s", PGW_CORPUS);
        return -1;
    }
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", PGW_CORPUS, entry->d_name);
        if (entry->d_name[0] != '.' && seed_count < MAX_SEEDS) {
            read_seed(path);
        }
    }
    closedir(folder);
    assert_true(seed_count >= 4);
    random_state =
        seed != NULL ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) * 0x9E3779B97F4A7C15U;
    random_state |= 1;
    passed = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (passed < 0) {
        abort();
    }
    passed_before = test_descriptors_same_as(passed);
    printf("again with PGW_FUZZ_SEED=%#llx\n", (unsigned long long)random_state);
    return 0;
}

/* A message of the corpus with a few changes; how long it is. */
static size_t make_message(char *into) {
    static const uint64_t numbers[] = {0,   1,          128,         129,        255,
                                       256, 0x7fffffff, 0x80000000U, UINT32_MAX, UINT64_MAX};
    size_t which = below(seed_count);
    size_t bytes = seed_bytes[which];
    memcpy(into, seeds[which], bytes);
    for (size_t changes = below(6); changes > 0 && bytes > 0; changes--) {
        uint64_t number = numbers[below(sizeof numbers / sizeof numbers[0])];
        size_t at = below(bytes);
        switch (below(5)) {
        case 0:
            into[at] = (char)next_random();
            break;
        case 1: /* a field */
            at &= ~(size_t)3;
            memcpy(into + at, &number, bytes - at < 4 ? bytes - at : 4);
            break;
        case 2:
            bytes = at;
            break;
        case 3: /* longer by what was there */
            if (bytes * 2 <= MAX_BYTES) {
                memcpy(into + bytes, into, bytes);
                bytes *= 2;
            }
            break;
        default:
            memset(into + at, (int)below(256), bytes - at < 16 ? bytes - at : 16);
        }
    }
    return bytes;
}

static bool goes_on(size_t round, time_t began) {
    const char *seconds = getenv("PGW_FUZZ_SECONDS");
    return round < MIN_ROUNDS || (seconds != NULL && time(NULL) - began < atoi(seconds));
}

/* Sends a message with so many descriptors. */
static bool give(int to, const void *message, size_t bytes, int descriptors) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * 200)];
    } control = {0};
    struct iovec data = {.iov_base = (void *)(uintptr_t)message, .iov_len = bytes};
    struct msghdr header = {.msg_iov = &data, .msg_iovlen = 1};
    if (descriptors > 0) {
        header.msg_control = &control;
        header.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)descriptors);
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(sizeof(int) * (size_t)descriptors);
        for (int i = 0; i < descriptors; i++) {
            memcpy(CMSG_DATA(&control.align) + sizeof(int) * (size_t)i, &passed, sizeof passed);
        }
    }
    return sendmsg(to, &header, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static int connect_to(const char *path) {
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        abort();
    }
    memcpy(place.sun_path, path, strlen(path) + 1);
    assert_int_equal(connect(fd, (struct sockaddr *)&place, sizeof place), 0);
    return fd;
}

static void ask_well(const char *path, uint64_t content) {
    struct pgw_bypass_question good = {
        .magic = PGW_BYPASS_MAGIC, .version = PGW_BYPASS_VERSION, .content = content};
    int fd = connect_to(path);
    assert_true(give(fd, &good, sizeof good, 0));
    close(fd); /* the question stays */
}

static void gateway_takes_whatever_is_asked(void **state) {
    char folder[] = "/tmp/pgw-fuzz-XXXXXX";
    char path[64];
    char *message = malloc(MAX_BYTES); /* so that the sanitizer sees its end */
    int error = 0;
    struct pgw_bypass_server *server;
    time_t began = time(NULL);
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
    server = pgw_bypass_listen(path, &error);
    assert_non_null(server);
    for (size_t round = 0; goes_on(round, began); round++) {
        struct pgw_bypass_asked asked;
        uint64_t content = next_random();
        int fd = connect_to(path);
        give(fd, message, make_message(message), (int)below(4));
        close(fd);
        ask_well(path, content);
        /* What was asked badly may be given out as well, to be counted; then the good one comes. */
        do {
            assert_int_equal(pgw_bypass_next(server, &asked), 0);
            close(asked.connection);
            if (asked.proof >= 0) {
                pgw_bypass_close_proof(asked.proof, asked.place);
            }
        } while (asked.content != content);
    }
    pgw_bypass_close(server);
    assert_int_equal(test_descriptors_same_as(passed), passed_before);
    unlink(path);
    rmdir(folder);
    free(message);
}

/* Plays the gateway to the library: answers each question with a message of the corpus, changed. */
struct false_gateway {
    int listener;
    char path[64];
    uint64_t seed;
    _Atomic bool ends;
};

static void *play_gateway(void *argument) {
    struct false_gateway *gateway = argument;
    char *message = malloc(MAX_BYTES);
    char question[64];
    random_state = gateway->seed;
    while (!gateway->ends) {
        int fd = accept4(gateway->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) {
            continue;
        }
        if (recv(fd, question, sizeof question, 0) > 0) {
            give(fd, message, make_message(message), (int)below(5) * (int)below(40));
        }
        close(fd);
    }
    free(message);
    return NULL;
}

static void library_takes_whatever_is_answered(void **state) {
    char folder[] = "/tmp/pgw-fuzz-XXXXXX";
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    struct false_gateway gateway = {.seed = next_random() | 1};
    pthread_t thread;
    time_t began = time(NULL);
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(gateway.path, sizeof gateway.path, "%s/socket", folder);
    memcpy(place.sun_path, gateway.path, strlen(gateway.path) + 1);
    gateway.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (gateway.listener < 0) {
        abort();
    }
    assert_int_equal(bind(gateway.listener, (struct sockaddr *)&place, sizeof place), 0);
    assert_int_equal(listen(gateway.listener, 16), 0);
    assert_true(pgw_ask_begin(gateway.path));
    assert_int_equal(pthread_create(&thread, NULL, play_gateway, &gateway), 0);
    for (size_t round = 0; goes_on(round, began); round++) {
        struct pgw_bypass_answer answer = {0};
        int blocks[PGW_BYPASS_BLOCKS];
        uint32_t most = (uint32_t)below(PGW_BYPASS_BLOCKS + 1);
        pgw_ask_wanted(makedev(0, (unsigned)below(300)), next_random());
        if (pgw_ask(passed, next_random() & 1, most, &answer, blocks) &&
            answer.status == PGW_BYPASS_GIVEN) {
            assert_true(answer.blocks <= most);
            for (uint32_t i = 0; i < answer.blocks; i++) {
                assert_int_equal(close(blocks[i]), 0);
            }
        }
    }
    gateway.ends = true;
    shutdown(gateway.listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    assert_int_equal(test_descriptors_same_as(passed), passed_before);
    close(gateway.listener);
    unlink(gateway.path);
    rmdir(folder);
}

static void slot_of_another_process_may_hold_anything(void **state) {
    char *slot = aligned_alloc(4096, SLOT_BYTES);
    time_t began = time(NULL);
    (void)state;
    for (size_t round = 0; goes_on(round, began); round++) {
        size_t bytes = make_message(slot);
        for (size_t at = bytes & ~(size_t)7; at + 8 <= SLOT_BYTES; at += 8) {
            uint64_t word = round % 2 == 0 ? next_random() : next_random() % 4;
            memcpy(slot + at, &word, sizeof word);
        }
        enum pgw_uring_rest rest = pgw_uring_saved_resume(slot);
        assert_true(rest == PGW_URING_REGISTER || rest == PGW_URING_EXECUTE ||
                    rest == PGW_URING_COMMIT);
    }
    free(slot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gateway_takes_whatever_is_asked),
        cmocka_unit_test(library_takes_whatever_is_answered),
        cmocka_unit_test(slot_of_another_process_may_hold_anything),
    };
    return cmocka_run_group_tests(tests, read_corpus, NULL);
}
