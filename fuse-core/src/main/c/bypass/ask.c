#include "ask.h"

#include "raw.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* A gateway that does not answer within this is not asked again for a while. */
#define ANSWER_MS 500
#define PAUSE_NS 1000000000LL
#define KNOWN 32
#define SEEN_BIT (1ULL << 63)

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static _Atomic bool enabled;
static _Atomic int64_t silent_until_ns;

/* The gateway's devices; 0: an empty place. Never taken out: a question too many does no harm. */
static struct {
    _Atomic uint64_t device;
    _Atomic uint64_t least_bytes;
} ours[KNOWN];

/* Devices that are none of the gateway's; when there are too many, some are forgotten. */
static _Atomic uint64_t others[KNOWN];

bool pgw_ask_begin(const char *socket_path) {
    size_t bytes = socket_path == NULL ? 0 : strlen(socket_path);
    if (bytes == 0 || bytes >= sizeof address.sun_path) {
        return false;
    }
    memcpy(address.sun_path, socket_path, bytes + 1);
    atomic_store(&enabled, true);
    return true;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* The system calls themselves: unlike libc's functions they are no cancellation points. */
static int connected(void) {
    struct timeval limit = {.tv_usec = ANSWER_MS * 1000L};
    int fd = (int)pgw_raw(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        pgw_raw(SYS_connect, fd, &address, sizeof address) == 0) {
        return fd;
    }
    pgw_raw(SYS_close, fd);
    return -1;
}

static bool send_question(int to, int proof, const struct pgw_bypass_question *question) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec data = {.iov_base = (void *)(uintptr_t)question, .iov_len = sizeof *question};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    struct cmsghdr *part;

    if (proof >= 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(part), &proof, sizeof proof);
    }
    return pgw_raw(SYS_sendmsg, to, &message, MSG_NOSIGNAL) == (long)sizeof *question;
}

/* How many descriptors came with the message; they are put into `into`. */
static uint32_t take_descriptors(struct msghdr *message, int *into) {
    uint32_t count = 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL;
         part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
            count = (uint32_t)((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(into, CMSG_DATA(part), count * sizeof(int));
        }
    }
    return count;
}

/* What came, and its bytes; `extra` gets what follows the answer. Descriptors: -1 if too few. */
static long receive(int from, struct pgw_bypass_answer *answer, struct iovec *extra, int *blocks) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * PGW_BYPASS_BLOCKS)];
    } control;
    struct iovec data[2] = {{.iov_base = answer, .iov_len = sizeof *answer}, *extra};
    struct msghdr message = {.msg_iov = data, .msg_iovlen = 2};
    uint32_t count;
    long bytes;

    if (blocks != NULL) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    do {
        bytes = pgw_raw(SYS_recvmsg, from, &message, MSG_CMSG_CLOEXEC);
    } while (bytes < 0 && errno == EINTR);
    /* An empty message may bring some, too. */
    count = bytes >= 0 && blocks != NULL ? take_descriptors(&message, blocks) : 0;
    if (bytes < (long)sizeof *answer || answer->magic != PGW_BYPASS_MAGIC ||
        (blocks != NULL && answer->blocks != count)) {
        for (uint32_t i = 0; i < count; i++) {
            pgw_raw(SYS_close, blocks[i]);
        }
        return -1;
    }
    return bytes;
}

/* One question and its answer; the bytes of the answer, or -1 and a pause. */
static long exchange(int proof, const struct pgw_bypass_question *question,
                     struct pgw_bypass_answer *answer, struct iovec *extra, int *blocks) {
    long bytes = -1;
    int gateway;
    if (now_ns() < atomic_load(&silent_until_ns)) {
        return -1;
    }
    gateway = connected();
    if (gateway >= 0) {
        if (send_question(gateway, proof, question)) {
            bytes = receive(gateway, answer, extra, blocks);
        }
        pgw_raw(SYS_close, gateway);
    }
    if (bytes < 0) {
        atomic_store(&silent_until_ns, now_ns() + PAUSE_NS);
    }
    return bytes;
}

static void remember(const struct pgw_bypass_device *device) {
    uint64_t number = makedev(0, device->minor) | SEEN_BIT;
    for (int i = 0; i < KNOWN; i++) {
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&ours[i].device, &there, number) || there == number) {
            atomic_store(&ours[i].least_bytes, device->least_bytes);
            return;
        }
    }
}

static bool learn_devices(void) {
    struct pgw_bypass_device devices[PGW_BYPASS_DEVICES];
    struct pgw_bypass_question question = {.magic = PGW_BYPASS_MAGIC,
                                           .version = PGW_BYPASS_VERSION};
    struct pgw_bypass_answer answer;
    struct iovec room = {.iov_base = devices, .iov_len = sizeof devices};
    long bytes = exchange(-1, &question, &answer, &room, NULL);
    if (bytes < 0 || answer.status != PGW_BYPASS_DEVICES_ARE ||
        answer.devices > PGW_BYPASS_DEVICES ||
        bytes < (long)(sizeof answer + answer.devices * sizeof devices[0])) {
        return false;
    }
    for (uint32_t i = 0; i < answer.devices; i++) {
        remember(&devices[i]);
    }
    return true;
}

/* -1: not known to be the gateway's; else whether the length is worth it. */
static int worth(uint64_t device, uint64_t size_bytes) {
    for (int i = 0; i < KNOWN; i++) {
        uint64_t there = atomic_load(&ours[i].device);
        if (there == (device | SEEN_BIT)) {
            return size_bytes >= atomic_load(&ours[i].least_bytes);
        }
        if (there == 0) {
            break;
        }
    }
    return -1;
}

static bool is_other(uint64_t device) {
    for (int i = 0; i < KNOWN; i++) {
        uint64_t there = atomic_load(&others[i]);
        if (there == (device | SEEN_BIT) || there == 0) {
            return there != 0;
        }
    }
    return false;
}

static void remember_other(uint64_t device) {
    for (int i = 0; i < KNOWN; i++) {
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&others[i], &there, device | SEEN_BIT)) {
            return;
        }
    }
    atomic_store(&others[minor(device) % KNOWN], device | SEEN_BIT);
}

bool pgw_ask_wanted(uint64_t device, uint64_t size_bytes) {
    int known;
    if (!atomic_load(&enabled) || major(device) != 0 || is_other(device)) {
        return false;
    }
    known = worth(device, size_bytes);
    if (known < 0 && learn_devices()) {
        known = worth(device, size_bytes);
        if (known < 0) {
            remember_other(device);
        }
    }
    return known > 0;
}

bool pgw_ask(int fd, uint64_t content, uint32_t most_blocks, struct pgw_bypass_answer *answer,
             int *blocks) {
    struct pgw_bypass_question question = {.magic = PGW_BYPASS_MAGIC,
                                           .version = PGW_BYPASS_VERSION,
                                           .content = content,
                                           .most_blocks = most_blocks};
    struct iovec none = {.iov_base = NULL, .iov_len = 0};
    if (exchange(fd, &question, answer, &none, blocks) < 0) {
        return false;
    }
    if (answer->status == PGW_BYPASS_GIVEN && answer->blocks >= 1 &&
        answer->blocks <= most_blocks) {
        return true;
    }
    for (uint32_t i = 0; i < answer->blocks; i++) {
        pgw_raw(SYS_close, blocks[i]);
    }
    return answer->status == PGW_BYPASS_SAME && content != 0;
}
