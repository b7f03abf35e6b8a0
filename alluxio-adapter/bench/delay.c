/*
 * A way to a server that takes time, for kernels without netem: what goes in comes out half a round
 * trip later, as much of it as there is. Connections end here, so the windows of TCP do not see the
 * delay: those of the programs do.
 *
 *   delay HOST:PORT SERVER_HOST:SERVER_PORT
 *
 * Says OK when it listens. Each line of standard input is the round trip in microseconds from now
 * on, answered by OK; ends with standard input. A connection is made a round trip late.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* On the way in one direction: enough for 10 GB/s and 5 ms, or small pieces and 2 GB/s. */
enum { PIECES = 1024, PIECE_BYTES = 64 * 1024, BACKLOG = 500 };

static atomic_llong round_trip_ns;
static struct sockaddr_in server;

/* One direction of a connection: a thread takes pieces in, another one gives them out in time. */
struct way {
    int from;
    int to;
    pthread_t taker;
    unsigned char *bytes;
    size_t lengths[PIECES]; /* 0: the end */
    int64_t due_ns[PIECES];
    unsigned first; /* of the pieces that are on the way; the taker sets it when there is none */
    unsigned count;
    int broken; /* nobody takes what comes out */
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

struct connection {
    int client;
    int server;
    struct way there;
    struct way back;
};

static int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void sleep_until(int64_t due_ns) {
    struct timespec time = {.tv_sec = due_ns / 1000000000, .tv_nsec = due_ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

/* The next free piece; -1: nobody needs it. With nothing on the way the first again, whose memory
 * is warm. */
static int free_piece(struct way *way) {
    pthread_mutex_lock(&way->lock);
    while (way->count == PIECES && !way->broken)
        pthread_cond_wait(&way->changed, &way->lock);
    if (way->count == 0)
        way->first = 0;
    int piece = way->broken ? -1 : (int)((way->first + way->count) % PIECES);
    pthread_mutex_unlock(&way->lock);
    return piece;
}

static void *take(void *argument) {
    struct way *way = argument;
    for (size_t length = 1; length > 0;) {
        int piece = free_piece(way);
        if (piece < 0)
            break;
        ssize_t got = recv(way->from, way->bytes + (size_t)piece * PIECE_BYTES, PIECE_BYTES, 0);
        length = got > 0 ? (size_t)got : 0;
        pthread_mutex_lock(&way->lock);
        way->lengths[piece] = length;
        way->due_ns[piece] = now_ns() + atomic_load(&round_trip_ns) / 2;
        way->count++;
        pthread_cond_signal(&way->changed);
        pthread_mutex_unlock(&way->lock);
    }
    return NULL;
}

static int send_all(int to, const unsigned char *bytes, size_t length) {
    for (size_t sent = 0; sent < length;) {
        ssize_t put = send(to, bytes + sent, length - sent, MSG_NOSIGNAL);
        if (put <= 0)
            return -1;
        sent += (size_t)put;
    }
    return 0;
}

/* Gives out the oldest piece; false at the end. */
static int give_one(struct way *way) {
    pthread_mutex_lock(&way->lock);
    while (way->count == 0)
        pthread_cond_wait(&way->changed, &way->lock);
    unsigned piece = way->first;
    pthread_mutex_unlock(&way->lock);
    size_t length = way->lengths[piece];
    if (way->due_ns[piece] > now_ns())
        sleep_until(way->due_ns[piece]);
    int failed = send_all(way->to, way->bytes + (size_t)piece * PIECE_BYTES, length) != 0;
    pthread_mutex_lock(&way->lock);
    way->first = (way->first + 1) % PIECES;
    way->count--;
    way->broken |= failed;
    pthread_cond_signal(&way->changed);
    pthread_mutex_unlock(&way->lock);
    return length > 0 && !failed;
}

static void *give(void *argument) {
    struct way *way = argument;
    prctl(PR_SET_TIMERSLACK, 1L);
    while (give_one(way))
        ;
    shutdown(way->to, SHUT_WR);
    if (way->broken)
        shutdown(way->from, SHUT_RD);
    pthread_join(way->taker, NULL);
    return NULL;
}

static void prepare(struct way *way, int from, int to) {
    int at_once = 1;
    setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    way->from = from;
    way->to = to;
    way->bytes = mmap(NULL, (size_t)PIECES * PIECE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pthread_mutex_init(&way->lock, NULL);
    pthread_cond_init(&way->changed, NULL);
    if (way->bytes == MAP_FAILED || pthread_create(&way->taker, NULL, take, way) != 0)
        abort();
}

static void forget(struct way *way) {
    munmap(way->bytes, (size_t)PIECES * PIECE_BYTES);
    pthread_mutex_destroy(&way->lock);
    pthread_cond_destroy(&way->changed);
}

/* A connection from its beginning to its end. */
static void *carry(void *argument) {
    struct connection *connection = argument;
    sleep_until(now_ns() + atomic_load(&round_trip_ns));
    connection->server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->server >= 0 &&
        connect(connection->server, (struct sockaddr *)&server, sizeof server) == 0) {
        pthread_t back;
        prepare(&connection->there, connection->client, connection->server);
        prepare(&connection->back, connection->server, connection->client);
        if (pthread_create(&back, NULL, give, &connection->back) != 0)
            abort();
        give(&connection->there);
        pthread_join(back, NULL);
        forget(&connection->there);
        forget(&connection->back);
    }
    if (connection->server >= 0)
        close(connection->server);
    close(connection->client);
    free(connection);
    return NULL;
}

static void *listen_for(void *argument) {
    int listener = *(int *)argument;
    for (;;) {
        int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        struct connection *connection = calloc(1, sizeof *connection);
        pthread_t thread;
        if (client < 0 || connection == NULL)
            abort();
        connection->client = client;
        if (pthread_create(&thread, NULL, carry, connection) != 0)
            abort();
        pthread_detach(thread);
    }
    return NULL;
}

static struct sockaddr_in address_of(const char *text) {
    char host[64];
    struct sockaddr_in address = {.sin_family = AF_INET};
    const char *colon = strrchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof host) {
        fprintf(stderr, "%s: HOST:PORT is expected\n", text);
        exit(2);
    }
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = 0;
    address.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1) {
        fprintf(stderr, "%s: not an address of IPv4\n", host);
        exit(2);
    }
    return address;
}

int main(int count, char **values) {
    if (count != 3) {
        fprintf(stderr, "usage: delay HOST:PORT SERVER_HOST:SERVER_PORT\n");
        return 2;
    }
    struct sockaddr_in here = address_of(values[1]);
    server = address_of(values[2]);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int reuse = 1;
    if (listener < 0) {
        perror("socket");
        return 1;
    }
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    if (bind(listener, (struct sockaddr *)&here, sizeof here) != 0 ||
        listen(listener, BACKLOG) != 0) {
        perror(values[1]);
        return 1;
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, listen_for, &listener) != 0)
        return 1;
    char line[64];
    while (puts("OK") >= 0 && fflush(stdout) == 0 && fgets(line, sizeof line, stdin) != NULL)
        atomic_store(&round_trip_ns, strtoll(line, NULL, 10) * 1000);
    return 0;
}
