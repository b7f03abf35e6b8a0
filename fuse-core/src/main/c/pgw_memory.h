/* Memory that lives as long as a session. */
#ifndef PGW_MEMORY_H
#define PGW_MEMORY_H

#include <stddef.h>

/* Zeroed pages, taken from the machine when first touched. NULL and errno on failure. */
void *pgw_memory_map(size_t bytes);

/* The first bytes of a memfd, shared with whoever maps it too. NULL and errno on failure. */
void *pgw_memory_map_shared(int fd, size_t bytes);

/* A part of a memfd at this address and no other. -EEXIST: something lies there. */
int pgw_memory_map_at(int fd, size_t offset, size_t bytes, void *address);

/* Gives pages back to the machine that pgw_memory_map mapped; they are zeroed when next touched.
 * Takes whole pages only. 0 or -errno. */
int pgw_memory_discard(void *memory, size_t bytes);

int pgw_memory_unmap(void *memory, size_t bytes);

#endif
