/* /dev/fuse: opening, cloning, receiving and sending messages, backing files. Every function is
 * safe on any thread. */
#ifndef PGW_DEVICE_H
#define PGW_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A fresh connection, not yet mounted. Gives the descriptor, or -errno. */
int pgw_device_open(void);

/* One more descriptor of the connection `fd` belongs to, with requests of its own. Gives it, or
 * -errno. */
int pgw_device_clone(int fd);

/* Whether the connection has not ended: it ends before the kernel gives its number to another. Does
 * not wait. */
bool pgw_device_connected(int fd);

/* Closes a descriptor but keeps its number, whose every use fails with -EBADF from now on: no other
 * file gets it while a thread may still write to it. 0, or -errno: it stays open. */
int pgw_device_retire(int fd);

/*
 * Waits for a message. Returns its bytes; -EINTR when woken (pgw_wake.h), -ENODEV or -ECONNABORTED
 * when the connection has ended, else another -errno.
 */
long pgw_device_read(int fd, void *into, size_t capacity);

/* Sends a reply or a notification. 0, or -errno: -ENOENT when nobody waits for it any more. */
int pgw_device_write(int fd, const void *message, size_t bytes);

/* The same for a message whose out-header tells its length. */
int pgw_device_write_message(int fd, const void *message);

/* Gives the kernel an open file to read and write by itself; the descriptor stays the caller's. The
 * backing id, or -errno. */
int pgw_device_open_backing(int fd, int file);

int pgw_device_close_backing(int fd, int32_t backing_id);

#endif
