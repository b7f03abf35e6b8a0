/* Unix stream sockets that carry descriptors. */
#ifndef PGW_SOCKET_H
#define PGW_SOCKET_H

#include <stddef.h>

/* Most descriptors one message brings. */
#define PGW_SOCKET_FDS 8

/* Connects; every later send and receive is bounded by the time-out (0: unbounded). The socket, or
 * -errno. */
int pgw_socket_connect(const char *path, int timeout_ms);

/* Sends all bytes. 0 or -errno (-EAGAIN: time-out). */
int pgw_socket_send(int socket, const void *data, size_t bytes);

/*
 * Sends some of the bytes, at least one, and with the first of them descriptors (1 to
 * PGW_SOCKET_FDS), which stay the caller's. Bytes sent, or -errno.
 */
long pgw_socket_send_fds(int socket, const void *data, size_t bytes, const int *fds, int fd_count);

/*
 * Receives what has come, up to `capacity` bytes, and up to `fd_count` (<= PGW_SOCKET_FDS)
 * descriptors, which the caller then owns; places without one are set to -1. Bytes (0: the peer
 * closed), or -errno: -EMFILE where the process had no room for each of them, and has none then.
 */
long pgw_socket_receive(int socket, void *into, size_t capacity, int *fds, int fd_count);

/* The user id of the peer at the time of connecting, or -errno. */
long pgw_socket_peer_uid(int socket);

#endif
