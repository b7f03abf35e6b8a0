/* Mounting: by mount(2) for who may, through fusermount for everybody else. */
#ifndef PGW_MOUNT_H
#define PGW_MOUNT_H

#include <stdbool.h>
#include <stddef.h>

struct pgw_mount_request {
    const char *source;  /* first column of the mount table */
    const char *target;  /* absolute */
    const char *options; /* for the kernel: without the fd; for fusermount: all */
    unsigned long flags; /* of mount(2); only for pgw_mount_direct */
};

/* Mounts the connection `fd`. 0 or -errno. */
int pgw_mount_direct(int fd, const struct pgw_mount_request *request);

/*
 * Lets `program` (fusermount) mount; gives the connection's descriptor, or -errno: -ENOENT when
 * there is no such program, -EPERM when it refused and `complaint` says why (always ended by a
 * NUL).
 */
int pgw_mount_fusermount(const char *program, const struct pgw_mount_request *request,
                         char *complaint, size_t complaint_bytes);

/* Unmounts; `lazy` detaches a busy mount at once. Follows no symbolic link. 0 or -errno. */
int pgw_mount_unmount(const char *target, bool lazy);

#endif
