#include "null_fs.h"

#include <errno.h>
#include <stdlib.h>
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

enum {
    INIT_BIG_WRITES = 1 << 5,
    INIT_PARALLEL_DIROPS = 1 << 18,
    INIT_MAX_PAGES = 1 << 22,
    INIT_EXT = 1 << 30
};
enum { INIT2_OVER_IO_URING = 1 << 9 };
enum { DIRECT_IO = 1, VALID_SECONDS = 3600 };

int null_fs_uring;
static uint64_t file_bytes;
static char *data;

void null_fs_prepare(uint64_t bytes) {
    file_bytes = bytes;
    data = malloc(NULL_FS_MAX_WRITE);
    if (data == NULL)
        abort();
    memset(data, 'x', NULL_FS_MAX_WRITE);
}

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
    attr->mode = node == 1 ? (S_IFDIR | 0755) : (S_IFREG | 0644);
    attr->nlink = node == 1 ? 2 : 1;
    attr->size = node == 1 ? 0 : file_bytes;
    attr->blocks = attr->size / 512;
}

static int32_t answer_init(const struct pgw_init_in *in, struct pgw_init_out *out) {
    memset(out, 0, sizeof *out);
    out->major = PGW_FUSE_MAJOR;
    out->minor = in->minor < PGW_FUSE_MINOR ? in->minor : PGW_FUSE_MINOR;
    out->max_readahead = in->max_readahead;
    out->flags = INIT_EXT | INIT_BIG_WRITES | INIT_MAX_PAGES | INIT_PARALLEL_DIROPS;
    out->flags2 = null_fs_uring ? INIT2_OVER_IO_URING : 0;
    out->max_background = 64;
    out->congestion_threshold = 48;
    out->max_write = NULL_FS_MAX_WRITE;
    out->max_pages = NULL_FS_MAX_WRITE / 4096;
    out->time_gran = 1;
    return (int32_t)sizeof *out;
}

static int32_t answer_lookup(const char *name, struct pgw_entry_out *out) {
    uint64_t node = name[0] == 'f' ? strtoull(name + 1, NULL, 10) + 2 : 0;
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

static int32_t answer_read(const struct pgw_read_in *in, const void **direct) {
    if (in->offset >= file_bytes)
        return 0;
    uint64_t left = file_bytes - in->offset;
    *direct = data;
    return (int32_t)(left < in->size ? left : in->size);
}

int32_t null_fs_answer(const struct pgw_in_header *header, const void *arguments,
                       const void *payload, void *reply, const void **direct) {
    *direct = NULL;
    switch (header->opcode) {
    case INIT:
        return answer_init(arguments, reply);
    case LOOKUP:
        return answer_lookup(payload, reply);
    case GETATTR:
    case SETATTR:
        return answer_attributes(header->nodeid, reply);
    case OPEN:
    case OPENDIR: {
        struct pgw_open_out out = {.open_flags = header->opcode == OPEN ? DIRECT_IO : 0};
        memcpy(reply, &out, sizeof out);
        return (int32_t)sizeof out;
    }
    case READ:
        return answer_read(arguments, direct);
    case WRITE: {
        struct pgw_write_out out = {.size = ((const struct pgw_write_in *)arguments)->size};
        memcpy(reply, &out, sizeof out);
        return (int32_t)sizeof out;
    }
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
