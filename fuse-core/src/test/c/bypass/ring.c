/*
 * Reads a file through io_uring, half of it at its offset, the other half by places, and prints a
 * sum.
 *
 *   ring FILE
 */
#include <fcntl.h>
#include <liburing.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 65536

/* What one read brings. */
static long read_piece(struct io_uring *ring, int fd, unsigned char *into, uint64_t offset) {
    struct io_uring_sqe *entry = io_uring_get_sqe(ring);
    struct io_uring_cqe *done;
    long count;
    io_uring_prep_read(entry, fd, into, PIECE, offset);
    if (io_uring_submit_and_wait(ring, 1) < 0 || io_uring_wait_cqe(ring, &done) != 0) {
        return -1;
    }
    count = done->res;
    io_uring_cqe_seen(ring, done);
    return count;
}

int main(int argc, char **argv) {
    static unsigned char piece[PIECE];
    struct io_uring ring;
    struct stat status;
    uint64_t sum = 0;
    uint64_t at = 0;
    int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &status) != 0 || io_uring_queue_init(4, &ring, 0) != 0) {
        perror("ring");
        return 1;
    }
    while (at < (uint64_t)status.st_size) {
        int by_offset = at < (uint64_t)status.st_size / 2;
        long count = read_piece(&ring, fd, piece, by_offset ? (uint64_t)-1 : at);
        if (count <= 0) {
            fprintf(stderr, "read at %llu gives %ld\n", (unsigned long long)at, count);
            return 1;
        }
        for (long i = 0; i < count; i++) {
            sum = sum * 31 + piece[i];
        }
        at += (uint64_t)count;
    }
    io_uring_queue_exit(&ring);
    close(fd);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
