#include "pgw_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int set_timeout(int socket, int timeout_ms) {
    struct timeval time = {.tv_sec = timeout_ms / 1000, .tv_usec = (timeout_ms % 1000) * 1000L};
    if (setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) != 0 ||
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time) != 0) {
        return -errno;
    }
    return 0;
}

int pgw_socket_connect(const char *path, int timeout_ms) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int result;
    int fd;

    if (strlen(path) >= sizeof address.sun_path) {
        return -ENAMETOOLONG;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    result = set_timeout(fd, timeout_ms);
    if (result == 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        result = -errno;
    }
    if (result != 0) {
        close(fd);
        return result;
    }
    return fd;
}

int pgw_socket_send(int socket, const void *data, size_t bytes) {
    const char *at = data;
    while (bytes > 0) {
        ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent < 0) {
            return -errno;
        }
        at += sent;
        bytes -= (size_t)sent;
    }
    return 0;
}

long pgw_socket_send_fds(int socket, const void *data, size_t bytes, const int *fds, int fd_count) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * PGW_SOCKET_FDS)];
    } control;
    union {
        const void *given;
        void *taken; /* sendmsg only reads */
    } from = {.given = data};
    struct iovec part = {.iov_base = from.taken, .iov_len = bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control};
    ssize_t sent;

    if (fd_count < 1 || fd_count > PGW_SOCKET_FDS) {
        return -EINVAL;
    }
    size_t fd_bytes = sizeof(int) * (size_t)fd_count;
    memset(&control, 0, sizeof control);
    message.msg_controllen = CMSG_SPACE(fd_bytes);
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fd_bytes);
    memcpy(CMSG_DATA(rights), fds, fd_bytes);
    do {
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : (long)sent;
}

/* Moves the descriptors of a message into `fds`; closes those that have no place. */
static void take_descriptors(struct msghdr *message, int *fds, int fd_count) {
    int found = 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL;
         part = CMSG_NXTHDR(message, part)) {
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
            if (found < fd_count) {
                fds[found++] = fd;
            } else {
                close(fd);
            }
        }
    }
}

static void close_descriptors(int *fds, int fd_count) {
    for (int i = 0; i < fd_count; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
            fds[i] = -1;
        }
    }
}

long pgw_socket_receive(int socket, void *into, size_t capacity, int *fds, int fd_count) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * PGW_SOCKET_FDS)];
    } control;
    struct iovec data = {.iov_base = into, .iov_len = capacity};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t bytes;

    for (int i = 0; i < fd_count; i++) {
        fds[i] = -1;
    }
    do {
        bytes = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (bytes < 0 && errno == EINTR);
    if (bytes < 0) {
        return -errno;
    }
    take_descriptors(&message, fds, fd_count);
    if ((message.msg_flags & MSG_CTRUNC) != 0) {
        close_descriptors(fds, fd_count);
        return -EMFILE;
    }
    return (long)bytes;
}

long pgw_socket_peer_uid(int socket) {
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 ? -errno
                                                                           : (long)peer.uid;
}
