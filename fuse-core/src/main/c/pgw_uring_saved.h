/*
 * What a slot of a kept session remembers of its request, so that the next process can go on with
 * it: the kernel's request is overwritten by the reply to it.
 *
 * Lies in the slot's first page behind the kernel's header, in memory that outlives the process.
 * Written by the queue's thread alone; the commit id and the state are stored last, so that a
 * process that is killed anywhere leaves one of these:
 *
 *   the commit ids of slot and copy differ: a request that nobody has seen
 *   EXECUTING: it may have begun and has not been committed
 *   REPLIED:   its reply lies in the slot; whether the kernel took it, it alone knows
 *   FREE:      the kernel took it, or there never was one
 */
#ifndef PGW_URING_SAVED_H
#define PGW_URING_SAVED_H

#include "pgw_wire.h"

#include <stdbool.h>
#include <stdint.h>

#define PGW_URING_SAVED_AT 512
/* No reply to a request with a payload reaches further into it: an entry and an open reply. */
#define PGW_URING_SAVED_PAYLOAD_BYTES 1024

enum pgw_uring_state { PGW_URING_FREE, PGW_URING_EXECUTING, PGW_URING_REPLIED };

/* What the next process does with a slot. */
enum pgw_uring_rest { PGW_URING_REGISTER, PGW_URING_EXECUTE, PGW_URING_COMMIT };

/* A request came into the slot. */
void pgw_uring_saved_keep(char *slot);

/* Its reply is complete. */
void pgw_uring_saved_replied(char *slot);

/* The kernel has the slot back. */
void pgw_uring_saved_free(char *slot);

/* After the end of another process: restores the request if it is to be executed; one that may have
 * begun is marked as sent again. */
enum pgw_uring_rest pgw_uring_saved_resume(char *slot);

#endif
