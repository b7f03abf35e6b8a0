/*
 * libfuse 2.9's multi-threaded session loop, with messages taken and given raw.
 *
 * libfuse makes and ends the threads by its own policy; each gets a lane at its first message, and
 * through it a slot of memory that belongs to the owner. The library is opened at run time: without
 * it only this transport is missing.
 */
#ifndef PGW_LIBFUSE_H
#define PGW_LIBFUSE_H

#include <stdbool.h>
#include <stddef.h>

/* One thread of libfuse. Used by that thread alone; `thread` also by who stops the session. */
struct pgw_libfuse_lane {
    int number;        /* of the owner */
    char *slot;        /* where the next message goes */
    const void *reply; /* to be sent after handle(), or NULL */
    int thread;        /* for pgw_wake_thread */
    struct pgw_libfuse *session;
    struct pgw_libfuse_lane *next;
};

/* What the owner does; called on libfuse's threads, with cancellation off. */
struct pgw_libfuse_hooks {
    size_t slot_bytes;
    /* A thread begins: sets number and slot. False: not now, ask again soon. */
    bool (*enter)(void *owner, struct pgw_libfuse_lane *lane);
    /* A message of `bytes` lies in the slot: sets reply and slot. */
    void (*handle)(void *owner, struct pgw_libfuse_lane *lane, size_t bytes);
    /* The thread ends. */
    void (*leave)(void *owner, struct pgw_libfuse_lane *lane);
};

struct pgw_libfuse;

/* 0, or -ENOSYS: there is no libfuse.so.2 here. */
int pgw_libfuse_probe(void);

/* Borrows the descriptor of a mounted connection, the hooks and their owner. NULL: no libfuse, or
 * no memory. */
struct pgw_libfuse *pgw_libfuse_open(int fd, const struct pgw_libfuse_hooks *hooks, void *owner);

/* Serves until the connection ends or is stopped, on this thread and those libfuse makes. 0, or
 * -errno. */
int pgw_libfuse_run(struct pgw_libfuse *session);

/* Asks pgw_libfuse_run to return; to be repeated until it has. Any thread. */
void pgw_libfuse_stop(struct pgw_libfuse *session);

/* After pgw_libfuse_run has returned. */
void pgw_libfuse_close(struct pgw_libfuse *session);

#endif
