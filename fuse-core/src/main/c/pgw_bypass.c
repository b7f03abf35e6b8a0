#include "pgw_bypass.h"

#include "pgw_beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* So many may have connected and not yet asked; the oldest is hung up on for one more. */
#define WAITING 64
#define BACKLOG 512
#define NAME_BYTES 24
/* Proofs that are not closed: of a peer, in all, and in all but for peers that have few. */
#define PLACES 1024
#define MAX_OF_PEER 64
#define MAX_UNCLOSED 512
#define MAX_FOR_MANY 384
#define FEW 4
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

/* Of the process, as descriptors are: a close that waits may outlive its server. */
static _Atomic uint32_t unclosed[PLACES];
static _Atomic uint32_t all_unclosed;

struct pgw_bypass_server {
    int listener;
    int events;
    int wake;
    int waiting[WAITING]; /* a ring of connections; -1: an empty place */
    int oldest;
};

static int bind_and_listen(int fd, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char aside[sizeof address.sun_path];
    int bytes = snprintf(aside, sizeof aside, "%s.%d", path, (int)getpid());
    if (bytes < 0 || (size_t)bytes >= sizeof aside) {
        return -ENAMETOOLONG;
    }
    memcpy(address.sun_path, aside, (size_t)bytes + 1);
    unlink(aside);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || chmod(aside, 0666) != 0 ||
        listen(fd, BACKLOG) != 0 || rename(aside, path) != 0) {
        int error = errno;
        unlink(aside);
        return -error;
    }
    return 0;
}

static int watch(const struct pgw_bypass_server *server, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(server->events, EPOLL_CTL_ADD, fd, &event) != 0 ? -errno : 0;
}

struct pgw_bypass_server *pgw_bypass_listen(const char *path, int *error) {
    struct pgw_bypass_server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        *error = ENOMEM;
        return NULL;
    }
    memset(server->waiting, -1, sizeof server->waiting);
    server->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    server->events = epoll_create1(EPOLL_CLOEXEC);
    server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    *error = errno;
    if (server->listener >= 0 && server->events >= 0 && server->wake >= 0) {
        *error = -bind_and_listen(server->listener, path);
        if (*error == 0) {
            *error = -watch(server, server->listener);
        }
        if (*error == 0) {
            *error = -watch(server, server->wake);
        }
        if (*error == 0) {
            return server;
        }
    }
    pgw_bypass_close(server);
    return NULL;
}

static void close_open(int fd) {
    if (fd >= 0) {
        close(fd);
    }
}

void pgw_bypass_close(struct pgw_bypass_server *server) {
    for (int i = 0; i < WAITING; i++) {
        close_open(server->waiting[i]);
    }
    close_open(server->listener);
    close_open(server->events);
    close_open(server->wake);
    free(server);
}

void pgw_bypass_stop(struct pgw_bypass_server *server) {
    uint64_t one = 1;
    if (write(server->wake, &one, sizeof one) < 0) {
        /* It is set already. */
    }
}

/* The descriptor of a message that had room for one. */
static int take_proof(struct msghdr *message) {
    struct cmsghdr *part = CMSG_FIRSTHDR(message);
    int proof = -1;
    if (part != NULL && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
        part->cmsg_len >= CMSG_LEN(sizeof proof)) {
        memcpy(&proof, CMSG_DATA(part), sizeof proof);
    }
    return proof;
}

static uint32_t place_of(int connection, uint32_t uid) {
    uint64_t network = 0; /* of the peer's end */
    socklen_t bytes = sizeof network;
    if (getsockopt(connection, SOL_SOCKET, SO_NETNS_COOKIE, &network, &bytes) != 0) {
        network = 0;
    }
    return (uint32_t)(((network * 31 + uid) * 0x9E3779B97F4A7C15ULL) >> 54);
}

static bool may_bring_proof(uint32_t place) {
    uint32_t own = atomic_load(&unclosed[place]);
    return own < MAX_OF_PEER &&
           atomic_load(&all_unclosed) < (own < FEW ? MAX_UNCLOSED : MAX_FOR_MANY);
}

void pgw_bypass_close_proof(int proof, uint32_t place) {
    close(proof);
    atomic_fetch_sub(&unclosed[place], 1);
    atomic_fetch_sub(&all_unclosed, 1);
}

/* What can be known of the proof without asking its file system's server. */
static void look_at(struct pgw_bypass_asked *asked) {
    struct statx status;
    if (asked->proof < 0) {
        return;
    }
    asked->flags = fcntl(asked->proof, F_GETFL);
    if (asked->flags >= 0 && statx(asked->proof, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                                   STATX_TYPE | STATX_INO, &status) == 0) {
        asked->major = status.stx_dev_major;
        asked->minor = status.stx_dev_minor;
        asked->inode = S_ISREG(status.stx_mode) ? status.stx_ino : 0;
    }
}

/* 0: a question came; -EAGAIN: nothing yet; else the peer is of no use. */
static int receive(int connection, struct pgw_bypass_asked *asked) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct pgw_bypass_question question;
    struct iovec data = {.iov_base = &question, .iov_len = sizeof question};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_LEN(sizeof(int))};
    struct ucred peer = {0};
    socklen_t peer_bytes = sizeof peer;
    bool known = getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &peer_bytes) == 0;
    uint32_t place = place_of(connection, peer.uid);
    ssize_t bytes;
    if (!may_bring_proof(place)) {
        message.msg_controllen = 0; /* the kernel drops it, and nobody closes it */
    }
    bytes = recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (bytes < 0) {
        return -errno;
    }
    memset(asked, 0, sizeof *asked);
    asked->connection = connection;
    asked->place = place;
    asked->proof = take_proof(&message);
    if (asked->proof >= 0) {
        atomic_fetch_add(&unclosed[place], 1);
        atomic_fetch_add(&all_unclosed, 1);
    }
    if (!known || bytes != sizeof question || (message.msg_flags & MSG_TRUNC) != 0 ||
        question.magic != PGW_BYPASS_MAGIC || question.version != PGW_BYPASS_VERSION) {
        asked->major = PGW_BYPASS_NOTHING;
        return asked->proof < 0 ? -EPROTO : 0;
    }
    asked->limited = asked->proof < 0 && (message.msg_flags & MSG_CTRUNC) != 0;
    asked->uid = peer.uid;
    asked->pid = (uint32_t)peer.pid;
    asked->content = question.content;
    asked->most_blocks = question.most_blocks;
    look_at(asked);
    return 0;
}

static void let_wait(struct pgw_bypass_server *server, int connection) {
    close_open(server->waiting[server->oldest]);
    server->waiting[server->oldest] = -1;
    if (watch(server, connection) != 0) {
        close(connection);
        return;
    }
    server->waiting[server->oldest] = connection;
    server->oldest = (server->oldest + 1) % WAITING;
}

static void waits_no_more(struct pgw_bypass_server *server, int connection) {
    for (int i = 0; i < WAITING; i++) {
        if (server->waiting[i] == connection) {
            server->waiting[i] = -1;
        }
    }
    epoll_ctl(server->events, EPOLL_CTL_DEL, connection, NULL);
}

/* Most peers have asked by the time they are let in. */
static int let_in(struct pgw_bypass_server *server, struct pgw_bypass_asked *asked) {
    int connection = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    int result;
    if (connection < 0) {
        if (errno == EMFILE || errno == ENFILE) {
            /* Nobody can be let in; others end meanwhile. */
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        }
        return -EAGAIN;
    }
    result = receive(connection, asked);
    if (result == -EAGAIN) {
        let_wait(server, connection);
    } else if (result != 0) {
        close(connection);
    }
    return result;
}

static int serve_waiting(struct pgw_bypass_server *server, int connection,
                         struct pgw_bypass_asked *asked) {
    int result = receive(connection, asked);
    if (result != -EAGAIN) {
        waits_no_more(server, connection);
        if (result != 0) {
            close(connection);
        }
    }
    return result;
}

int pgw_bypass_next(struct pgw_bypass_server *server, struct pgw_bypass_asked *asked) {
    for (;;) {
        struct epoll_event event;
        int count = epoll_wait(server->events, &event, 1, -1);
        int result;
        if (count < 0 && errno != EINTR) {
            return -errno;
        }
        if (count <= 0) {
            continue;
        }
        if (event.data.fd == server->wake) {
            return -ECANCELED;
        }
        result = event.data.fd == server->listener ? let_in(server, asked)
                                                   : serve_waiting(server, event.data.fd, asked);
        if (result == 0) {
            return 0;
        }
    }
}

/* Is everything in the folder out of reach for writing already? */
static int read_only(int folder) {
    struct statvfs status;
    if (fstatvfs(folder, &status) == 0 && (status.f_flag & ST_RDONLY) != 0) {
        return folder;
    }
    close(folder);
    return -EROFS;
}

int pgw_bypass_folder(const char *root, const char *path) {
    struct mount_attr attributes = {.attr_set =
                                        MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
    int folder = pgw_beneath_folder(root, path, PGW_BENEATH_KERNEL);
    int clone;
    if (folder < 0) {
        return folder;
    }
    /* A mount of our own that is nowhere to be seen. */
    clone = (int)syscall(SYS_open_tree, folder, "",
                         OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
    if (clone < 0) {
        return read_only(folder);
    }
    if (syscall(SYS_mount_setattr, clone, "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0) {
        close(clone);
        return read_only(folder);
    }
    close(folder);
    return clone;
}

/* The block's file, if it is as long as it has to be; -1. */
static int open_block(const struct pgw_bypass_blocks *blocks, uint64_t block, uint64_t bytes) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%llu", (unsigned long long)block);
    for (int i = 0; i < blocks->folder_count; i++) {
        struct stat status;
        int fd = pgw_beneath_file(blocks->folders[i], name, &status, PGW_BENEATH_KERNEL);
        if (fd < 0) {
            continue;
        }
        if (status.st_size == (off_t)bytes) {
            return fd;
        }
        close(fd);
    }
    return -1;
}

static bool send_blocks(int connection, const struct pgw_bypass_answer *answer, const int *fds) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * PGW_BYPASS_BLOCKS)];
    } control;
    struct iovec data = {.iov_base = (void *)(uintptr_t)answer, .iov_len = sizeof *answer};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control};
    size_t bytes = answer->blocks * sizeof(int);
    struct cmsghdr *part;

    memset(&control, 0, sizeof control);
    message.msg_controllen = CMSG_SPACE(bytes);
    part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(part), fds, bytes);
    return sendmsg(connection, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

enum pgw_bypass_status pgw_bypass_give(int connection, struct pgw_bypass_answer *answer,
                                       const struct pgw_bypass_blocks *blocks) {
    int fds[PGW_BYPASS_BLOCKS];
    uint64_t left = answer->size_bytes;
    uint32_t opened = 0;
    answer->magic = PGW_BYPASS_MAGIC;
    answer->status = PGW_BYPASS_GIVEN;
    while (opened < answer->blocks && opened < PGW_BYPASS_BLOCKS) {
        uint64_t bytes = left < answer->block_bytes ? left : answer->block_bytes;
        fds[opened] = open_block(blocks, blocks->first_block + opened, bytes);
        if (fds[opened] < 0) {
            break;
        }
        left -= bytes;
        opened++;
    }
    if (opened == answer->blocks && left == 0) {
        send_blocks(connection, answer, fds);
    } else {
        answer->status = PGW_BYPASS_NOT_LOCAL;
        pgw_bypass_tell(connection, PGW_BYPASS_NOT_LOCAL, NULL, 0);
    }
    for (uint32_t i = 0; i < opened; i++) {
        close(fds[i]);
    }
    return answer->status;
}

void pgw_bypass_tell(int connection, enum pgw_bypass_status status,
                     const struct pgw_bypass_device *devices, uint32_t device_count) {
    struct pgw_bypass_answer answer = {
        .magic = PGW_BYPASS_MAGIC, .status = status, .devices = device_count};
    struct iovec data[2] = {
        {.iov_base = &answer, .iov_len = sizeof answer},
        {.iov_base = (void *)(uintptr_t)devices, .iov_len = device_count * sizeof *devices}};
    struct msghdr message = {.msg_iov = data, .msg_iovlen = 2};
    if (sendmsg(connection, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        /* Who does not wait for the answer goes without. */
    }
}
