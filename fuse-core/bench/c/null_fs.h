/*
 * The null file system of the benchmarks, in C: files f0, f1, ... of one length, prepared data,
 * writes accepted.
 *
 * It does what the Java NullFileSystem does, so that what a transport costs in C can be set beside
 * what it costs in Java.
 */
#ifndef NULL_FS_H
#define NULL_FS_H

#include <stddef.h>
#include <stdint.h>

#include "pgw_wire.h"

/* No reply is due (FORGET and the like). */
#define NULL_FS_NO_REPLY INT32_MIN

/* Largest read or write; 1 MiB. */
#define NULL_FS_MAX_WRITE (1U << 20)

/* Once, before anything else. `file_bytes` is the length of every file until one is truncated: then
 * all have that length. Direct I/O is answered to every open, and that no FLUSH is wanted. */
void null_fs_prepare(uint64_t file_bytes);

/*
 * Answers one request.
 *
 * arguments: the operation's fixed arguments; payload: what follows them; reply: room for
 * NULL_FS_MAX_WRITE bytes, which may be the payload's place. Returns the bytes of the reply's body,
 * -errno, or NULL_FS_NO_REPLY. Any thread.
 */
int32_t null_fs_answer(const struct pgw_in_header *header, const void *arguments,
                       const void *payload, void *reply);

/* Is FUSE-over-io_uring to be negotiated? Set before INIT is answered. */
extern int null_fs_uring;

/* Bytes of the fixed arguments of an operation, for transports where the payload follows them. */
size_t null_fs_argument_bytes(uint32_t opcode);

#endif
