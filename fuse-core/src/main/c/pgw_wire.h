/*
 * The FUSE messages of the Linux kernel ABI, protocol 7.45, as this project uses them.
 *
 * Facts of the kernel in our own names, so that an old <linux/fuse.h> does not matter; a C test
 * holds them against that header where it knows them. Features that change a layout (SETXATTR_EXT,
 * security contexts, map alignment) are never negotiated. Numbers are in host order. Every struct
 * is a multiple of 8 bytes or padded by name.
 */
#ifndef PGW_WIRE_H
#define PGW_WIRE_H

#include <stdint.h>

enum {
    PGW_FUSE_MAJOR = 7,
    PGW_FUSE_MINOR = 45,
    PGW_OPCODE_INIT = 26,
    PGW_OPCODE_FORGET = 2,
    PGW_OPCODE_BATCH_FORGET = 42,
    PGW_NOTIFY_RESEND = 7
};

/* Bit 63 of `unique`: the request was sent before, to a process that went away. */
#define PGW_UNIQUE_RESENT (UINT64_C(1) << 63)

struct pgw_in_header {
    uint32_t len;
    uint32_t opcode;
    uint64_t unique;
    uint64_t nodeid;
    uint32_t uid;
    uint32_t gid;
    uint32_t pid;
    uint16_t total_extlen;
    uint16_t padding;
};

struct pgw_out_header {
    uint32_t len;
    int32_t error;
    uint64_t unique;
};

struct pgw_attr {
    uint64_t ino;
    uint64_t size;
    uint64_t blocks;
    uint64_t atime;
    uint64_t mtime;
    uint64_t ctime;
    uint32_t atimensec;
    uint32_t mtimensec;
    uint32_t ctimensec;
    uint32_t mode;
    uint32_t nlink;
    uint32_t uid;
    uint32_t gid;
    uint32_t rdev;
    uint32_t blksize;
    uint32_t flags;
};

struct pgw_init_in {
    uint32_t major;
    uint32_t minor;
    uint32_t max_readahead;
    uint32_t flags;
    uint32_t flags2;
    uint32_t unused[11];
};

struct pgw_init_out {
    uint32_t major;
    uint32_t minor;
    uint32_t max_readahead;
    uint32_t flags;
    uint16_t max_background;
    uint16_t congestion_threshold;
    uint32_t max_write;
    uint32_t time_gran;
    uint16_t max_pages;
    uint16_t map_alignment;
    uint32_t flags2;
    uint32_t max_stack_depth;
    uint16_t request_timeout;
    uint16_t unused[11];
};

struct pgw_entry_out {
    uint64_t nodeid;
    uint64_t generation;
    uint64_t entry_valid;
    uint64_t attr_valid;
    uint32_t entry_valid_nsec;
    uint32_t attr_valid_nsec;
    struct pgw_attr attr;
};

struct pgw_attr_out {
    uint64_t attr_valid;
    uint32_t attr_valid_nsec;
    uint32_t dummy;
    struct pgw_attr attr;
};

struct pgw_getattr_in {
    uint32_t flags;
    uint32_t dummy;
    uint64_t fh;
};

struct pgw_statx_in {
    uint32_t getattr_flags;
    uint32_t reserved;
    uint64_t fh;
    uint32_t sx_flags;
    uint32_t sx_mask;
};

struct pgw_sx_time {
    int64_t tv_sec;
    uint32_t tv_nsec;
    int32_t reserved;
};

struct pgw_statx {
    uint32_t mask;
    uint32_t blksize;
    uint64_t attributes;
    uint32_t nlink;
    uint32_t uid;
    uint32_t gid;
    uint16_t mode;
    uint16_t padding;
    uint64_t ino;
    uint64_t size;
    uint64_t blocks;
    uint64_t attributes_mask;
    struct pgw_sx_time atime;
    struct pgw_sx_time btime;
    struct pgw_sx_time ctime;
    struct pgw_sx_time mtime;
    uint32_t rdev_major;
    uint32_t rdev_minor;
    uint32_t dev_major;
    uint32_t dev_minor;
    uint64_t spare[14];
};

struct pgw_statx_out {
    uint64_t attr_valid;
    uint32_t attr_valid_nsec;
    uint32_t flags;
    uint64_t spare[2];
    struct pgw_statx stat;
};

struct pgw_setattr_in {
    uint32_t valid;
    uint32_t padding;
    uint64_t fh;
    uint64_t size;
    uint64_t lock_owner;
    uint64_t atime;
    uint64_t mtime;
    uint64_t ctime;
    uint32_t atimensec;
    uint32_t mtimensec;
    uint32_t ctimensec;
    uint32_t mode;
    uint32_t unused4;
    uint32_t uid;
    uint32_t gid;
    uint32_t unused5;
};

struct pgw_forget_in {
    uint64_t nlookup;
};

struct pgw_forget_one {
    uint64_t nodeid;
    uint64_t nlookup;
};

struct pgw_batch_forget_in {
    uint32_t count;
    uint32_t dummy;
};

struct pgw_mknod_in {
    uint32_t mode;
    uint32_t rdev;
    uint32_t umask;
    uint32_t padding;
};

struct pgw_mkdir_in {
    uint32_t mode;
    uint32_t umask;
};

struct pgw_rename_in {
    uint64_t newdir;
};

struct pgw_rename2_in {
    uint64_t newdir;
    uint32_t flags;
    uint32_t padding;
};

struct pgw_link_in {
    uint64_t oldnodeid;
};

struct pgw_open_in {
    uint32_t flags;
    uint32_t open_flags;
};

struct pgw_create_in {
    uint32_t flags;
    uint32_t mode;
    uint32_t umask;
    uint32_t open_flags;
};

struct pgw_open_out {
    uint64_t fh;
    uint32_t open_flags;
    int32_t backing_id;
};

struct pgw_release_in {
    uint64_t fh;
    uint32_t flags;
    uint32_t release_flags;
    uint64_t lock_owner;
};

struct pgw_flush_in {
    uint64_t fh;
    uint32_t unused;
    uint32_t padding;
    uint64_t lock_owner;
};

struct pgw_read_in {
    uint64_t fh;
    uint64_t offset;
    uint32_t size;
    uint32_t read_flags;
    uint64_t lock_owner;
    uint32_t flags;
    uint32_t padding;
};

struct pgw_write_in {
    uint64_t fh;
    uint64_t offset;
    uint32_t size;
    uint32_t write_flags;
    uint64_t lock_owner;
    uint32_t flags;
    uint32_t padding;
};

struct pgw_write_out {
    uint32_t size;
    uint32_t padding;
};

struct pgw_statfs_out {
    uint64_t blocks;
    uint64_t bfree;
    uint64_t bavail;
    uint64_t files;
    uint64_t ffree;
    uint32_t bsize;
    uint32_t namelen;
    uint32_t frsize;
    uint32_t padding;
    uint32_t spare[6];
};

struct pgw_fsync_in {
    uint64_t fh;
    uint32_t fsync_flags;
    uint32_t padding;
};

struct pgw_setxattr_in {
    uint32_t size;
    uint32_t flags;
};

struct pgw_getxattr_in {
    uint32_t size;
    uint32_t padding;
};

struct pgw_getxattr_out {
    uint32_t size;
    uint32_t padding;
};

struct pgw_file_lock {
    uint64_t start;
    uint64_t end;
    uint32_t type;
    uint32_t pid;
};

struct pgw_lk_in {
    uint64_t fh;
    uint64_t owner;
    struct pgw_file_lock lk;
    uint32_t lk_flags;
    uint32_t padding;
};

struct pgw_lk_out {
    struct pgw_file_lock lk;
};

struct pgw_access_in {
    uint32_t mask;
    uint32_t padding;
};

struct pgw_interrupt_in {
    uint64_t unique;
};

struct pgw_fallocate_in {
    uint64_t fh;
    uint64_t offset;
    uint64_t length;
    uint32_t mode;
    uint32_t padding;
};

struct pgw_lseek_in {
    uint64_t fh;
    uint64_t offset;
    uint32_t whence;
    uint32_t padding;
};

struct pgw_lseek_out {
    uint64_t offset;
};

struct pgw_copy_file_range_in {
    uint64_t fh_in;
    uint64_t off_in;
    uint64_t nodeid_out;
    uint64_t fh_out;
    uint64_t off_out;
    uint64_t len;
    uint64_t flags;
};

struct pgw_syncfs_in {
    uint64_t padding;
};

/* The name follows at once, then zeros up to a multiple of 8 bytes. */
struct pgw_dirent {
    uint64_t ino;
    uint64_t off;
    uint32_t namelen;
    uint32_t type;
};

struct pgw_direntplus {
    struct pgw_entry_out entry_out;
    struct pgw_dirent dirent;
};

struct pgw_notify_inval_inode_out {
    uint64_t ino;
    int64_t off;
    int64_t len;
};

struct pgw_notify_inval_entry_out {
    uint64_t parent;
    uint32_t namelen;
    uint32_t flags;
};

struct pgw_notify_delete_out {
    uint64_t parent;
    uint64_t child;
    uint32_t namelen;
    uint32_t padding;
};

/* ioctl arguments on /dev/fuse */
struct pgw_backing_map {
    int32_t fd;
    uint32_t flags;
    uint64_t padding;
};

/* FUSE-over-io_uring: where a request and its reply lie; and the command area of an SQE. */
struct pgw_uring_ent_in_out {
    uint64_t flags;
    uint64_t commit_id;
    uint32_t payload_sz;
    uint32_t padding;
    uint64_t reserved;
};

struct pgw_uring_req_header {
    char in_out[128];
    char op_in[128];
    struct pgw_uring_ent_in_out ring_ent;
};

struct pgw_uring_cmd_req {
    uint64_t flags;
    uint64_t commit_id;
    uint16_t qid;
    uint8_t padding[6];
};

enum { PGW_URING_CMD_REGISTER = 1, PGW_URING_CMD_COMMIT_AND_FETCH = 2 };

#define PGW_SIZE(type, bytes)                                                                      \
    _Static_assert(sizeof(struct pgw_##type) == (bytes), "size of pgw_" #type)

PGW_SIZE(in_header, 40);
PGW_SIZE(out_header, 16);
PGW_SIZE(attr, 88);
PGW_SIZE(init_in, 64);
PGW_SIZE(init_out, 64);
PGW_SIZE(entry_out, 128);
PGW_SIZE(attr_out, 104);
PGW_SIZE(getattr_in, 16);
PGW_SIZE(setattr_in, 88);
PGW_SIZE(forget_in, 8);
PGW_SIZE(forget_one, 16);
PGW_SIZE(batch_forget_in, 8);
PGW_SIZE(mknod_in, 16);
PGW_SIZE(mkdir_in, 8);
PGW_SIZE(rename_in, 8);
PGW_SIZE(rename2_in, 16);
PGW_SIZE(link_in, 8);
PGW_SIZE(open_in, 8);
PGW_SIZE(create_in, 16);
PGW_SIZE(open_out, 16);
PGW_SIZE(release_in, 24);
PGW_SIZE(flush_in, 24);
PGW_SIZE(read_in, 40);
PGW_SIZE(write_in, 40);
PGW_SIZE(write_out, 8);
PGW_SIZE(statfs_out, 80);
PGW_SIZE(fsync_in, 16);
PGW_SIZE(setxattr_in, 8);
PGW_SIZE(getxattr_in, 8);
PGW_SIZE(getxattr_out, 8);
PGW_SIZE(file_lock, 24);
PGW_SIZE(lk_in, 48);
PGW_SIZE(lk_out, 24);
PGW_SIZE(access_in, 8);
PGW_SIZE(interrupt_in, 8);
PGW_SIZE(fallocate_in, 32);
PGW_SIZE(lseek_in, 24);
PGW_SIZE(lseek_out, 8);
PGW_SIZE(copy_file_range_in, 56);
PGW_SIZE(syncfs_in, 8);
PGW_SIZE(dirent, 24);
PGW_SIZE(direntplus, 152);
PGW_SIZE(notify_inval_inode_out, 24);
PGW_SIZE(notify_inval_entry_out, 16);
PGW_SIZE(notify_delete_out, 24);
PGW_SIZE(backing_map, 16);
PGW_SIZE(uring_ent_in_out, 32);
PGW_SIZE(uring_req_header, 288);
PGW_SIZE(uring_cmd_req, 24);

#endif
