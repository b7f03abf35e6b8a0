#include "null_fs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum {
    LOOKUP = 1,
    FORGET = 2,
    GETATTR = 3,
    SETATTR = 4,
    OPEN = 14,
    READ = 15,
    WRITE = 16,
    RELEASE = 18,
    FLUSH = 25,
    INIT = 26,
    OPENDIR = 27,
    RELEASEDIR = 29,
    INTERRUPT = 36,
    BATCH_FORGET = 42
};

/* What the Java session takes of what the kernel offers: ASYNC_READ, BIG_WRITES,
 * READDIRPLUS and its AUTO, ASYNC_DIO, PARALLEL_DIROPS, MAX_PAGES, CACHE_SYMLINKS, INIT_EXT; in the
 * second half DIRECT_IO_ALLOW_MMAP, PASSTHROUGH, RESEND, and OVER_IO_URING where it is wanted. */
#define INIT_FLAGS                                                                                 \
    (1U | 1U << 5 | 1U << 13 | 1U << 14 | 1U << 15 | 1U << 18 | 1U << 22 | 1U << 23 | 1U << 30)
#define INIT_FLAGS2 (1U << 4 | 1U << 5 | 1U << 7)
#define INIT2_OVER_IO_URING (1U << 9)
enum { MAX_BACKGROUND = 128, CONGESTION_THRESHOLD = 96 };
enum { VALID_SECONDS = 3600, SETATTR_SIZE = 1 << 3 };

int null_fs_uring;

size_t null_fs_argument_bytes(uint32_t opcode) {
    switch (opcode) {
    case GETATTR:
        return sizeof(struct pgw_getattr_in);
    case SETATTR:
        return sizeof(struct pgw_setattr_in);
    case READ:
        return sizeof(struct pgw_read_in);
    case WRITE:
        return sizeof(struct pgw_write_in);
    default:
        return 0;
    }
}

static void fill(struct pgw_attr *attr, uint64_t node) {
    memset(attr, 0, sizeof *attr);
    attr->ino = node;
    int directory = source_is_directory(node);
    attr->mode = directory ? (S_IFDIR | 0755) : (S_IFREG | 0644);
    attr->nlink = directory ? 2 : 1;
    attr->size = directory ? 0 : source_length(node);
    attr->blocks = attr->size / 512;
}

static int32_t answer_init(const struct pgw_init_in *in, struct pgw_init_out *out) {
    memset(out, 0, sizeof *out);
    out->major = PGW_FUSE_MAJOR;
    out->minor = in->minor < PGW_FUSE_MINOR ? in->minor : PGW_FUSE_MINOR;
    out->max_readahead = in->max_readahead;
    out->flags = in->flags & INIT_FLAGS;
    out->flags2 = in->flags2 & (INIT_FLAGS2 | (null_fs_uring ? INIT2_OVER_IO_URING : 0));
    out->max_stack_depth = 1;
    out->max_background = MAX_BACKGROUND;
    out->congestion_threshold = CONGESTION_THRESHOLD;
    out->max_write = NULL_FS_MAX_WRITE;
    out->max_pages = NULL_FS_MAX_WRITE / 4096;
    out->time_gran = 1;
    return (int32_t)sizeof *out;
}

static int32_t answer_lookup(uint64_t directory, const char *name, struct pgw_entry_out *out) {
    uint64_t node = source_find(directory, name);
    if (node == 0)
        return -ENOENT;
    memset(out, 0, sizeof *out);
    out->nodeid = node;
    out->entry_valid = VALID_SECONDS;
    out->attr_valid = VALID_SECONDS;
    fill(&out->attr, node);
    return (int32_t)sizeof *out;
}

static int32_t answer_attributes(uint64_t node, struct pgw_attr_out *out) {
    memset(out, 0, sizeof *out);
    out->attr_valid = VALID_SECONDS;
    fill(&out->attr, node);
    return (int32_t)sizeof *out;
}

static int32_t answer_size(const struct pgw_setattr_in *in, uint64_t node,
                           struct pgw_attr_out *out) {
    if ((in->valid & SETATTR_SIZE) != 0)
        source_truncate(in->size);
    return answer_attributes(node, out);
}

static int32_t answer_open(uint32_t opcode, struct pgw_open_out *out) {
    memset(out, 0, sizeof *out);
    out->open_flags = opcode == OPEN ? source_open_flags : 0;
    return (int32_t)sizeof *out;
}

static int32_t answer_read(uint64_t node, const struct pgw_read_in *in, char *reply) {
    uint64_t bytes = source_length(node);
    if (in->offset >= bytes)
        return 0;
    uint64_t left = bytes - in->offset;
    uint64_t count = left < in->size ? left : in->size;
    source_read(node, in->offset, reply, count);
    return (int32_t)count;
}

static int32_t answer_write(const struct pgw_write_in *in, struct pgw_write_out *out) {
    uint32_t bytes = in->size;
    *out = (struct pgw_write_out){.size = bytes};
    return (int32_t)sizeof *out;
}

int32_t null_fs_answer(const struct pgw_in_header *header, const void *arguments,
                       const void *payload, void *reply) {
    switch (header->opcode) {
    case INIT:
        return answer_init(arguments, reply);
    case LOOKUP:
        return answer_lookup(header->nodeid, payload, reply);
    case GETATTR:
        return answer_attributes(header->nodeid, reply);
    case SETATTR:
        return answer_size(arguments, header->nodeid, reply);
    case OPEN:
    case OPENDIR:
        return answer_open(header->opcode, reply);
    case READ:
        return answer_read(header->nodeid, arguments, reply);
    case WRITE:
        return answer_write(arguments, reply);
    case RELEASE:
    case RELEASEDIR:
    case FLUSH:
        return 0;
    case FORGET:
    case BATCH_FORGET:
    case INTERRUPT:
        return NULL_FS_NO_REPLY;
    default:
        return -ENOSYS;
    }
}
