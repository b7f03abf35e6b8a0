/*
 * The load of bench-alluxio. Everything that is read is checked (load.h).
 *
 *   load fill DIR FIRST_ID SIZES                       writes the files of a data set
 *   load epochs DIR FIRST_ID SIZES THREADS EPOCHS SECS reads all files, at least so many epochs
 *                                                      and seconds
 *   load check DIR FIRST_ID SIZES THREADS              reads all once and compares every byte
 *   load sequential FILE ID BYTES THREADS              each thread reads the whole file
 *   load drop FILE                                     takes its pages out of the page cache
 *   load random FILE ID BYTES THREADS SECONDS          4 KiB at random pages
 *   load pieces FILE ID BYTES PIECE SECONDS            pieces in a mixed order, none twice
 *   load create DIR FIRST_ID BYTES THREADS SECS MOST   makes f0, f1, ... and writes them whole
 *   load replace DIR FIRST_ID BYTES THREADS COUNT      empties f0, f1, ... and writes them anew
 *   load stat DIR FIRST_ID SIZES THREADS               stat of every file, in a mixed order
 *
 * Prints {"done": files or reads, "bytes": .., "errors": .., "seconds": ..}.
 */
#include "load.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct dataset set;
static atomic_ullong next;
static uint64_t least;  /* files to be done whatever the time */
static double until;    /* then, until this time */
static uint64_t most;   /* never more */
static int compare_all; /* every byte, not the stamps only */
/* A write. Of data sets as large as those of Alluxio's blocks: the size of pages may follow it. */
static size_t piece = BLOCK_BYTES;
static int made_by = O_CREAT | O_EXCL; /* or O_TRUNC: what is written is there already */
enum { FILL_BYTES = 1 << 20 };
static const char *file; /* of sequential, random and pieces */
static uint64_t stride = 7919;

/* Not the order of the names: a walk with a stride that shares no factor with the number of files.
 */
static uint64_t mixed(uint64_t turn) {
    return (turn % set.count * stride + turn / set.count * 31) % set.count;
}

static uint64_t common_factor(uint64_t a, uint64_t b) {
    return b == 0 ? a : common_factor(b, a % b);
}

static int right(struct worker *worker, uint64_t id, uint64_t offset, size_t bytes) {
    return compare_all ? content_equal(id, offset, worker->buffer, bytes, worker->scratch)
                       : content_stamped(id, offset, worker->buffer, bytes);
}

/* Reads one file from its beginning to its end through an open descriptor. */
static const char *read_through(struct worker *worker, int fd, uint64_t id, uint64_t size) {
    uint64_t offset = 0;
    for (;;) {
        size_t filled = 0;
        ssize_t got = 0;
        while (filled < BLOCK_BYTES &&
               (got = read(fd, worker->buffer + filled, BLOCK_BYTES - filled)) > 0)
            filled += (size_t)got;
        if (got < 0)
            return "read failed";
        if (!right(worker, id, offset, filled))
            return "wrong content";
        offset += filled;
        if (filled < BLOCK_BYTES)
            break;
    }
    worker->bytes += offset;
    return offset == size ? NULL : "wrong length";
}

static void read_file(struct worker *worker, const char *path, uint64_t id, uint64_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const char *failure = fd < 0 ? "open failed" : read_through(worker, fd, id, size);
    if (fd >= 0)
        close(fd);
    if (failure != NULL)
        complain(worker, failure, path);
    worker->done++;
}

static void epochs_body(struct worker *worker) {
    char path[4096];
    for (;;) {
        uint64_t turn = atomic_fetch_add(&next, 1);
        if (turn >= most || (turn >= least && now_seconds() >= until))
            return;
        uint64_t index = mixed(turn);
        dataset_path(&set, index, path, sizeof path);
        read_file(worker, path, set.first_id + index, set.sizes[index]);
    }
}

static void sequential_body(struct worker *worker) {
    read_file(worker, file, set.first_id, set.sizes[0]);
}

static void random_body(struct worker *worker) {
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        complain(worker, "open failed", file);
        return;
    }
    uint64_t pages = set.sizes[0] / PAGE_BYTES;
    uint64_t state = (uint64_t)worker->number * 977 + 12345;
    while ((worker->done & 63U) != 0 || now_seconds() < until) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        uint64_t offset = (state >> 33U) % pages * PAGE_BYTES;
        ssize_t got = pread(fd, worker->buffer, PAGE_BYTES, (off_t)offset);
        if (got != PAGE_BYTES || !content_stamped(set.first_id, offset, worker->buffer, PAGE_BYTES))
            complain(worker, got == PAGE_BYTES ? "wrong content" : "read failed", file);
        worker->done++;
        worker->bytes += PAGE_BYTES;
    }
    close(fd);
}

/* No piece twice, so that none comes from the page cache. */
static void pieces_body(struct worker *worker) {
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        complain(worker, "open failed", file);
        return;
    }
    for (uint64_t turn = 0; turn < set.count && now_seconds() < until; turn++) {
        uint64_t offset = mixed(turn) * piece;
        ssize_t got = pread(fd, worker->buffer, piece, (off_t)offset);
        if (got != (ssize_t)piece || !content_stamped(set.first_id, offset, worker->buffer, piece))
            complain(worker, got == (ssize_t)piece ? "wrong content" : "read failed", file);
        worker->done++;
        worker->bytes += piece;
    }
    close(fd);
}

static void write_file(struct worker *worker, unsigned char *buffer, const char *path, uint64_t id,
                       uint64_t size) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | made_by, 0644);
    if (fd < 0) {
        complain(worker, "open for writing failed", path);
        return;
    }
    int failed = 0;
    for (uint64_t offset = 0; offset < size && !failed; offset += piece) {
        size_t part = size - offset < piece ? (size_t)(size - offset) : piece;
        content_fill(id, offset, buffer, part);
        failed = write(fd, buffer, part) != (ssize_t)part;
    }
    if (close(fd) != 0 || failed)
        complain(worker, "write failed", path);
    worker->done++;
    worker->bytes += size;
}

static void fill_body(struct worker *worker) {
    char path[4096];
    unsigned char *buffer = aligned_alloc(PAGE_BYTES, piece);
    if (buffer == NULL)
        abort();
    for (;;) {
        uint64_t index = atomic_fetch_add(&next, 1);
        if (index >= most || (index >= least && now_seconds() >= until))
            break;
        dataset_path(&set, index, path, sizeof path);
        write_file(worker, buffer, path, set.first_id + index, set.sizes[index % set.count]);
    }
    free(buffer);
}

static void stat_body(struct worker *worker) {
    char path[4096];
    for (;;) {
        uint64_t turn = atomic_fetch_add(&next, 1);
        if (turn >= set.count)
            return;
        uint64_t index = mixed(turn);
        dataset_path(&set, index, path, sizeof path);
        struct stat about;
        if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) ||
            (uint64_t)about.st_size != set.sizes[index])
            complain(worker, "wrong attributes", path);
        worker->done++;
    }
}

static int take_dataset(char **values) {
    if (dataset_read(&set, values[2], values[3], values[4]) != 0)
        return -1;
    while (common_factor(stride, set.count) != 1)
        stride++;
    return 0;
}

/* A data set of one file, or of files of one size. */
static int take_one(const char *id, const char *bytes) {
    static uint64_t size;
    size = strtoull(bytes, NULL, 10);
    set.first_id = strtoull(id, NULL, 10);
    set.sizes = &size;
    set.count = 1;
    return size > 0 ? 0 : -1;
}

static int do_fill(char **values) {
    if (take_dataset(values) != 0)
        return 2;
    least = most = set.count;
    piece = FILL_BYTES;
    return run_threads(4, fill_body);
}

static int do_epochs(char **values) {
    if (take_dataset(values) != 0)
        return 2;
    least = strtoull(values[6], NULL, 10) * set.count;
    most = UINT64_MAX;
    until = now_seconds() + strtod(values[7], NULL);
    return run_threads(atoi(values[5]), epochs_body);
}

static int do_check(char **values) {
    if (take_dataset(values) != 0)
        return 2;
    least = most = set.count;
    compare_all = 1;
    return run_threads(atoi(values[5]), epochs_body);
}

static int do_sequential(char **values) {
    file = values[2];
    return take_one(values[3], values[4]) != 0 ? 2 : run_threads(atoi(values[5]), sequential_body);
}

static int do_drop(char **values) {
    int fd = open(values[2], O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        perror(values[2]);
        return 1;
    }
    int failed = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    return failed != 0;
}

static int do_random(char **values) {
    file = values[2];
    until = now_seconds() + strtod(values[6], NULL);
    return take_one(values[3], values[4]) != 0 ? 2 : run_threads(atoi(values[5]), random_body);
}

static int do_pieces(char **values) {
    file = values[2];
    piece = strtoull(values[5], NULL, 10);
    until = now_seconds() + strtod(values[6], NULL);
    if (piece == 0 || piece > BLOCK_BYTES || take_one(values[3], values[4]) != 0)
        return 2;
    set.count = set.sizes[0] / piece;
    while (common_factor(stride, set.count) != 1)
        stride++;
    return run_threads(1, pieces_body);
}

static int do_create(char **values) {
    set.folder = values[2];
    if (take_one(values[3], values[4]) != 0)
        return 2;
    least = 1;
    until = now_seconds() + strtod(values[6], NULL);
    most = strtoull(values[7], NULL, 10);
    return run_threads(atoi(values[5]), fill_body);
}

static int do_replace(char **values) {
    set.folder = values[2];
    if (take_one(values[3], values[4]) != 0)
        return 2;
    made_by = O_TRUNC;
    least = most = strtoull(values[6], NULL, 10);
    return run_threads(atoi(values[5]), fill_body);
}

static int do_stat(char **values) {
    return take_dataset(values) != 0 ? 2 : run_threads(atoi(values[5]), stat_body);
}

static const struct {
    const char *name;
    int arguments;
    int (*run)(char **values);
} commands[] = {
    {"fill", 5, do_fill},     {"epochs", 8, do_epochs},
    {"check", 6, do_check},   {"sequential", 6, do_sequential},
    {"drop", 3, do_drop},     {"random", 7, do_random},
    {"create", 8, do_create}, {"stat", 6, do_stat},
    {"pieces", 7, do_pieces}, {"replace", 7, do_replace},
};

int main(int count, char **values) {
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (count == commands[i].arguments && strcmp(values[1], commands[i].name) == 0)
            return commands[i].run(values);
    }
    fprintf(stderr, "usage: see the head of alluxio-adapter/bench/load.c\n");
    return 2;
}
