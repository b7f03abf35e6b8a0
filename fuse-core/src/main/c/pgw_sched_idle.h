/*
 * A queue's thread that stands back behind the programs it serves.
 *
 * A thread that answers a program wakes it, and the scheduler then looks for an idle CPU for it:
 * a program that reads alone is moved from CPU to CPU, and each move waits for a sleeping CPU to
 * come up, which costs more than the request itself. A CPU that runs nothing but a SCHED_IDLE
 * thread counts as idle (sched_idle_cpu in kernel/sched/fair.c): so the program stays on the CPU
 * where its queue and its cached data are, and takes it over at once.
 *
 * The price is that a thread of SCHED_IDLE waits behind every other program. So a thread stands
 * back only while requests come in quick succession, and a watcher brings it forward
 * within milliseconds when it is kept waiting; it then stays there for a second, and for twice as
 * long each time that this happens again.
 */
#ifndef PGW_SCHED_IDLE_H
#define PGW_SCHED_IDLE_H

#include <stdbool.h>

struct pgw_sched_idle;

/* May a thread of this process leave SCHED_IDLE again (CAP_SYS_NICE or RLIMIT_NICE)? Tried once. */
bool pgw_sched_idle_possible(void);

/* Of the calling thread, to be closed by it. NULL: not possible, its policy is not SCHED_OTHER, or
 * no memory: all the same to the functions below. */
struct pgw_sched_idle *pgw_sched_idle_open(void);

/* The thread woke up and found so many requests; costs a few nanoseconds. Its own thread only. */
void pgw_sched_idle_met(struct pgw_sched_idle *sched_idle, int requests);

/* Does the thread stand back? Any thread. */
bool pgw_sched_idle_is_demoted(const struct pgw_sched_idle *sched_idle);

/* Brings the thread forward for good. */
void pgw_sched_idle_close(struct pgw_sched_idle *sched_idle);

#endif
