/*
 * pgw-notice-writer SOCKET: writes notices to one FUSE connection for a server that has many.
 *
 * The kernel may let a notice wait for an answer of that server, in a thread that no kill ends and
 * that keeps all descriptors of its process open. Here that is one connection, which can be
 * aborted; the server would keep all of its own, and the lock by which others see that it lives.
 *
 * It listens at SOCKET, writes one byte to its standard output, and is sent the connection's
 * descriptor by the first who comes. Then, until standard input ends, which it does with the
 * server: a length (uint32_t), as many bytes of notices, one behind the other as the kernel reads
 * them; and for each such order the kernel's errno of the last one (int32_t) on standard output.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ORDER_BYTES (64 << 10)
#define HEADER_BYTES 16u

/* False: it ended before. */
static bool read_all(void *into, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        ssize_t count = read(STDIN_FILENO, (char *)into + at, bytes - at);
        if (count == 0 || (count < 0 && errno != EINTR)) {
            return false;
        }
        at += count > 0 ? (size_t)count : 0;
    }
    return true;
}

static bool write_all(const void *from, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        ssize_t count = write(STDOUT_FILENO, (const char *)from + at, bytes - at);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        at += count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* A descriptor that comes with the first byte; -1: none came. */
static int receive(int socket_fd) {
    char byte;
    struct iovec room = {.iov_base = &byte, .iov_len = 1};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = &room,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t count;
    int fd = -1;

    do {
        count = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
    } while (count < 0 && errno == EINTR);
    struct cmsghdr *first = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (first != NULL && first->cmsg_type == SCM_RIGHTS) {
        memcpy(&fd, CMSG_DATA(first), sizeof fd);
    }
    return fd;
}

/* The connection; -1: nobody gave one. */
static int connection(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t length = strlen(path);
    int fd = -1;

    if (listener < 0 || length >= sizeof address.sun_path) {
        return -1;
    }
    memcpy(address.sun_path, path, length);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
        listen(listener, 1) == 0 && write_all("", 1)) {
        int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        fd = client < 0 ? -1 : receive(client);
        close(client);
    }
    close(listener);
    unlink(path);
    return fd;
}

/* 0 or the errno of the last one. */
static int32_t write_notices(int fd, const char *notices, uint32_t bytes) {
    int32_t result = EINVAL;

    for (uint32_t at = 0; bytes - at >= HEADER_BYTES;) {
        uint32_t length;
        memcpy(&length, notices + at, sizeof length);
        if (length < HEADER_BYTES || length > bytes - at) {
            return EINVAL;
        }
        result = write(fd, notices + at, length) < 0 ? errno : 0;
        at += length;
    }
    return result;
}

int main(int argc, char **argv) {
    static char notices[ORDER_BYTES];
    uint32_t bytes;

    if (argc != 2) {
        fprintf(stderr, "usage: pgw-notice-writer SOCKET\n");
        return 2;
    }
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    setsid();
    int fd = connection(argv[1]);
    if (fd < 0 || chdir("/") != 0) {
        return 1;
    }
    while (read_all(&bytes, sizeof bytes) && bytes <= sizeof notices && read_all(notices, bytes)) {
        int32_t result = write_notices(fd, notices, bytes);
        if (!write_all(&result, sizeof result)) {
            return 1;
        }
    }
    return 0;
}
