/*
 * What a preloaded program and the gateway say to each other over the bypass socket
 * (SOCK_SEQPACKET). One connection carries one question and one answer; both ends are on one
 * machine, so numbers are as the machine has them.
 */
#ifndef PGW_BYPASS_PROTOCOL_H
#define PGW_BYPASS_PROTOCOL_H

#include <stdint.h>

#define PGW_BYPASS_MAGIC 0x42574750U
#define PGW_BYPASS_VERSION 1U
/* Most block files of one answer; the kernel passes at most 253 descriptors in a message. */
#define PGW_BYPASS_BLOCKS 128
#define PGW_BYPASS_DEVICES 256

/* The verdicts; the gateway counts its refusals by these. */
enum pgw_bypass_status {
    PGW_BYPASS_GIVEN = 0,    /* the descriptors of the block files come along */
    PGW_BYPASS_SAME = 1,     /* the content is the one the asker has */
    PGW_BYPASS_DEVICES_ARE,  /* answer to a question without a descriptor */
    PGW_BYPASS_FOREIGN,      /* no file of a volume with bypass */
    PGW_BYPASS_NOT_READING,  /* not opened for reading alone */
    PGW_BYPASS_NOT_COMPLETE, /* no complete regular file, or it is being changed here */
    PGW_BYPASS_SMALL,        /* not worth it */
    PGW_BYPASS_BLOCKS_MANY,  /* more blocks than asked for or allowed */
    PGW_BYPASS_NOT_LOCAL,    /* a worker on this host has not all of its blocks */
    PGW_BYPASS_UNSAFE,       /* block files cannot be handed out read-only */
    PGW_BYPASS_LIMITED,      /* too many questions */
    PGW_BYPASS_WRITABLE,     /* of a mount through which files are changed */
    PGW_BYPASS_STATUSES
};

/* With one descriptor, of the file opened through FUSE: asks for its blocks; without: for devices.
 */
struct pgw_bypass_question {
    uint32_t magic;
    uint32_t version;
    uint64_t content; /* known already; 0: none */
    uint32_t most_blocks;
    uint32_t reserved;
};

/* A volume with bypass: major device number 0, this minor one. */
struct pgw_bypass_device {
    uint32_t minor;
    uint32_t reserved;
    uint64_t least_bytes; /* smaller files are not worth asking */
};

/* Block i of the file lies in descriptor i; all but the last are block_bytes long. */
struct pgw_bypass_answer {
    uint32_t magic;
    uint32_t status;
    uint64_t content;
    uint64_t size_bytes;
    uint64_t block_bytes;
    uint32_t blocks;
    uint32_t devices; /* so many struct pgw_bypass_device follow */
};

_Static_assert(sizeof(struct pgw_bypass_question) == 24, "wire");
_Static_assert(sizeof(struct pgw_bypass_device) == 16, "wire");
_Static_assert(sizeof(struct pgw_bypass_answer) == 40, "wire");

#endif
