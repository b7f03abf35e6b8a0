/*
 * Load for the benchmarks: threads that open, read (or write) whole and close the files f0 ...
 * f<N-1> of a folder, in turns of their own, until the time is over.
 *
 *   load read|write|stat DIRECTORY FILES BLOCK_BYTES THREADS SECONDS
 *
 * Prints one JSON object: files and bytes per second, errors, the 50th and 99th percentile of one
 * file in µs, the CPU time that the load itself took, and how long it went on. Read data is checked
 * at both ends of every block: the byte at offset o is 'a' + o % 4096 % 23; a wrong one counts as
 * an error.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MODE_READ, MODE_WRITE, MODE_STAT, BUCKETS = 64 * 16, MAX_THREADS = 1024 };

struct work {
    pthread_t thread;
    int number;
    uint64_t files;
    uint64_t bytes;
    uint64_t errors;
    uint32_t buckets[BUCKETS];
};

static int mode;
static const char *directory;
static long files;
static size_t block_bytes;
static int threads;
static double seconds;
static atomic_int stop;

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

/* Sixteen buckets per power of two: within 6 % of the value. */
static unsigned bucket_of(uint64_t ns) {
    if (ns < 16)
        return (unsigned)ns;
    unsigned power = 63U - (unsigned)__builtin_clzll(ns);
    return (power - 3U) * 16U + (unsigned)((ns >> (power - 4U)) & 15U);
}

static double bucket_us(unsigned bucket) {
    if (bucket < 16)
        return bucket / 1000.0;
    unsigned power = bucket / 16U + 3U;
    return (double)((16ULL + (bucket & 15U)) << (power - 4U)) / 1000.0;
}

static char byte_at(uint64_t offset) {
    return (char)('a' + offset % 4096 % 23);
}

static int read_file(const char *path, char *buffer, struct work *work) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    uint64_t at = 0;
    bool wrong = false;
    ssize_t got;
    while ((got = read(fd, buffer, block_bytes)) > 0) {
        wrong |= buffer[0] != byte_at(at) || buffer[got - 1] != byte_at(at + (uint64_t)got - 1);
        at += (uint64_t)got;
    }
    work->bytes += at;
    close(fd);
    return got < 0 || wrong || at != block_bytes ? -1 : 0;
}

static int write_file(const char *path, const char *buffer, struct work *work) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t put = write(fd, buffer, block_bytes);
    if (put > 0)
        work->bytes += (uint64_t)put;
    return close(fd) != 0 || put != (ssize_t)block_bytes ? -1 : 0;
}

static int do_one(const char *path, char *buffer, struct work *work) {
    struct stat about;
    switch (mode) {
    case MODE_READ:
        return read_file(path, buffer, work);
    case MODE_WRITE:
        return write_file(path, buffer, work);
    default:
        return stat(path, &about);
    }
}

static void *run(void *argument) {
    struct work *work = argument;
    char *buffer = aligned_alloc(4096, (block_bytes + 4095) / 4096 * 4096);
    if (buffer == NULL)
        abort();
    memset(buffer, 'x', block_bytes);
    char path[4096];
    for (long next = work->number * files / threads;
         !atomic_load_explicit(&stop, memory_order_relaxed); next++) {
        snprintf(path, sizeof path, "%s/f%ld", directory, next % files);
        uint64_t began = now_ns();
        if (do_one(path, buffer, work) != 0)
            work->errors++;
        work->buckets[bucket_of(now_ns() - began)]++;
        work->files++;
    }
    free(buffer);
    return NULL;
}

static double percentile(const struct work *all, double part) {
    uint64_t total = 0;
    for (int i = 0; i < threads; i++)
        total += all[i].files;
    uint64_t seen = 0;
    for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
        for (int i = 0; i < threads; i++)
            seen += all[i].buckets[bucket];
        if ((double)seen >= part * (double)total)
            return bucket_us(bucket);
    }
    return 0;
}

static void report(const struct work *all, double took_seconds) {
    uint64_t done = 0;
    uint64_t bytes = 0;
    uint64_t errors = 0;
    for (int i = 0; i < threads; i++) {
        done += all[i].files;
        bytes += all[i].bytes;
        errors += all[i].errors;
    }
    struct rusage own;
    getrusage(RUSAGE_SELF, &own);
    double cpu_s = (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) +
                   (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec) / 1e6;
    printf("{\"files_per_s\": %.1f, \"bytes_per_s\": %.0f, \"errors\": %llu, \"p50_us\": %.1f, "
           "\"p99_us\": %.1f, \"cpu_s\": %.3f, \"took_s\": %.3f}\n",
           (double)done / took_seconds, (double)bytes / took_seconds, (unsigned long long)errors,
           percentile(all, 0.5), percentile(all, 0.99), cpu_s, took_seconds);
}

static bool take_arguments(char **values) {
    mode = MODE_READ;
    if (strcmp(values[1], "write") == 0)
        mode = MODE_WRITE;
    else if (strcmp(values[1], "stat") == 0)
        mode = MODE_STAT;
    directory = values[2];
    files = strtol(values[3], NULL, 10);
    block_bytes = strtoul(values[4], NULL, 10);
    threads = (int)strtol(values[5], NULL, 10);
    seconds = strtod(values[6], NULL);
    return files > 0 && block_bytes > 0 && threads > 0 && threads <= MAX_THREADS && seconds > 0;
}

int main(int count, char **values) {
    if (count != 7 || !take_arguments(values)) {
        fprintf(stderr,
                "usage: load read|write|stat DIRECTORY FILES BLOCK_BYTES THREADS SECONDS\n"
                "all numbers positive, up to %d threads\n",
                MAX_THREADS);
        return 2;
    }
    struct work *all = calloc((size_t)threads, sizeof *all);
    if (all == NULL)
        return 1;
    uint64_t began = now_ns();
    for (int i = 0; i < threads; i++) {
        all[i].number = i;
        if (pthread_create(&all[i].thread, NULL, run, &all[i]) != 0)
            return 1;
    }
    struct timespec pause = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&pause, NULL);
    atomic_store(&stop, 1);
    for (int i = 0; i < threads; i++)
        pthread_join(all[i].thread, NULL);
    report(all, (double)(now_ns() - began) / 1e9);
    free(all);
    return 0;
}
