#include "pgw_mount.h"

#include "pgw_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FSTYPE "fuse.posix-gateway"
#define OPTION_BYTES 1024
#define COMMFD "_FUSE_COMMFD=%d"

int pgw_mount_direct(int fd, const struct pgw_mount_request *request) {
    char options[OPTION_BYTES];
    int length = snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u%s",
                          fd, getuid(), getgid(), request->options);
    if (length >= (int)sizeof options) {
        return -E2BIG;
    }
    return mount(request->source, request->target, FSTYPE, request->flags, options) != 0 ? -errno
                                                                                         : 0;
}

/* What a child says on its standard error, up to its end. */
static void read_complaint(int fd, char *text, size_t capacity) {
    size_t used = 0;
    char rest[256];
    for (;;) {
        bool room = used + 1 < capacity;
        ssize_t bytes =
            read(fd, room ? text + used : rest, room ? capacity - 1 - used : sizeof rest);
        if (bytes < 0 && errno == EINTR) {
            continue;
        }
        if (bytes <= 0) {
            break;
        }
        used += room ? (size_t)bytes : 0;
    }
    text[used] = '\0';
}

static int spawn(const char *program, const struct pgw_mount_request *request, int channel,
                 int complaints, pid_t *child) {
    char variable[sizeof COMMFD + 16];
    char *environment[] = {variable, "PATH=/usr/bin:/bin:/usr/sbin:/sbin", NULL};
    char *arguments[] = {
        "fusermount", "-o", (char *)request->options, "--", (char *)request->target, NULL};
    posix_spawn_file_actions_t actions;
    int error;

    snprintf(variable, sizeof variable, COMMFD, channel);
    error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return -error;
    }
    /* Onto itself: takes the close-on-exec mark off in the child alone. */
    error = posix_spawn_file_actions_adddup2(&actions, channel, channel);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, complaints, STDERR_FILENO);
    }
    if (error == 0) {
        error = posix_spawnp(child, program, &actions, NULL, arguments, environment);
    }
    posix_spawn_file_actions_destroy(&actions);
    return -error;
}

static int receive_connection(int channel) {
    char byte;
    int fd = -1;
    long bytes = pgw_socket_receive(channel, &byte, 1, &fd, 1);
    if (bytes < 0) {
        return (int)bytes;
    }
    return fd >= 0 ? fd : -EPERM;
}

int pgw_mount_fusermount(const char *program, const struct pgw_mount_request *request,
                         char *complaint, size_t complaint_bytes) {
    int channel[2];
    int complaints[2];
    pid_t child;
    int result;

    complaint[0] = '\0';
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) {
        return -errno;
    }
    if (pipe2(complaints, O_CLOEXEC) != 0) {
        result = -errno;
        close(channel[0]);
        close(channel[1]);
        return result;
    }
    result = spawn(program, request, channel[1], complaints[1], &child);
    close(channel[1]);
    close(complaints[1]);
    if (result == 0) {
        result = receive_connection(channel[0]);
        read_complaint(complaints[0], complaint, complaint_bytes);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close(channel[0]);
    close(complaints[0]);
    return result;
}

int pgw_mount_unmount(const char *target, bool lazy) {
    return umount2(target, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) != 0 ? -errno : 0;
}
