/*
 * Threads that open, read, duplicate and close files at the same time, and compare every byte with
 * what a raw system call reads.
 *
 *   threads FOLDER SECONDS
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8
#define PIECE 30000

static const char *const names[] = {"one", "many"};
static char paths[2][4096];
static char *contents[2];
static off_t sizes[2];
static time_t end;
static atomic_long reads;
static atomic_long signals;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void load(int i) {
    struct stat status;
    long fd = syscall(SYS_openat, AT_FDCWD, paths[i], O_RDONLY, 0);
    if (fd < 0 || syscall(SYS_fstat, fd, &status) != 0) {
        fail(paths[i]);
    }
    sizes[i] = status.st_size;
    contents[i] = malloc((size_t)status.st_size);
    for (off_t at = 0; at < sizes[i];) {
        long got = syscall(SYS_pread64, fd, contents[i] + at, sizes[i] - at, at);
        if (got <= 0) {
            fail("read");
        }
        at += got;
    }
    syscall(SYS_close, fd);
}

static void compare(int i, const char *got, ssize_t count, off_t at) {
    if (count < 0 || at + count > sizes[i] || memcmp(got, contents[i] + at, (size_t)count) != 0) {
        fprintf(stderr, "%s: wrong bytes at %ld (%zd)\n", names[i], (long)at, count);
        exit(1);
    }
    atomic_fetch_add(&reads, 1);
}

/* Opens, reads and closes a file whose offset is nobody else's. */
static void use(int i, unsigned *seed) {
    char room[PIECE];
    struct stat status;
    int fd = open(paths[i], O_RDONLY);
    int copy = fd < 0 ? -1 : dup(fd);
    off_t at = rand_r(seed) % sizes[i];
    if (copy < 0 || fstat(copy, &status) != 0 || status.st_size != sizes[i]) {
        fail("open");
    }
    compare(i, room, pread(copy, room, sizeof room, at), at);
    close(fd);
    if (lseek(copy, at, SEEK_SET) != at) {
        fail("lseek");
    }
    for (int turn = 0; turn < 5; turn++) {
        ssize_t count = read(copy, room, sizeof room);
        compare(i, room, count, at);
        at += count;
    }
    close(copy);
}

static void *work(void *argument) {
    unsigned seed = (unsigned)(size_t)argument;
    while (time(NULL) < end) {
        use((int)(seed % 2), &seed);
    }
    return NULL;
}

/* open, read and close may be called by a handler. */
static void on_signal(int number) {
    char room[100];
    int i = (int)(atomic_fetch_add(&signals, 1) % 2);
    int fd = open(paths[i], O_RDONLY);
    (void)number;
    if (fd < 0 || read(fd, room, sizeof room) != sizeof room ||
        memcmp(room, contents[i], sizeof room) != 0 || close(fd) != 0) {
        abort();
    }
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct itimerval often = {.it_interval.tv_usec = 3000, .it_value.tv_usec = 3000};
    if (argc != 3) {
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", argv[1], names[i]);
        load(i);
    }
    end = time(NULL) + atoi(argv[2]);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, (void *)i);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    fprintf(stderr, "%ld reads, %ld signals\n", atomic_load(&reads), atomic_load(&signals));
    return atomic_load(&reads) == 0;
}
