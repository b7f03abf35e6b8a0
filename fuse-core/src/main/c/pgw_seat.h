/*
 * The CPU of a queue's thread.
 *
 * A thread that sits on the CPU of its queue serves small requests best: the program waits for the
 * answer, and finds it in that CPU's caches. Who reads a large file in sequence does not wait: the
 * kernel asks ahead for what follows while the program takes up what came. On one CPU both work in
 * turns, on two at the same time. So a thread leaves its CPU when it answers several large requests
 * at once, since their program was ahead of it, and comes back when it has met none for a while.
 */
#ifndef PGW_SEAT_H
#define PGW_SEAT_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* A reply of so many bytes is large. */
#define PGW_SEAT_LARGE_BYTES 131072

struct pgw_seat {
    cpu_set_t allowed; /* before it took the seat */
    int cpu;
    int turns; /* since the last large reply */
    bool left;
};

/* The calling thread sits on this CPU from now on. One that is offline or not allowed: it stays
 * where it is, which works as well. */
void pgw_seat_take(struct pgw_seat *seat, int cpu);

/* The thread turned to the kernel with so many large replies: the thread itself tells, each time.
 * A few nanoseconds, but for when it leaves or comes back. */
void pgw_seat_answered(struct pgw_seat *seat, int large);

#endif
