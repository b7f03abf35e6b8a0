/* Talks to the gateway. Any thread, signal handlers too; nothing is kept open between questions. */
#ifndef PGW_BYPASS_ASK_H
#define PGW_BYPASS_ASK_H

#include "protocol.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the gateway listens; NULL or empty: nobody is asked, and false. The text stays the
 * caller's. */
bool pgw_ask_begin(const char *socket_path);

/*
 * Is a file of this device and length worth a question? Asks for the gateway's devices when this
 * one was never seen.
 */
bool pgw_ask_wanted(uint64_t device, uint64_t size_bytes);

/*
 * Asks for the blocks of the file that is open as `fd`, of which `content` is known (0: none).
 * `blocks` has room for PGW_BYPASS_BLOCKS descriptors, which the caller then owns. False: no
 * answer, or a refusal.
 */
bool pgw_ask(int fd, uint64_t content, uint32_t most_blocks, struct pgw_bypass_answer *answer,
             int *blocks);

#endif
