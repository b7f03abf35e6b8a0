/*
 * The C floor of the libfuse transport: the null file system on libfuse 2.9's own multi-threaded
 * loop.
 *
 *   floor_libfuse MOUNTPOINT FILE_BYTES
 *
 * Raw messages come through a session with a process hook of our own and a channel with buffers of
 * 1 MiB; libfuse 2.9.9 hands that hook the session's data pointer where it expects a session, so
 * the data begins like libfuse's session.
 */
#define FUSE_USE_VERSION 26
#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "null_fs.h"

enum { BUFFER_BYTES = NULL_FS_MAX_WRITE + 8192 };

static int exited;
static __thread char *answer_buffer;

static struct {
    struct fuse_session_ops ops;
    void *receive;
    void *process;
    void *data;
    volatile int exited;
    void *channel;
} like_a_session;

static void process(void *unused, const char *message, size_t bytes, struct fuse_chan *channel) {
    (void)unused;
    (void)bytes;
    if (answer_buffer == NULL)
        answer_buffer = malloc(BUFFER_BYTES);
    if (answer_buffer == NULL)
        abort();
    const struct pgw_in_header *header = (const void *)message;
    const char *arguments = message + sizeof *header;
    int32_t done = null_fs_answer(
        header, arguments, arguments + null_fs_argument_bytes(header->opcode), answer_buffer);
    if (done == NULL_FS_NO_REPLY)
        return;
    size_t body = done > 0 ? (size_t)done : 0;
    struct pgw_out_header reply = {.len = (uint32_t)(sizeof reply + body),
                                   .error = done < 0 ? done : 0,
                                   .unique = header->unique};
    struct iovec parts[2] = {{&reply, sizeof reply}, {answer_buffer, body}};
    fuse_chan_send(channel, parts, body > 0 ? 2 : 1);
}

static void set_exited(void *unused, int value) {
    (void)unused;
    exited = value;
}

static int is_exited(void *unused) {
    (void)unused;
    return exited;
}

static int receive(struct fuse_chan **channel, char *into, size_t capacity) {
    for (;;) {
        ssize_t bytes = read(fuse_chan_fd(*channel), into, capacity);
        if (exited)
            return 0;
        if (bytes >= 0)
            return (int)bytes;
        if (errno == ENODEV) {
            exited = 1;
            return 0;
        }
        if (errno != ENOENT)
            return -errno;
    }
}

static int send_reply(struct fuse_chan *channel, const struct iovec *parts, size_t count) {
    return writev(fuse_chan_fd(channel), parts, (int)count) < 0 ? -errno : 0;
}

int main(int count, char **values) {
    if (count != 3) {
        fprintf(stderr, "usage: floor_libfuse MOUNTPOINT FILE_BYTES\n");
        return 2;
    }
    source_prepare(values[2]);
    char *arguments[] = {values[0], "-o", "allow_other,default_permissions,max_read=1048576", NULL};
    struct fuse_args args = FUSE_ARGS_INIT(3, arguments);
    struct fuse_chan *mounted = fuse_mount(values[1], &args);
    if (mounted == NULL)
        return 1;
    struct fuse_chan_ops channel_ops = {.receive = receive, .send = send_reply};
    struct fuse_chan *channel =
        fuse_chan_new(&channel_ops, fuse_chan_fd(mounted), BUFFER_BYTES, NULL);
    struct fuse_session_ops ops = {.process = process, .exit = set_exited, .exited = is_exited};
    like_a_session.ops = ops;
    struct fuse_session *session = fuse_session_new(&ops, &like_a_session);
    if (channel == NULL || session == NULL)
        return 1;
    fuse_session_add_chan(session, channel);
    fuse_session_loop_mt(session);
    return 0;
}
