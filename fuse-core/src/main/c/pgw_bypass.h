/*
 * The gateway's end of the bypass socket: takes questions of programs that anybody may run, and
 * gives descriptors of block files. What a question brings is not trusted: the file it shows is
 * asked for nothing that its file system could keep waiting, and not closed here: even that may
 * wait.
 *
 * One thread calls pgw_bypass_next and answers; pgw_bypass_stop may be called by any.
 */
#ifndef PGW_BYPASS_H
#define PGW_BYPASS_H

#include "bypass/protocol.h"

#include <stdbool.h>
#include <stdint.h>

struct pgw_bypass_server;

#define PGW_BYPASS_NOTHING UINT32_MAX

/* What a program asked. The connection is the caller's to close, and the proof with
 * pgw_bypass_close_proof. */
struct pgw_bypass_asked {
    int connection;
    int proof;      /* -1: asks for devices */
    bool limited;   /* brought a proof that was not taken: too many of its peer are not closed */
    uint32_t place; /* of the peer, for pgw_bypass_close_proof */
    int flags;      /* of the proof's open file */
    uint32_t uid;   /* of the peer */
    uint32_t pid;   /* likewise; 0: of another pid namespace */
    uint32_t major; /* the proof's device; PGW_BYPASS_NOTHING: the question is none */
    uint32_t minor;
    uint32_t most_blocks;
    uint64_t inode;
    uint64_t content;
};

/*
 * Listens at the path, for everybody; who listened there before is replaced. NULL: `error` is the
 * errno.
 */
struct pgw_bypass_server *pgw_bypass_listen(const char *path, int *error);

/* Waits for a question. 0, or -ECANCELED: stopped, or -errno. */
int pgw_bypass_next(struct pgw_bypass_server *server, struct pgw_bypass_asked *asked);

/*
 * Closes a proof; any thread, also after the server's end. This may wait for whoever serves its
 * file system, as long as that pleases, so not more than some of a peer's and not more than some in
 * all are ever there. A peer is a user in a network namespace, as of a pod; many share a place.
 */
void pgw_bypass_close_proof(int proof, uint32_t place);

/* Lets pgw_bypass_next return. */
void pgw_bypass_stop(struct pgw_bypass_server *server);

/* After the last call of the others. */
void pgw_bypass_close(struct pgw_bypass_server *server);

/*
 * A folder that can be changed through nothing that is opened in it: whoever is given a descriptor
 * could open it again for writing otherwise. `path` is relative to `root`, as for
 * pgw_beneath_folder. A descriptor, or -errno (-EROFS: it cannot be had).
 */
int pgw_bypass_folder(const char *root, const char *path);

/* Where the blocks of a file lie. */
struct pgw_bypass_blocks {
    const int *folders;
    int folder_count;
    uint64_t first_block;
};

/*
 * Answers with the block files that `answer` tells of. What went out in the end: GIVEN, or
 * NOT_LOCAL if one of them is missing or has another length.
 */
enum pgw_bypass_status pgw_bypass_give(int connection, struct pgw_bypass_answer *answer,
                                       const struct pgw_bypass_blocks *blocks);

/* Answers without descriptors; devices only with DEVICES_ARE. */
void pgw_bypass_tell(int connection, enum pgw_bypass_status status,
                     const struct pgw_bypass_device *devices, uint32_t device_count);

#endif
