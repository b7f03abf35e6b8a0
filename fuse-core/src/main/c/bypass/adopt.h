/* Makes a descriptor that was opened through FUSE one that is read without it. */
#ifndef PGW_BYPASS_ADOPT_H
#define PGW_BYPASS_ADOPT_H

#include <stdint.h>

/*
 * fd was opened with these flags, and nobody uses it yet. With most_blocks 1 only where it can be
 * the block file itself. Whatever fails, fd is a good descriptor of the file afterwards; errno is
 * kept. Any thread, signal handlers too.
 */
void pgw_adopt(int fd, int flags, uint32_t most_blocks);

/* After exec: finds the descriptors of block files that came with their twins. */
void pgw_adopt_inherited(void);

#endif
