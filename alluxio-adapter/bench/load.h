/*
 * What the parts of the load share: known content, threads that begin together, results.
 *
 * The content of a file follows from its id alone: 8-byte words, of which the first of each 4 KiB
 * page is the page's stamp. Timed reads check the stamp of every page and the length; `check`
 * compares every byte.
 */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { PAGE_BYTES = 4096, BLOCK_BYTES = 128 * 1024, MAX_THREADS = 256 };

/* The bytes of the file from an offset that is a multiple of the page. */
void content_fill(uint64_t id, uint64_t offset, unsigned char *buffer, size_t bytes);
/* Are the stamps of all pages that begin here right? The offset is a multiple of the page. */
int content_stamped(uint64_t id, uint64_t offset, const unsigned char *buffer, size_t bytes);
/* Is every byte right? Scratch holds as many bytes. */
int content_equal(uint64_t id, uint64_t offset, const unsigned char *buffer, size_t bytes,
                  unsigned char *scratch);

/* One thread of a load; it counts here, nobody else writes. */
struct worker {
    int number;
    uint64_t done;
    uint64_t bytes;
    uint64_t errors;
    unsigned char *buffer;
    unsigned char *scratch;
};

/* Runs the body in so many threads, gives each a buffer of BLOCK_BYTES and a scratch; prints done,
 * bytes, errors, seconds as JSON. Returns 0, or 1 if there were errors. */
int run_threads(int threads, void (*body)(struct worker *worker));

double now_seconds(void);
/* Tells the first failures of this process on standard error. */
void complain(struct worker *worker, const char *what, const char *path);

/* The file names of a folder: f0, f1, ... Sizes are read from a text file, one a line. */
struct dataset {
    const char *folder;
    uint64_t first_id;
    uint64_t count;
    uint64_t *sizes;
};
int dataset_read(struct dataset *set, const char *folder, const char *first_id,
                 const char *sizes_file);
void dataset_path(const struct dataset *set, uint64_t index, char *path, size_t bytes);

#endif
