/*
 * The file systems of the benchmarks, in C: they answer from memory at once, and take every write.
 * What is in them comes from a source, which is chosen when a program is linked.
 *
 * With prepared.c it does what the Java NullFileSystem does, so that what a transport costs in C
 * can be set beside what it costs in Java.
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

/*
 * The source. Its root is node 1. Any thread, but for source_prepare: once, before anything else,
 * with the program's last argument.
 */
void source_prepare(const char *argument);
/* The node of a name, or 0. */
uint64_t source_find(uint64_t directory, const char *name);
int source_is_directory(uint64_t node);
uint64_t source_length(uint64_t node);
void source_truncate(uint64_t bytes);
/* So many bytes from there, all within the file. */
void source_read(uint64_t node, uint64_t offset, char *reply, size_t bytes);
/* What opens of files are answered: FOPEN_... of the kernel. */
enum { DIRECT_IO = 1, KEEP_CACHE = 1 << 1, NO_FLUSH = 1 << 5, PARALLEL_DIRECT_WRITES = 1 << 6 };
extern const uint32_t source_open_flags;

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
