/*
 * The CPU of a queue's thread.
 *
 * A thread that sits on the CPU of its queue serves small requests best: the program waits for the
 * answer, and finds it in that CPU's caches. Who reads a large file in sequence does not wait: the
 * kernel asks ahead for what follows while the program takes up what came. On one CPU both work in
 * turns, on two at the same time. So a thread leaves its CPU when it answers several large requests
 * at once, since their program was ahead of it, and comes back when it has met none for a while.
 *
 * Threads inherit the affinity of who starts them. Those that a queue's thread may start therefore
 * say that they have none, first of all.
 */
#ifndef PGW_AFFINITY_H
#define PGW_AFFINITY_H

#include <stdbool.h>

/* A reply of so many bytes is large. */
#define PGW_AFFINITY_LARGE_BYTES 131072

struct pgw_affinity {
    int cpu;
    int turns; /* since the last large reply, of one that has left */
    bool left;
};

/* The calling thread may run wherever the first one of this process may. 0 or -errno: then it stays
 * as it is. */
int pgw_affinity_none(void);

/* The calling thread sits on this CPU from now on. One that is offline or not allowed: it stays
 * where it is, which works as well. */
void pgw_affinity_take(struct pgw_affinity *affinity, int cpu);

/* The thread itself tells each time that it has so many large replies for the kernel. True: it is
 * to leave or to come back; a few nanoseconds. */
bool pgw_affinity_answered(struct pgw_affinity *affinity, int large);

/* Leaves or comes back, at once: what waits for the thread is out of its hands by then. */
void pgw_affinity_change(struct pgw_affinity *affinity);

#endif
