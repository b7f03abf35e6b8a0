/*
 * Each way that messages travel, on a mount of its own, with a file system of one empty folder in
 * C: the native code under ASan and UBSan without Java. Needs root; says so and passes where it
 * cannot mount.
 */
#include "pgw_device.h"
#include "pgw_libfuse.h"
#include "pgw_memory.h"
#include "pgw_mount.h"
#include "pgw_uring.h"
#include "pgw_wake.h"
#include "pgw_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MAX_WRITE 131072
#define SLOT_BYTES (MAX_WRITE + 8192)
#define REPLY_AT 4096
#define QUEUES 16
#define DEPTH 4
#define FLAG_MAX_PAGES (1U << 22)
#define FLAG_INIT_EXT (1U << 30)
#define FLAG2_URING (1U << 9)
#define OPCODE_GETATTR 3
#define STATS 200

/* The mount of the test that runs; unmounted after it, however it ends. */
static char target[64];

struct fixture {
    int fd;
    char *memory; /* QUEUES slots */
    bool uring;
    atomic_int initialized;
    atomic_int lanes;
};

static int init_reply(const struct fixture *fixture, void *body) {
    struct pgw_init_out *out = body;
    memset(out, 0, sizeof *out);
    out->major = PGW_FUSE_MAJOR;
    out->minor = PGW_FUSE_MINOR;
    out->flags = FLAG_INIT_EXT | FLAG_MAX_PAGES;
    out->flags2 = fixture->uring ? FLAG2_URING : 0;
    out->max_write = MAX_WRITE;
    out->max_pages = MAX_WRITE / 4096;
    out->time_gran = 1;
    return (int)sizeof *out;
}

static int getattr_reply(void *body) {
    struct pgw_attr_out *out = body;
    memset(out, 0, sizeof *out);
    out->attr.ino = 1;
    out->attr.mode = S_IFDIR | 0755;
    out->attr.nlink = 2;
    return (int)sizeof *out;
}

/* Puts the reply's body; its bytes, or -errno. */
static int answer(const struct fixture *fixture, uint32_t opcode, void *body) {
    switch (opcode) {
    case PGW_OPCODE_INIT:
        return init_reply(fixture, body);
    case OPCODE_GETATTR:
        return getattr_reply(body);
    default:
        return -ENOENT;
    }
}

static void put_header(void *place, uint64_t unique, int result) {
    struct pgw_out_header *header = place;
    header->len = (uint32_t)(sizeof *header + (result > 0 ? (size_t)result : 0));
    header->error = result < 0 ? result : 0;
    header->unique = unique;
}

/* Answers the message in a slot; where the reply lies, or NULL for those that get none. */
static const void *answer_slot(const struct fixture *fixture, char *slot) {
    const struct pgw_in_header *request = (const void *)slot;
    char *reply = slot + REPLY_AT - sizeof(struct pgw_out_header);
    if (request->opcode == PGW_OPCODE_FORGET || request->opcode == PGW_OPCODE_BATCH_FORGET) {
        return NULL;
    }
    put_header(reply, request->unique, answer(fixture, request->opcode, slot + REPLY_AT));
    return reply;
}

static bool mount_fixture(struct fixture *fixture) {
    struct pgw_mount_request request = {"pgw-test", target, ",default_permissions", false};
    snprintf(target, sizeof target, "/tmp/pgw-session-test-XXXXXX");
    assert_non_null(mkdtemp(target));
    fixture->fd = pgw_device_open();
    if (fixture->fd < 0 || pgw_mount_direct(fixture->fd, &request) != 0) {
        print_message("skipped: this user cannot mount\n");
        return false;
    }
    fixture->memory = pgw_memory_map(QUEUES * (size_t)SLOT_BYTES);
    assert_non_null(fixture->memory);
    assert_int_equal(pgw_wake_install(), 0);
    return true;
}

static int unmount_leftover(void **state) {
    (void)state;
    pgw_mount_unmount(target, true);
    rmdir(target);
    return 0;
}

static void use_and_unmount(void) {
    struct stat status;
    char name[128];
    for (int i = 0; i < STATS; i++) {
        assert_int_equal(stat(target, &status), 0);
        assert_true(S_ISDIR(status.st_mode));
        snprintf(name, sizeof name, "%s/missing-%d", target, i);
        assert_int_equal(stat(name, &status), -1);
        assert_int_equal(errno, ENOENT);
    }
    assert_int_equal(pgw_mount_unmount(target, false), 0);
}

static void end(const struct fixture *fixture) {
    close(fixture->fd);
    assert_int_equal(pgw_memory_unmap(fixture->memory, QUEUES * (size_t)SLOT_BYTES), 0);
}

static void *serve_device(void *data) {
    struct fixture *fixture = data;
    while (pgw_device_read(fixture->fd, fixture->memory, SLOT_BYTES) > 0) {
        const void *reply = answer_slot(fixture, fixture->memory);
        if (reply != NULL) {
            pgw_device_write_message(fixture->fd, reply);
        }
        fixture->initialized = 1;
    }
    return NULL;
}

static void messages_travel_over_the_device(void **state) {
    struct fixture fixture = {.fd = -1};
    pthread_t thread;
    (void)state;
    if (!mount_fixture(&fixture)) {
        return;
    }
    assert_int_equal(pthread_create(&thread, NULL, serve_device, &fixture), 0);
    use_and_unmount();
    pthread_join(thread, NULL);
    end(&fixture);
}

static bool enter(void *owner, struct pgw_libfuse_lane *lane) {
    struct fixture *fixture = owner;
    lane->number = fixture->lanes++;
    lane->slot = fixture->memory + (size_t)(lane->number % QUEUES) * SLOT_BYTES;
    return true;
}

static void handle(void *owner, struct pgw_libfuse_lane *lane, size_t bytes) {
    assert_true(bytes >= sizeof(struct pgw_in_header));
    lane->reply = answer_slot(owner, lane->slot);
}

static void leave(void *owner, struct pgw_libfuse_lane *lane) {
    (void)owner;
    (void)lane;
}

static const struct pgw_libfuse_hooks hooks = {SLOT_BYTES, enter, handle, leave};

static void *serve_libfuse(void *session) {
    pgw_libfuse_run(session);
    return NULL;
}

static void messages_travel_over_libfuse(void **state) {
    struct fixture fixture = {.fd = -1};
    struct pgw_libfuse *session;
    pthread_t thread;
    (void)state;
    if (pgw_libfuse_probe() != 0) {
        print_message("skipped: no libfuse.so.2 here\n");
        return;
    }
    if (!mount_fixture(&fixture)) {
        return;
    }
    session = pgw_libfuse_open(fixture.fd, &hooks, &fixture);
    assert_non_null(session);
    assert_int_equal(pthread_create(&thread, NULL, serve_libfuse, session), 0);
    use_and_unmount();
    pthread_join(thread, NULL);
    pgw_libfuse_close(session);
    end(&fixture);
}

/* One queue and the memory it needs. */
struct queue {
    struct fixture *fixture;
    int number;
    pthread_t thread;
    int32_t box[2 * DEPTH];
};

static void *serve_queue(void *data) {
    struct queue *queue = data;
    size_t bytes = DEPTH * (size_t)(PGW_URING_HEADER_BYTES + MAX_WRITE);
    struct pgw_uring_geometry geometry = {.fd = queue->fixture->fd,
                                          .queue = (uint16_t)queue->number,
                                          .depth = DEPTH,
                                          .most = DEPTH,
                                          .memory = pgw_memory_map(bytes),
                                          .payload_bytes = MAX_WRITE,
                                          .box = queue->box};
    int error;
    struct pgw_uring *ring = pgw_uring_open(&geometry, &error);
    int ready = ring == NULL ? error : pgw_uring_enter(ring, 0, 0);

    while (ready >= 0) {
        for (int i = 0; i < ready; i++) {
            char *slot =
                geometry.memory + (size_t)queue->box[i] * (PGW_URING_HEADER_BYTES + MAX_WRITE);
            struct pgw_uring_req_header *header = (void *)slot;
            const struct pgw_in_header *request = (const void *)slot;
            int result = answer(queue->fixture, request->opcode, slot + PGW_URING_HEADER_BYTES);
            put_header(slot, request->unique, result);
            header->ring_ent.payload_sz = result > 0 ? (uint32_t)result : 0;
            queue->box[DEPTH + i] = queue->box[i];
        }
        ready = pgw_uring_enter(ring, ready, 50);
    }
    if (ring != NULL) {
        pgw_uring_close(ring);
    }
    pgw_memory_unmap(geometry.memory, bytes);
    return NULL;
}

static bool uring_enabled(void) {
    char value = 'N';
    int fd = open("/sys/module/fuse/parameters/enable_uring", O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, "Y", 1);
        (void)!pread(fd, &value, 1, 0);
        close(fd);
    }
    return value == 'Y' && pgw_uring_probe() == 0 && pgw_uring_queues() <= QUEUES;
}

static void messages_travel_over_io_uring(void **state) {
    struct fixture fixture = {.fd = -1, .uring = true};
    struct queue queues[QUEUES];
    int count = pgw_uring_queues();
    pthread_t device;
    (void)state;
    if (!uring_enabled() || !mount_fixture(&fixture)) {
        print_message("skipped: no FUSE over io_uring here\n");
        return;
    }
    assert_int_equal(pthread_create(&device, NULL, serve_device, &fixture), 0);
    while (!fixture.initialized) {
        usleep(1000);
    }
    for (int i = 0; i < count; i++) {
        queues[i].fixture = &fixture;
        queues[i].number = i;
        assert_int_equal(pthread_create(&queues[i].thread, NULL, serve_queue, &queues[i]), 0);
    }
    use_and_unmount();
    for (int i = 0; i < count; i++) {
        pthread_join(queues[i].thread, NULL);
    }
    pthread_join(device, NULL);
    end(&fixture);
}

static void *blocked_read(void *data) {
    struct fixture *fixture = data;
    fixture->lanes = pgw_wake_self();
    return (void *)pgw_device_read(fixture->fd, fixture->memory, SLOT_BYTES);
}

static void a_thread_that_waits_for_messages_can_be_woken(void **state) {
    struct fixture fixture = {.fd = -1};
    pthread_t thread;
    void *result;
    (void)state;
    if (!mount_fixture(&fixture)) {
        return;
    }
    /* The first message is INIT, which nobody answers here: what follows waits. */
    assert_true(pgw_device_read(fixture.fd, fixture.memory, SLOT_BYTES) > 0);
    assert_int_equal(pthread_create(&thread, NULL, blocked_read, &fixture), 0);
    while (fixture.lanes == 0) {
        usleep(1000);
    }
    while (pthread_tryjoin_np(thread, &result) != 0) {
        pgw_wake_thread(fixture.lanes);
        usleep(1000);
    }
    assert_int_equal((long)result, -EINTR);
    assert_int_equal(pgw_mount_unmount(target, true), 0);
    end(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(messages_travel_over_the_device, unmount_leftover),
        cmocka_unit_test_teardown(messages_travel_over_libfuse, unmount_leftover),
        cmocka_unit_test_teardown(messages_travel_over_io_uring, unmount_leftover),
        cmocka_unit_test_teardown(a_thread_that_waits_for_messages_can_be_woken, unmount_leftover),
    };
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
