/*
 * The load of bench-bypass: threads that each read a file in pieces of one size, by descriptors of
 * their own, which are open before the time begins: what an open costs is a load by itself.
 *
 *   transfers FILE ID BYTES TRANSFER THREADS SECONDS HOW
 *       HOW is once (from the beginning to the end, or as long as there is time), again (over and
 *       over), or direct (once, with O_DIRECT: each piece is a request to the file system)
 *   transfers opens FOLDER COUNT SECONDS
 *       opens and closes the files f0, f1, ... by turns, with one thread
 *
 * The stamp of every page that begins a piece is checked. Prints {"done": pieces or files,
 * "bytes": .., "errors": .., "seconds": ..}.
 */
#include "load.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *file;
static uint64_t id;
static uint64_t size;
static size_t transfer;
static double until;
static int flags = O_RDONLY | O_CLOEXEC;
static int again;
static int fds[MAX_THREADS];

static int right(const unsigned char *buffer, uint64_t offset, size_t bytes) {
    return offset % PAGE_BYTES != 0 ||
           content_stamped(id, offset, buffer, bytes < PAGE_BYTES ? bytes : PAGE_BYTES);
}

static void read_pieces(struct worker *worker, int fd, unsigned char *buffer) {
    uint64_t offset = 0;
    while ((worker->done & 63U) != 0 || now_seconds() < until) {
        ssize_t got = read(fd, buffer, transfer);
        if (got == 0 && offset == size && again) {
            offset = (uint64_t)lseek(fd, 0, SEEK_SET);
            continue;
        }
        if (got == 0 && offset == size)
            return;
        if (got <= 0 || !right(buffer, offset, (size_t)got)) {
            complain(worker, got > 0 ? "wrong content" : "read failed", file);
            return;
        }
        offset += (uint64_t)got;
        worker->done++;
        worker->bytes += (uint64_t)got;
    }
}

static void transfers_body(struct worker *worker) {
    unsigned char *buffer =
        aligned_alloc(PAGE_BYTES, transfer < PAGE_BYTES ? PAGE_BYTES : transfer);
    if (buffer == NULL)
        complain(worker, "no memory", file);
    else
        read_pieces(worker, fds[worker->number], buffer);
    free(buffer);
}

static int read_by(int threads, double seconds) {
    for (int i = 0; i < threads && i < MAX_THREADS; i++) {
        fds[i] = open(file, flags);
        if (fds[i] < 0) {
            perror(file);
            return 1;
        }
    }
    until = now_seconds() + seconds;
    return run_threads(threads, transfers_body);
}

static void opens_body(struct worker *worker) {
    char path[4096];
    while ((worker->done & 63U) != 0 || now_seconds() < until) {
        snprintf(path, sizeof path, "%s/f%llu", file, (unsigned long long)(worker->done % size));
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            complain(worker, "open failed", path);
        else
            close(fd);
        worker->done++;
    }
}

int main(int count, char **values) {
    if (count == 5 && strcmp(values[1], "opens") == 0) {
        file = values[2];
        size = strtoull(values[3], NULL, 10);
        until = now_seconds() + strtod(values[4], NULL);
        return run_threads(1, opens_body);
    }
    if (count != 8) {
        fprintf(stderr, "usage: see the head of alluxio-adapter/bench/transfers.c\n");
        return 2;
    }
    file = values[1];
    id = strtoull(values[2], NULL, 10);
    size = strtoull(values[3], NULL, 10);
    transfer = (size_t)strtoull(values[4], NULL, 10);
    again = strcmp(values[7], "again") == 0;
    flags |= strcmp(values[7], "direct") == 0 ? O_DIRECT : 0;
    return read_by(atoi(values[5]), strtod(values[6], NULL));
}
