/*
 * What this process knows of its descriptors. Everything here may be called on any thread and in a
 * signal handler: nothing is allocated, nothing is locked, errno is kept.
 *
 * A descriptor N of a file of one block *is* the block file; the file as it was opened through
 * FUSE, its twin, is descriptor TWINS + N, for the calls that ask for more than bytes. That the
 * twin's number follows from N's is how a program that is executed finds it again. A descriptor of
 * a file of more blocks stays the FUSE file, so that its offset is the kernel's; the blocks are
 * held in descriptors from HELD on, shared by all descriptors of the file. If it is read often, a
 * duplicate of it, its witness, is descriptor TWINS + N: that both are of one open file costs less
 * to ask than what file N is.
 *
 * A descriptor can be closed, and its number used again, without our hearing of it (by a raw system
 * call). So nothing is believed of a descriptor before it was compared with the file it is now.
 */
#ifndef PGW_BYPASS_TABLE_H
#define PGW_BYPASS_TABLE_H

#include "protocol.h"

#include <stdbool.h>
#include <stdint.h>

/* Descriptors below this can be bypassed. */
#define PGW_DESCRIPTORS 4096
#define PGW_TWINS 4096
#define PGW_HELD (PGW_TWINS + PGW_DESCRIPTORS)
#define PGW_HELD_END (PGW_HELD + 4096)

/* Which file a descriptor is. */
struct pgw_identity {
    uint64_t device;
    uint64_t inode;
};

/* A file of several blocks: fixed from pgw_file_publish until the last unref. */
struct pgw_file {
    _Atomic uint32_t users;
    struct pgw_identity identity; /* in FUSE */
    uint64_t content;
    uint64_t size_bytes;
    uint64_t block_bytes;
    uint32_t blocks;
    _Atomic int fds[PGW_BYPASS_BLOCKS];
};

/* What a descriptor is, without asking any server; false: it is not open. */
bool pgw_identity_of(int fd, struct pgw_identity *identity);

/* Is this the process the table is about? Not so between vfork and exec: the table is the parent's.
 */
bool pgw_table_is_ours(void);

/* At the start, and after fork: the table is this process's. */
void pgw_table_forked(void);

/*
 * At the start: has the kernel's table of descriptors hold our numbers. Were it to grow when
 * threads are there, it would wait for every CPU first: 10 ms and more at a file's open.
 */
void pgw_table_make_room(void);

/* The descriptor to be asked for anything but bytes: the twin, or fd itself. */
int pgw_twin(int fd);

/* Is fd open for us alone, and the program knows nothing of it? */
bool pgw_is_hidden(int fd);

/* Makes fd, which is open through FUSE, the block file; takes `block`. False: fd is as it was. */
bool pgw_single_begin(int fd, int block, bool close_on_exec);

/* Found after exec: fd is a block file, and its twin is where it should be. */
void pgw_single_found(int fd, const struct pgw_identity *block);

/* Makes fd the FUSE file again, at the offset it is at; what was duplicated from it stays as it is.
 */
void pgw_single_end(int fd);

/* An unused place for a file, for pgw_file_publish or pgw_file_abandon; NULL: none. */
struct pgw_file *pgw_file_reserve(void);
void pgw_file_abandon(struct pgw_file *file);

/* The place is filled; the caller is its first user. */
void pgw_file_publish(struct pgw_file *file);

/* The known file of this identity, with one more user; NULL: none. */
struct pgw_file *pgw_file_find(const struct pgw_identity *identity);
void pgw_file_unref(struct pgw_file *file);

/* fd is this file from now on; the user of `file` becomes the descriptor. */
void pgw_file_attach(int fd, struct pgw_file *file);

/* Could fd be a file of several blocks? The one question each read asks. */
extern _Atomic(struct pgw_file *) pgw_files_by_fd[PGW_DESCRIPTORS];
static inline bool pgw_may_be_file(int fd) {
    return (unsigned)fd < PGW_DESCRIPTORS &&
           __atomic_load_n((void **)&pgw_files_by_fd[fd], __ATOMIC_ACQUIRE) != (void *)0;
}

/* The file of several blocks that fd is, with one more user; NULL: it is none. */
struct pgw_file *pgw_file_get(int fd);

/* Moves a descriptor to a number of ours at the end of the range; -1: there is no room. Closes fd.
 */
int pgw_hold(int fd);

/* fd is about to be closed, or to become something else. */
void pgw_release(int fd);

/* `to`, which the program wants as a number of its own, is not to be used by us. */
void pgw_vacate(int to);

/* `to` has become a duplicate of `from`. */
void pgw_follow(int from, int to, bool close_on_exec);

/* Does this process know anything of descriptors? */
bool pgw_table_used(void);

#endif
