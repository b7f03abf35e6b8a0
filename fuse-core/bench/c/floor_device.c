/*
 * The C floor of the devfuse transport, and with "uring" as first argument of the uring transport:
 * a file system in memory on the native code that the transports use, with the same threads,
 * queues, depth and buffers, without a JVM.
 *
 *   floor_device devfuse|uring MOUNTPOINT ARGUMENT   what the source wants: see null_fs.h
 *
 * Serves until it is unmounted.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "null_fs.h"
#include "pgw_device.h"
#include "pgw_memory.h"
#include "pgw_uring.h"

enum { REPLY_AT = 4096, SLOT_BYTES = NULL_FS_MAX_WRITE + 2 * REPLY_AT };
enum { ARGUMENTS_AT = 128, MAX_THREADS = 16, MAX_DEPTH = 80, MIN_DEPTH = 8, ENTRIES = 320 };

static int connection;

static void die(const char *what, int error) {
    fprintf(stderr, "floor_device: %s: %s\n", what, strerror(error));
    exit(1);
}

static char *memory_of(size_t bytes) {
    char *memory = pgw_memory_map(bytes);
    if (memory == NULL)
        die("memory", errno);
    return memory;
}

/* Answers one message of /dev/fuse; false when the connection has ended. */
static int serve_one(int fd, char *slot) {
    long bytes = pgw_device_read(fd, slot, SLOT_BYTES);
    if (bytes < 0)
        return bytes == -EINTR || bytes == -EAGAIN;
    const struct pgw_in_header *header = (const void *)slot;
    const char *arguments = slot + sizeof *header;
    uint64_t unique = header->unique;
    int32_t done = null_fs_answer(
        header, arguments, arguments + null_fs_argument_bytes(header->opcode), slot + REPLY_AT);
    if (done == NULL_FS_NO_REPLY)
        return 1;
    struct pgw_out_header reply = {.len = (uint32_t)(sizeof reply + (size_t)(done > 0 ? done : 0)),
                                   .error = done < 0 ? done : 0,
                                   .unique = unique};
    char *message = slot + REPLY_AT - sizeof reply;
    memcpy(message, &reply, sizeof reply);
    int result = pgw_device_write_message(fd, message);
    return result == 0 || result == -ENOENT;
}

static void *serve_device(void *cloned) {
    int fd = (int)(intptr_t)cloned;
    char *slot = memory_of(SLOT_BYTES);
    while (serve_one(fd, slot)) {
    }
    return NULL;
}

static void answer_entry(char *slot) {
    struct pgw_uring_req_header *entry = (void *)slot;
    struct pgw_in_header header;
    memcpy(&header, entry->in_out, sizeof header);
    char *payload = slot + PGW_URING_HEADER_BYTES;
    int32_t done = null_fs_answer(&header, slot + ARGUMENTS_AT, payload, payload);
    uint32_t body = done > 0 ? (uint32_t)done : 0;
    struct pgw_out_header reply = {.len = (uint32_t)sizeof reply + body,
                                   .error = done < 0 ? done : 0,
                                   .unique = header.unique};
    memcpy(entry->in_out, &reply, sizeof reply);
    entry->ring_ent.payload_sz = body;
}

static int depth_of(int queues) {
    int depth = ENTRIES / queues;
    if (depth > MAX_DEPTH)
        return MAX_DEPTH;
    return depth < MIN_DEPTH ? MIN_DEPTH : depth;
}

static void *serve_ring(void *number) {
    int depth = depth_of(pgw_uring_queues());
    size_t stride = PGW_URING_HEADER_BYTES + NULL_FS_MAX_WRITE;
    int32_t *box = calloc(2 * (size_t)depth, sizeof *box);
    struct pgw_uring_geometry geometry = {.fd = connection,
                                          .queue = (uint16_t)(intptr_t)number,
                                          .depth = depth,
                                          .most = depth,
                                          .memory = memory_of((size_t)depth * stride),
                                          .payload_bytes = NULL_FS_MAX_WRITE,
                                          .demote = true,
                                          .box = box};
    int error = ENOMEM;
    struct pgw_uring *ring = box == NULL ? NULL : pgw_uring_open(&geometry, &error);
    if (ring == NULL)
        die("io_uring", error < 0 ? -error : error);
    for (int commits = 0;;) {
        int ready = pgw_uring_enter(ring, commits, 0);
        if (ready < 0 && ready != -EINTR)
            break;
        commits = 0;
        for (int i = 0; i < ready; i++) {
            answer_entry(geometry.memory + (size_t)box[i] * stride);
            box[depth + commits++] = box[i];
        }
    }
    pgw_uring_close(ring);
    free(box);
    return NULL;
}

static void start(void *(*body)(void *), intptr_t argument) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, body, (void *)argument);
    if (error != 0)
        die("thread", error);
}

/* Mounts and answers INIT. */
static void connect_to(const char *mount_point) {
    connection = pgw_device_open();
    if (connection < 0)
        die("/dev/fuse", -connection);
    char options[128];
    snprintf(options, sizeof options,
             "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions",
             connection);
    if (mount("floor", mount_point, "fuse", MS_NOSUID | MS_NODEV, options) != 0)
        die(mount_point, errno);
    char *slot = memory_of(SLOT_BYTES);
    if (!serve_one(connection, slot))
        die("INIT", EPROTO);
    pgw_memory_unmap(slot, SLOT_BYTES);
}

static void start_clones(long count) {
    for (long i = 0; i < count; i++) {
        int fd = pgw_device_clone(connection);
        if (fd < 0)
            die("clone", -fd);
        start(serve_device, fd);
    }
}

int main(int count, char **values) {
    if (count != 4) {
        fprintf(stderr, "usage: floor_device devfuse|uring MOUNTPOINT ARGUMENT\n");
        return 2;
    }
    null_fs_uring = strcmp(values[1], "uring") == 0;
    source_prepare(values[3]);
    connect_to(values[2]);
    long threads = 2 * sysconf(_SC_NPROCESSORS_ONLN);
    if (null_fs_uring) {
        for (int i = 0; i < pgw_uring_queues(); i++)
            start(serve_ring, i);
    } else {
        start_clones((threads < MAX_THREADS ? threads : MAX_THREADS) - 1);
    }
    serve_device((void *)(intptr_t)connection);
    return 0;
}
