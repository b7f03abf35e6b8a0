/*
 * Reads of a file that no disk has to answer: what the kernel has in memory is read at once, and
 * what it has not is left to who may wait. So a disk that hangs holds up none of these readers.
 */
#ifndef PGW_RESIDENT_H
#define PGW_RESIDENT_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Prepares an open file; to be called where the disk may be waited for. Reads of it, by whomever,
 * change no time of access, which would be written to the disk, and start no reading ahead. 0, or
 * -errno.
 */
int pgw_resident_begin(int fd);

/*
 * Fills all of `into` from the offset on. -EAGAIN: the disk would have to be waited for, or the
 * file ends before; `into` may have changed. -ENOSYS, -EOPNOTSUPP: kernel or file system cannot do
 * it. Needs Linux 6.5.
 */
ssize_t pgw_resident_read(int fd, void *into, size_t bytes, off_t offset);

#endif
