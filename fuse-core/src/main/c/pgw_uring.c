#include "pgw_uring.h"

#include "pgw_affinity.h"
#include "pgw_sched_idle.h"
#include "pgw_uring_saved.h"
#include "pgw_wire.h"

#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define WAKE_TAG UINT32_MAX
#define ORDER_TAG (UINT32_MAX - 1)
#define RING_FLAGS (IORING_SETUP_SQE128 | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_CQSIZE)

struct pgw_uring {
    struct io_uring ring;
    struct pgw_uring_geometry geometry;
    struct iovec (*areas)[2];          /* header and payload of each slot, as REGISTER wants them */
    int slots;                         /* so many are there by now */
    int fetching;                      /* slots that are the kernel's */
    int left;                          /* requests of an earlier process in the box's first half */
    bool ended;                        /* the kernel said that the connection is gone */
    struct pgw_affinity affinity;      /* of the queue's thread */
    struct pgw_sched_idle *sched_idle; /* of the same; may be NULL */
    int wake_fd;
    uint64_t wake_count;   /* where the read of wake_fd puts its value */
    struct io_uring order; /* of a kept session, see end_in_order */
};

/* Room for so many submissions at a time, and completions. */
static int make_ring(unsigned entries, unsigned completions, struct io_uring *ring) {
    struct io_uring_params params = {.flags = RING_FLAGS | IORING_SETUP_DEFER_TASKRUN,
                                     .cq_entries = completions};
    int result = io_uring_queue_init_params(entries, ring, &params);
    if (result == -EINVAL) {
        params = (struct io_uring_params){.flags = RING_FLAGS | IORING_SETUP_COOP_TASKRUN,
                                          .cq_entries = completions};
        result = io_uring_queue_init_params(entries, ring, &params);
    }
    return result;
}

int pgw_uring_probe(void) {
    struct io_uring ring;
    int result = make_ring(2, 4, &ring);
    if (result == 0) {
        io_uring_queue_exit(&ring);
    }
    return result;
}

int pgw_uring_queues(void) {
    FILE *file = fopen("/sys/devices/system/cpu/possible", "re");
    int first = 0;
    int last = 0;
    int found = file == NULL ? 0 : fscanf(file, "%d-%d", &first, &last);
    if (file != NULL) {
        fclose(file);
    }
    if (found == 0) {
        return (int)sysconf(_SC_NPROCESSORS_CONF);
    }
    return (found == 2 ? last : first) + 1;
}

static char *slot_memory(const struct pgw_uring *ring, int slot) {
    return ring->areas[slot][0].iov_base;
}

/* A cleared entry of double size. */
static struct io_uring_sqe *next_entry(struct pgw_uring *ring) {
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->ring);
    while (sqe == NULL) {
        io_uring_submit(&ring->ring);
        sqe = io_uring_get_sqe(&ring->ring);
    }
    memset(sqe, 0, 2 * sizeof *sqe);
    return sqe;
}

static struct io_uring_sqe *prepare(struct pgw_uring *ring, uint32_t command, int slot,
                                    uint64_t commit_id) {
    struct io_uring_sqe *sqe = next_entry(ring);
    struct pgw_uring_cmd_req request = {.commit_id = commit_id, .qid = ring->geometry.queue};

    sqe->opcode = IORING_OP_URING_CMD;
    sqe->fd = ring->geometry.fd;
    sqe->cmd_op = command;
    sqe->user_data = (unsigned)slot;
    memcpy(sqe->cmd, &request, sizeof request);
    ring->fetching++;
    return sqe;
}

static void prepare_register(struct pgw_uring *ring, int slot) {
    if (ring->geometry.kept) {
        pgw_uring_saved_free(slot_memory(ring, slot));
    }
    struct io_uring_sqe *sqe = prepare(ring, PGW_URING_CMD_REGISTER, slot, 0);
    sqe->addr = (uint64_t)(uintptr_t)ring->areas[slot];
    sqe->len = 2;
}

/* Returns how many bytes come with the reply. */
static size_t prepare_commit(struct pgw_uring *ring, int slot) {
    char *memory = slot_memory(ring, slot);
    const struct pgw_uring_req_header *header = (const void *)memory;
    if (ring->geometry.kept) {
        pgw_uring_saved_replied(memory);
    }
    prepare(ring, PGW_URING_CMD_COMMIT_AND_FETCH, slot, header->ring_ent.commit_id);
    return header->ring_ent.payload_sz;
}

static void prepare_commits(struct pgw_uring *ring, int commits) {
    const int32_t *replies = ring->geometry.box + ring->geometry.most;
    int large = 0;
    for (int i = 0; i < commits; i++) {
        large += prepare_commit(ring, replies[i]) >= PGW_AFFINITY_LARGE_BYTES ? 1 : 0;
    }
    if (pgw_affinity_answered(&ring->affinity, large)) {
        io_uring_submit(&ring->ring);
        pgw_affinity_change(&ring->affinity);
    }
}

/* The kernel took these replies, if it was given all. */
static void committed(struct pgw_uring *ring, int commits) {
    const int32_t *replies = ring->geometry.box + ring->geometry.most;
    if (!ring->geometry.kept || io_uring_sq_ready(&ring->ring) > 0) {
        return;
    }
    for (int i = 0; i < commits; i++) {
        pgw_uring_saved_free(slot_memory(ring, replies[i]));
    }
}

static void prepare_wake(struct pgw_uring *ring) {
    struct io_uring_sqe *sqe = next_entry(ring);
    io_uring_prep_read(sqe, ring->wake_fd, &ring->wake_count, sizeof ring->wake_count, 0);
    sqe->user_data = WAKE_TAG;
}

/*
 * Has the kernel wait, when the thread ends, for a request on another ring that is never fulfilled.
 * It then cancels what the thread has in this ring at once, and in order: requests on their way
 * come into their slots first, and later ones wait for the next process. Without it the ring is
 * taken down after the process's memory, and whatever came meanwhile fails with ECANCELED.
 */
static int end_in_order(struct pgw_uring *ring) {
    int result = io_uring_queue_init(1, &ring->order, 0);
    if (result != 0) {
        ring->order.ring_fd = -1;
        return result;
    }
    struct io_uring_sqe *sqe = next_entry(ring);
    io_uring_prep_poll_add(sqe, ring->order.ring_fd, POLLIN);
    sqe->user_data = ORDER_TAG;
    return 0;
}

/* The first refusal among the completions so far; they stay for pgw_uring_enter. A reply that was
 * taken from an earlier process already is none. */
static int registration_error(struct pgw_uring *ring) {
    struct io_uring_cqe *cqe;
    unsigned head;
    io_uring_for_each_cqe(&ring->ring, head, cqe) {
        if (cqe->res < 0 && !(ring->geometry.taken && cqe->res == -ENOENT)) {
            return cqe->res;
        }
    }
    return 0;
}

/* Gives a slot to the kernel, or goes on with what an earlier process left in it. */
static void begin_slot(struct pgw_uring *ring, int slot) {
    enum pgw_uring_rest rest = PGW_URING_REGISTER;
    if (ring->geometry.taken) {
        rest = pgw_uring_saved_resume(slot_memory(ring, slot));
    }
    switch (rest) {
    case PGW_URING_EXECUTE:
        ring->geometry.box[ring->left++] = slot;
        break;
    case PGW_URING_COMMIT:
        (void)prepare_commit(ring, slot);
        break;
    case PGW_URING_REGISTER:
        prepare_register(ring, slot);
        break;
    }
}

/* Slots that lie one behind the other. */
static void add_slots(struct pgw_uring *ring, char *memory, int count) {
    size_t stride = PGW_URING_HEADER_BYTES + ring->geometry.payload_bytes;
    for (int i = 0; i < count; i++, ring->slots++) {
        char *slot = memory + (size_t)i * stride;
        ring->areas[ring->slots][0] = (struct iovec){slot, sizeof(struct pgw_uring_req_header)};
        ring->areas[ring->slots][1] =
            (struct iovec){slot + PGW_URING_HEADER_BYTES, ring->geometry.payload_bytes};
    }
}

static int register_slots(struct pgw_uring *ring) {
    int result = ring->geometry.kept ? end_in_order(ring) : 0;
    for (int slot = 0; result == 0 && slot < ring->geometry.depth; slot++) {
        begin_slot(ring, slot);
    }
    if (result != 0) {
        return result;
    }
    prepare_wake(ring);
    result = io_uring_submit_and_get_events(&ring->ring);
    return result < 0 ? result : registration_error(ring);
}

struct pgw_uring *pgw_uring_open(const struct pgw_uring_geometry *geometry, int *error) {
    struct pgw_uring *ring = NULL;

    *error = -EINVAL;
    if (geometry->depth < 1 || geometry->most < geometry->depth ||
        geometry->payload_bytes < PGW_URING_LEAST_PAYLOAD_BYTES) {
        return NULL;
    }
    *error = -ENOMEM;
    ring = calloc(1, sizeof *ring);
    if (ring == NULL) {
        return NULL;
    }
    ring->geometry = *geometry;
    ring->wake_fd = -1;
    ring->ring.ring_fd = -1;
    ring->order.ring_fd = -1;
    ring->areas = calloc((size_t)geometry->most, sizeof *ring->areas);
    if (ring->areas == NULL) {
        goto err;
    }
    add_slots(ring, geometry->memory, geometry->depth);
    ring->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (ring->wake_fd < 0) {
        *error = -errno;
        goto err;
    }
    pgw_affinity_take(&ring->affinity, geometry->queue);
    *error =
        make_ring((unsigned)geometry->depth + 2, 2 * ((unsigned)geometry->most + 2), &ring->ring);
    if (*error != 0) {
        ring->ring.ring_fd = -1;
        goto err;
    }
    *error = register_slots(ring);
    if (*error != 0) {
        goto err;
    }
    ring->sched_idle = geometry->demote ? pgw_sched_idle_open() : NULL;
    return ring;
err:
    pgw_uring_close(ring);
    return NULL;
}

void pgw_uring_grow(struct pgw_uring *ring, char *memory, int count) {
    int slot = ring->slots;
    add_slots(ring, memory, count);
    while (slot < ring->slots) {
        prepare_register(ring, slot++);
    }
    io_uring_submit(&ring->ring);
}

/* The kernel gave a slot back without a request. */
static void slot_failed(struct pgw_uring *ring, int slot, int result) {
    if (result == -ENOMEM && slot >= ring->geometry.depth) {
        return; /* one of those that were added is less */
    }
    if (result == -ENOENT || result == -EINTR || result == -EAGAIN) {
        prepare_register(ring, slot);
        return;
    }
    ring->ended = true;
}

static void slot_came(struct pgw_uring *ring, const struct io_uring_cqe *cqe, int *ready) {
    int slot = (int)cqe->user_data;
    ring->fetching--;
    if (cqe->res < 0) {
        slot_failed(ring, slot, cqe->res);
        return;
    }
    if (ring->geometry.kept) {
        pgw_uring_saved_keep(slot_memory(ring, slot));
    }
    ring->geometry.box[(*ready)++] = slot;
}

/* Puts the slots that are ready into the box; tells whether there was anything to return for. */
static bool collect(struct pgw_uring *ring, int *ready) {
    struct io_uring_cqe *cqe;
    unsigned head;
    unsigned seen = 0;
    bool woken = false;

    io_uring_for_each_cqe(&ring->ring, head, cqe) {
        seen++;
        if (cqe->user_data == WAKE_TAG) {
            woken = true;
        } else if (cqe->user_data != ORDER_TAG) {
            slot_came(ring, cqe, ready);
        }
    }
    io_uring_cq_advance(&ring->ring, seen);
    if (woken) {
        prepare_wake(ring);
    }
    return woken || *ready > 0;
}

static int64_t monotonic_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Submits, and looks again and again for the time given. Requests found: true. */
static bool spin(struct pgw_uring *ring, int spin_us) {
    int64_t end = monotonic_us() + spin_us;
    bool found = false;
    while (!found && io_uring_submit_and_get_events(&ring->ring) >= 0 && monotonic_us() < end) {
        found = io_uring_cq_ready(&ring->ring) > 0;
    }
    return found;
}

int pgw_uring_enter(struct pgw_uring *ring, int commits, int spin_us) {
    int ready = ring->left;

    if (ready > 0) {
        ring->left = 0;
        return ready;
    }
    prepare_commits(ring, commits);
    for (;;) {
        if (spin_us <= 0 || !spin(ring, spin_us)) {
            int result = io_uring_submit_and_wait(&ring->ring, 1);
            if (result < 0) {
                /* What came may be what stands in the way (-EBUSY). */
                return collect(ring, &ready) ? ready : result;
            }
        }
        committed(ring, commits);
        commits = 0;
        if (collect(ring, &ready)) {
            pgw_sched_idle_met(ring->sched_idle, ready);
            return ready;
        }
        if (ring->ended && ring->fetching == 0) {
            return -ENOTCONN;
        }
    }
}

void pgw_uring_flush(struct pgw_uring *ring, int commits) {
    prepare_commits(ring, commits);
    io_uring_submit(&ring->ring);
    committed(ring, commits);
    pgw_sched_idle_close(ring->sched_idle);
    ring->sched_idle = NULL;
}

void pgw_uring_wake(struct pgw_uring *ring) {
    uint64_t one = 1;
    while (write(ring->wake_fd, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

void pgw_uring_close(struct pgw_uring *ring) {
    pgw_sched_idle_close(ring->sched_idle);
    if (ring->ring.ring_fd >= 0) {
        io_uring_queue_exit(&ring->ring);
    }
    if (ring->order.ring_fd >= 0) {
        io_uring_queue_exit(&ring->order);
    }
    if (ring->wake_fd >= 0) {
        close(ring->wake_fd);
    }
    free(ring->areas);
    free(ring);
}
