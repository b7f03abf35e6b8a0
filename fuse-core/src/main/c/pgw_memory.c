#include "pgw_memory.h"

#include <errno.h>
#include <sys/mman.h>

void *pgw_memory_map(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void *pgw_memory_map_shared(int fd, size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int pgw_memory_map_at(int fd, size_t offset, size_t bytes, void *address) {
    void *memory = mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
                        fd, (off_t)offset);
    return memory == MAP_FAILED ? -errno : 0;
}

int pgw_memory_discard(void *memory, size_t bytes) {
    return madvise(memory, bytes, MADV_DONTNEED) != 0 ? -errno : 0;
}

int pgw_memory_unmap(void *memory, size_t bytes) {
    return munmap(memory, bytes) != 0 ? -errno : 0;
}
