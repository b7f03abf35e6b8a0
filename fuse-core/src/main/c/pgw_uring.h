/*
 * One queue of FUSE-over-io_uring: a ring whose entries each hold one request and, later, its
 * reply.
 *
 * All but pgw_uring_wake belong to the one thread that opened the queue. The kernel uses the rings
 * of a connection once every possible CPU's queue has entries.
 */
#ifndef PGW_URING_H
#define PGW_URING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A slot is a page with struct pgw_uring_req_header, then the payload. The payload must hold the
 * largest request: max(max_write, max_pages * 4096), never below 68 KiB. On Linux 6.18 a larger one
 * is a BUG.
 */
#define PGW_URING_HEADER_BYTES 4096
#define PGW_URING_LEAST_PAYLOAD_BYTES 69632

struct pgw_uring_geometry {
    int fd;         /* of the connection; borrowed */
    uint16_t queue; /* the CPU it serves; the thread sits there, see pgw_affinity.h */
    int depth;      /* slots at first */
    int most;       /* slots there may ever be */
    char *memory;   /* of the first ones, one behind the other; borrowed until closed */
    size_t payload_bytes;
    bool demote;  /* the thread may stand back, see pgw_sched_idle.h */
    bool kept;    /* memory and connection outlive this process */
    bool taken;   /* the memory holds what an earlier process left, at the same address */
    int32_t *box; /* 2 * most numbers: slots that are ready, then slots to commit; borrowed */
};

struct pgw_uring;

/* Can this process make such a ring? 0, or -errno. */
int pgw_uring_probe(void);

/* Queues there must be: the number of possible CPUs. */
int pgw_uring_queues(void);

/*
 * Makes the ring and registers every slot. NULL and `error` (-errno) on failure.
 *
 * Where the memory was taken, slots whose request is under way are not registered: those with a
 * complete reply are committed, the others are what pgw_uring_enter gives first.
 */
struct pgw_uring *pgw_uring_open(const struct pgw_uring_geometry *geometry, int *error);

/*
 * Commits the first `commits` replies of the box's second half, then waits for requests (first
 * spinning for `spin_us`): their slots are put into the box's first half. Returns how many (0:
 * woken), -ENOTCONN once the connection has ended and the kernel holds no slot any more, or another
 * -errno: on -EINTR, -EAGAIN, -EBUSY and -ENOMEM enter again, with no commits; the ring has them.
 */
int pgw_uring_enter(struct pgw_uring *ring, int commits, int spin_us);

/*
 * Registers more slots; their memory is borrowed until closed. No more than `most` in all. Not
 * where the session is kept. One that the kernel has no memory for is less.
 */
void pgw_uring_grow(struct pgw_uring *ring, char *memory, int count);

/* Commits without waiting: the last thing that the queue's thread does with it, except to close it.
 */
void pgw_uring_flush(struct pgw_uring *ring, int commits);

/* Makes pgw_uring_enter return. Any thread. */
void pgw_uring_wake(struct pgw_uring *ring);

/*
 * By the queue's thread; or, where the session is kept, by another one after that thread has ended
 * in the kernel's eyes: the end of the thread puts requests that are on their way into the slots,
 * for the next process, while closing the ring fails them with ECANCELED.
 */
void pgw_uring_close(struct pgw_uring *ring);

#endif
