/*
 * The C floor of the devfuse transport, and with "uring" as first argument of the uring transport:
 * the null file system on the same kernel interfaces, without a JVM.
 *
 *   floor_device devfuse|uring MOUNTPOINT FILE_BYTES
 *
 * Serves until it is unmounted.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/uio.h>
#include <unistd.h>

#include "null_fs.h"

enum { BUFFER_BYTES = NULL_FS_MAX_WRITE + 8192, DEPTH = 64, COMMAND_BYTES = 80 };
#define DEVICE_CLONE _IOR(229, 0, uint32_t)

static int connection;

static void die(const char *what) {
    fprintf(stderr, "floor_device: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Answers one message of /dev/fuse; false when the connection has ended. */
static int serve_one(int fd, char *in, char *out) {
    ssize_t bytes = read(fd, in, BUFFER_BYTES);
    if (bytes < 0)
        return errno == EINTR || errno == EAGAIN || errno == ENOENT;
    const struct pgw_in_header *header = (const void *)in;
    const char *arguments = in + sizeof *header;
    const void *direct;
    int32_t done =
        null_fs_answer(header, arguments, arguments + null_fs_argument_bytes(header->opcode),
                       out + sizeof(struct pgw_out_header), &direct);
    if (done == NULL_FS_NO_REPLY)
        return 1;
    struct pgw_out_header reply = {.len = (uint32_t)(sizeof reply + (size_t)(done > 0 ? done : 0)),
                                   .error = done < 0 ? done : 0,
                                   .unique = header->unique};
    memcpy(out, &reply, sizeof reply);
    struct iovec parts[2] = {
        {out, sizeof reply},
        {direct ? (void *)direct : out + sizeof reply, reply.len - sizeof reply}};
    return writev(fd, parts, 2) >= 0 || errno == ENOENT;
}

static void *serve_device(void *cloned) {
    int fd = (int)(intptr_t)cloned;
    char *in = malloc(BUFFER_BYTES);
    char *out = malloc(BUFFER_BYTES);
    if (in == NULL || out == NULL)
        die("memory");
    while (serve_one(fd, in, out)) {
    }
    free(in);
    free(out);
    return NULL;
}

struct entry {
    struct pgw_uring_req_header header;
    struct iovec parts[2];
};

static void command(struct io_uring *ring, struct entry *entries, int queue, int slot,
                    unsigned op) {
    struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
    struct entry *entry = &entries[slot];
    if (sqe == NULL)
        die("submission queue");
    memset(sqe, 0, 2 * sizeof *sqe);
    sqe->opcode = IORING_OP_URING_CMD;
    sqe->fd = connection;
    sqe->cmd_op = op;
    sqe->user_data = (uint64_t)slot;
    struct pgw_uring_cmd_req request = {.qid = (uint16_t)queue};
    if (op == PGW_URING_CMD_REGISTER) {
        sqe->addr = (uint64_t)(uintptr_t)entry->parts;
        sqe->len = 2;
    } else {
        request.commit_id = entry->header.ring_ent.commit_id;
    }
    memcpy(sqe->cmd, &request, sizeof request);
}

static void answer_entry(struct entry *entry) {
    struct pgw_in_header header;
    memcpy(&header, entry->header.in_out, sizeof header);
    const void *direct;
    char *payload = entry->parts[1].iov_base;
    int32_t done = null_fs_answer(&header, entry->header.op_in, payload, payload, &direct);
    uint32_t body = done > 0 ? (uint32_t)done : 0;
    if (direct != NULL)
        memcpy(payload, direct, body);
    struct pgw_out_header reply = {.len = (uint32_t)sizeof reply + body,
                                   .error = done < 0 ? done : 0,
                                   .unique = header.unique};
    memcpy(entry->header.in_out, &reply, sizeof reply);
    entry->header.ring_ent.payload_sz = body;
}

static void *serve_ring(void *number) {
    int queue = (int)(intptr_t)number;
    struct io_uring ring;
    struct io_uring_params params = {.flags = IORING_SETUP_SQE128 | IORING_SETUP_SINGLE_ISSUER |
                                              IORING_SETUP_COOP_TASKRUN};
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET((size_t)queue, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    if (io_uring_queue_init_params((unsigned)DEPTH * 2, &ring, &params) != 0)
        die("io_uring");
    struct entry *entries = aligned_alloc(4096, sizeof(struct entry) * DEPTH + 4096);
    if (entries == NULL)
        die("memory");
    memset(entries, 0, sizeof(struct entry) * DEPTH);
    for (int slot = 0; slot < DEPTH; slot++) {
        entries[slot].parts[0] = (struct iovec){&entries[slot].header, sizeof entries[slot].header};
        entries[slot].parts[1] =
            (struct iovec){aligned_alloc(4096, NULL_FS_MAX_WRITE), NULL_FS_MAX_WRITE};
        command(&ring, entries, queue, slot, PGW_URING_CMD_REGISTER);
    }
    for (;;) {
        int submitted = io_uring_submit_and_wait(&ring, 1);
        if (submitted < 0 && submitted != -EINTR)
            return NULL;
        struct io_uring_cqe *cqe;
        unsigned head;
        unsigned seen = 0;
        io_uring_for_each_cqe(&ring, head, cqe) {
            seen++;
            if (cqe->res < 0)
                return NULL;
            answer_entry(&entries[cqe->user_data]);
            command(&ring, entries, queue, (int)cqe->user_data, PGW_URING_CMD_COMMIT_AND_FETCH);
        }
        io_uring_cq_advance(&ring, seen);
    }
}

static void start(void *(*body)(void *), intptr_t argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, (void *)argument) != 0)
        die("thread");
}

/* Mounts and answers INIT. */
static void connect_to(const char *mount_point) {
    connection = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char options[128];
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
             connection);
    if (connection < 0 || mount("floor", mount_point, "fuse", MS_NOSUID | MS_NODEV, options) != 0)
        die(mount_point);
    char *in = malloc(BUFFER_BYTES);
    char *out = malloc(BUFFER_BYTES);
    if (in == NULL || out == NULL || !serve_one(connection, in, out))
        die("INIT");
    free(in);
    free(out);
}

static void start_clones(long count) {
    for (long i = 0; i < count; i++) {
        int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
        uint32_t of = (uint32_t)connection;
        if (fd < 0 || ioctl(fd, DEVICE_CLONE, &of) != 0)
            die("clone");
        start(serve_device, fd);
    }
}

int main(int count, char **values) {
    if (count != 4) {
        fprintf(stderr, "usage: floor_device devfuse|uring MOUNTPOINT FILE_BYTES\n");
        return 2;
    }
    null_fs_uring = strcmp(values[1], "uring") == 0;
    null_fs_prepare(strtoull(values[3], NULL, 10));
    connect_to(values[2]);
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    if (null_fs_uring) {
        for (long i = 0; i < cpus; i++)
            start(serve_ring, i);
    } else {
        start_clones(2 * cpus - 1);
    }
    serve_device((void *)(intptr_t)connection);
    return 0;
}
