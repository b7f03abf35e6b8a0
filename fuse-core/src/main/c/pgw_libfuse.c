#define FUSE_USE_VERSION 26
#include "pgw_libfuse.h"

#include "pgw_device.h"
#include "pgw_wake.h"
#include "pgw_wire.h"

#include <dlfcn.h>
#include <errno.h>
#include <fuse/fuse_lowlevel.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* libfuse's own buffer: it looks at the header there, the message itself goes into our slot. */
#define LIBFUSE_BUFFER_BYTES 4096
#define ENTER_RETRY_NS 1000000L

/* The functions of libfuse that are used. */
static struct {
    struct fuse_session *(*session_new)(struct fuse_session_ops *, void *);
    void (*session_add_chan)(struct fuse_session *, struct fuse_chan *);
    void (*session_destroy)(struct fuse_session *);
    void (*session_exit)(struct fuse_session *);
    int (*session_exited)(struct fuse_session *);
    int (*session_loop_mt)(struct fuse_session *);
    struct fuse_chan *(*chan_new)(struct fuse_chan_ops *, int, size_t, void *);
    void *(*chan_data)(struct fuse_chan *);
    int (*chan_fd)(struct fuse_chan *);
    int (*chan_send)(struct fuse_chan *, const struct iovec *, size_t);
} lib;
static bool lib_found;
static pthread_once_t lib_once = PTHREAD_ONCE_INIT;
static pthread_key_t lane_key;

/*
 * libfuse 2.9's struct fuse_session, by its beginning. Its fuse_session_process_buf hands the
 * session's *data* on where a session is expected, so the data is given this shape, with the true
 * data in its place.
 */
struct session_shape {
    struct fuse_session_ops ops;
    void *receive_buf;
    void *process_buf;
    void *data;
    volatile int exited;
    void *channel;
};

struct pgw_libfuse {
    struct session_shape shape;
    const struct pgw_libfuse_hooks *hooks;
    void *owner;
    struct fuse_session *fuse;
    struct fuse_chan *channel;
    pthread_mutex_t lanes_lock;
    struct pgw_libfuse_lane *lanes; /* guarded by lanes_lock */
};

/* Runs when a thread ends, by libfuse's choice or its cancellation. */
static void lane_end(void *data) {
    struct pgw_libfuse_lane *lane = data;
    struct pgw_libfuse *session = lane->session;
    struct pgw_libfuse_lane **at;

    pthread_mutex_lock(&session->lanes_lock);
    for (at = &session->lanes; *at != lane; at = &(*at)->next) {
    }
    *at = lane->next;
    pthread_mutex_unlock(&session->lanes_lock);
    session->hooks->leave(session->owner, lane);
    free(lane);
}

#define WANTED(function) {"fuse_" #function, (void *)&lib.function}

static void load_library(void) {
    void *library = dlopen("libfuse.so.2", RTLD_NOW | RTLD_LOCAL);
    struct {
        const char *name;
        void *place;
    } wanted[] = {
        WANTED(session_new),  WANTED(session_add_chan), WANTED(session_destroy),
        WANTED(session_exit), WANTED(session_exited),   WANTED(session_loop_mt),
        WANTED(chan_new),     WANTED(chan_data),        WANTED(chan_fd),
        WANTED(chan_send),
    };
    if (library == NULL || pthread_key_create(&lane_key, lane_end) != 0) {
        return;
    }
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *symbol = dlsym(library, wanted[i].name);
        if (symbol == NULL) {
            return;
        }
        memcpy(wanted[i].place, (const void *)&symbol, sizeof symbol);
    }
    lib_found = true;
}

int pgw_libfuse_probe(void) {
    pthread_once(&lib_once, load_library);
    return lib_found ? 0 : -ENOSYS;
}

static struct pgw_libfuse_lane *lane_begin(struct pgw_libfuse *session) {
    struct pgw_libfuse_lane *lane = calloc(1, sizeof *lane);
    if (lane == NULL) {
        return NULL;
    }
    lane->session = session;
    lane->thread = pgw_wake_self();
    if (!session->hooks->enter(session->owner, lane)) {
        free(lane);
        return NULL;
    }
    pthread_mutex_lock(&session->lanes_lock);
    lane->next = session->lanes;
    session->lanes = lane;
    pthread_mutex_unlock(&session->lanes_lock);
    pthread_setspecific(lane_key, lane);
    return lane;
}

/* This thread's lane; NULL when there is none to be had yet. Not to be cancelled half-way. */
static struct pgw_libfuse_lane *lane_of_thread(struct pgw_libfuse *session) {
    struct pgw_libfuse_lane *lane = pthread_getspecific(lane_key);
    int state;
    if (lane == NULL) {
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        lane = lane_begin(session);
        pthread_setcancelstate(state, NULL);
    }
    return lane;
}

/* libfuse's hook: 0 ends the thread, -EINTR asks again. */
static int receive(struct fuse_chan **channel, char *buffer, size_t capacity) {
    struct pgw_libfuse *session = lib.chan_data(*channel);
    struct pgw_libfuse_lane *lane = lane_of_thread(session);
    long bytes;

    if (lib.session_exited(session->fuse)) {
        return 0;
    }
    if (lane == NULL) {
        nanosleep(&(struct timespec){.tv_nsec = ENTER_RETRY_NS}, NULL);
        return -EINTR;
    }
    bytes = pgw_device_read(lib.chan_fd(*channel), lane->slot, session->hooks->slot_bytes);
    if (bytes == -EINTR && !lib.session_exited(session->fuse)) {
        return -EINTR;
    }
    if (bytes < (long)sizeof(struct pgw_in_header)) {
        lib.session_exit(session->fuse);
        return bytes == -ENODEV || bytes == -EINTR || bytes >= 0 ? 0 : (int)bytes;
    }
    memcpy(buffer, lane->slot,
           capacity < sizeof(struct pgw_in_header) ? capacity : sizeof(struct pgw_in_header));
    return (int)bytes;
}

static int send_message(struct fuse_chan *channel, const struct iovec *parts, size_t count) {
    if (count != 1) {
        return -EINVAL;
    }
    return pgw_device_write(lib.chan_fd(channel), parts[0].iov_base, parts[0].iov_len);
}

static void process(void *data, const char *buffer, size_t bytes, struct fuse_chan *channel) {
    struct pgw_libfuse *session = data;
    struct pgw_libfuse_lane *lane = pthread_getspecific(lane_key);
    (void)buffer;
    lane->reply = NULL;
    session->hooks->handle(session->owner, lane, bytes);
    if (lane->reply != NULL) {
        const struct pgw_out_header *header = lane->reply;
        struct iovec message = {.iov_base = (void *)lane->reply, .iov_len = header->len};
        lib.chan_send(channel, &message, 1);
    }
}

struct pgw_libfuse *pgw_libfuse_open(int fd, const struct pgw_libfuse_hooks *hooks, void *owner) {
    struct fuse_session_ops session_ops = {.process = process};
    struct fuse_chan_ops channel_ops = {.receive = receive, .send = send_message};
    struct pgw_libfuse *session;

    if (pgw_libfuse_probe() != 0) {
        return NULL;
    }
    session = calloc(1, sizeof *session);
    if (session == NULL) {
        return NULL;
    }
    session->shape.ops = session_ops;
    session->shape.data = session;
    session->hooks = hooks;
    session->owner = owner;
    pthread_mutex_init(&session->lanes_lock, NULL);
    session->fuse = lib.session_new(&session_ops, &session->shape);
    session->channel = lib.chan_new(&channel_ops, fd, LIBFUSE_BUFFER_BYTES, session);
    if (session->fuse == NULL || session->channel == NULL) {
        pgw_libfuse_close(session);
        return NULL;
    }
    lib.session_add_chan(session->fuse, session->channel);
    return session;
}

int pgw_libfuse_run(struct pgw_libfuse *session) {
    return lib.session_loop_mt(session->fuse) == 0 ? 0 : -EIO;
}

void pgw_libfuse_stop(struct pgw_libfuse *session) {
    lib.session_exit(session->fuse);
    pthread_mutex_lock(&session->lanes_lock);
    for (struct pgw_libfuse_lane *lane = session->lanes; lane != NULL; lane = lane->next) {
        pgw_wake_thread(lane->thread);
    }
    pthread_mutex_unlock(&session->lanes_lock);
}

void pgw_libfuse_close(struct pgw_libfuse *session) {
    if (session->fuse != NULL) {
        lib.session_destroy(session->fuse);
    }
    pthread_mutex_destroy(&session->lanes_lock);
    free(session);
}
