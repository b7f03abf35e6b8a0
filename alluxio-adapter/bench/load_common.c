/* See load.h. */
#include "load.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_COMPLAINTS = 10 };

static uint64_t mix(uint64_t value) {
    value ^= value >> 30;
    value *= 0xBF58476D1CE4E5B9U;
    value ^= value >> 27;
    value *= 0x94D049BB133111EBU;
    return value ^ (value >> 31);
}

static uint64_t stamp_of(uint64_t id, uint64_t page) {
    return mix((id << 32) + page + 0x9E3779B97F4A7C15U);
}

static void page_fill(uint64_t id, uint64_t page, unsigned char *to) {
    uint64_t word = stamp_of(id, page);
    for (size_t at = 0; at < PAGE_BYTES; at += sizeof word) {
        memcpy(to + at, &word, sizeof word);
        word += 0x9E3779B97F4A7C15U;
    }
}

void content_fill(uint64_t id, uint64_t offset, unsigned char *buffer, size_t bytes) {
    unsigned char page[PAGE_BYTES];
    for (size_t at = 0; at < bytes; at += PAGE_BYTES) {
        size_t part = bytes - at < PAGE_BYTES ? bytes - at : PAGE_BYTES;
        page_fill(id, (offset + at) / PAGE_BYTES, page);
        memcpy(buffer + at, page, part);
    }
}

int content_stamped(uint64_t id, uint64_t offset, const unsigned char *buffer, size_t bytes) {
    uint64_t different = 0;
    for (size_t at = 0; at + sizeof different <= bytes; at += PAGE_BYTES) {
        uint64_t seen = 0;
        memcpy(&seen, buffer + at, sizeof seen);
        different |= seen ^ stamp_of(id, (offset + at) / PAGE_BYTES);
    }
    return different == 0;
}

int content_equal(uint64_t id, uint64_t offset, const unsigned char *buffer, size_t bytes,
                  unsigned char *scratch) {
    content_fill(id, offset, scratch, bytes);
    return memcmp(buffer, scratch, bytes) == 0;
}

double now_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void complain(struct worker *worker, const char *what, const char *path) {
    static atomic_int complaints;
    worker->errors++;
    if (atomic_fetch_add(&complaints, 1) < MOST_COMPLAINTS)
        fprintf(stderr, "%s: %s (%s)\n", path, what, strerror(errno));
}

/* Times are taken by the threads themselves: who waits for them is let on by the scheduler when a
 * short load may be over. */
struct start {
    struct worker worker;
    pthread_t thread;
    double began;
    double ended;
    pthread_barrier_t *together;
    void (*body)(struct worker *worker);
};

static void *start_thread(void *argument) {
    struct start *start = argument;
    pthread_barrier_wait(start->together);
    start->began = now_seconds();
    start->body(&start->worker);
    start->ended = now_seconds();
    return NULL;
}

static void prepare(struct start *start, int number) {
    start->worker.number = number;
    start->worker.buffer = aligned_alloc(PAGE_BYTES, BLOCK_BYTES);
    start->worker.scratch = aligned_alloc(PAGE_BYTES, BLOCK_BYTES);
    if (start->worker.buffer == NULL || start->worker.scratch == NULL)
        abort();
    memset(start->worker.buffer, 0, BLOCK_BYTES);
    memset(start->worker.scratch, 0, BLOCK_BYTES);
}

static int report(const struct start *all, int threads) {
    struct worker sum = {0};
    double began = all[0].began;
    double ended = all[0].ended;
    for (int i = 0; i < threads; i++) {
        began = all[i].began < began ? all[i].began : began;
        ended = all[i].ended > ended ? all[i].ended : ended;
        sum.done += all[i].worker.done;
        sum.bytes += all[i].worker.bytes;
        sum.errors += all[i].worker.errors;
    }
    printf("{\"done\": %llu, \"bytes\": %llu, \"errors\": %llu, \"seconds\": %.6f}\n",
           (unsigned long long)sum.done, (unsigned long long)sum.bytes,
           (unsigned long long)sum.errors, ended - began);
    return sum.errors == 0 ? 0 : 1;
}

int run_threads(int threads, void (*body)(struct worker *worker)) {
    if (threads < 1 || threads > MAX_THREADS) {
        fprintf(stderr, "%d threads: 1 to %d are allowed\n", threads, MAX_THREADS);
        return 2;
    }
    static struct start all[MAX_THREADS];
    pthread_barrier_t together;
    pthread_barrier_init(&together, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        prepare(&all[i], i);
        all[i].together = &together;
        all[i].body = body;
        if (pthread_create(&all[i].thread, NULL, start_thread, &all[i]) != 0)
            abort();
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(all[i].thread, NULL);
        free(all[i].worker.buffer);
        free(all[i].worker.scratch);
    }
    pthread_barrier_destroy(&together);
    return report(all, threads);
}

int dataset_read(struct dataset *set, const char *folder, const char *first_id,
                 const char *sizes_file) {
    FILE *file = fopen(sizes_file, "re");
    if (file == NULL) {
        perror(sizes_file);
        return -1;
    }
    set->folder = folder;
    set->first_id = strtoull(first_id, NULL, 10);
    set->count = 0;
    uint64_t room = 1024;
    set->sizes = malloc(room * sizeof *set->sizes);
    char line[64];
    while (set->sizes != NULL && fgets(line, sizeof line, file) != NULL) {
        if (set->count == room) {
            room *= 2;
            uint64_t *more = realloc(set->sizes, room * sizeof *set->sizes);
            if (more == NULL)
                abort();
            set->sizes = more;
        }
        set->sizes[set->count++] = strtoull(line, NULL, 10);
    }
    fclose(file);
    return set->count > 0 ? 0 : -1;
}

void dataset_path(const struct dataset *set, uint64_t index, char *path, size_t bytes) {
    snprintf(path, bytes, "%s/f%llu", set->folder, (unsigned long long)index);
}
