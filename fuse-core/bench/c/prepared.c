/* A source of the benchmarks' file systems: files f0, f1, ... of one length, prepared data. The
 * argument is the length; when one is truncated, all have that length. Opens ask for direct I/O. */
#include <stdlib.h>
#include <string.h>

#include "null_fs.h"

enum { PERIOD_BYTES = 4096 };

const uint32_t source_open_flags = DIRECT_IO | NO_FLUSH | PARALLEL_DIRECT_WRITES;
static _Atomic uint64_t file_bytes;
static char *data;

void source_prepare(const char *argument) {
    file_bytes = strtoull(argument, NULL, 10);
    data = malloc(NULL_FS_MAX_WRITE + PERIOD_BYTES);
    if (data == NULL)
        abort();
    for (size_t i = 0; i < NULL_FS_MAX_WRITE + PERIOD_BYTES; i++)
        data[i] = (char)('a' + i % PERIOD_BYTES % 23);
}

uint64_t source_find(uint64_t directory, const char *name) {
    (void)directory;
    return name[0] == 'f' ? strtoull(name + 1, NULL, 10) + 2 : 0;
}

int source_is_directory(uint64_t node) {
    return node == 1;
}

uint64_t source_length(uint64_t node) {
    (void)node;
    return file_bytes;
}

void source_truncate(uint64_t bytes) {
    file_bytes = bytes;
}

void source_read(uint64_t node, uint64_t offset, char *reply, size_t bytes) {
    (void)node;
    memcpy(reply, data + offset % PERIOD_BYTES, bytes);
}
