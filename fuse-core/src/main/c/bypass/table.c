#include "table.h"

#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FILES 256
/* Of a file's users: nobody may join. */
#define NOT_READY 0x80000000U
#define WANTED_LIMIT 16384
#ifndef F_DUPFD_QUERY /* Linux 6.10 */
#define F_DUPFD_QUERY 1027
#endif

/* The block file that a descriptor is; inode 0: none. The device is written before the inode. */
struct single {
    _Atomic uint64_t device;
    _Atomic uint64_t inode;
};

static struct single singles[PGW_DESCRIPTORS];
_Atomic(struct pgw_file *) pgw_files_by_fd[PGW_DESCRIPTORS];
static struct pgw_file files[FILES];
/* Of a descriptor of several blocks: so many times its inode was compared; or what is beyond. */
static _Atomic uint8_t witnesses[PGW_DESCRIPTORS];
enum { WORTH_A_WITNESS = 16, MAKING_WITNESS, WITHOUT_WITNESS, WITNESSED };
/* By descriptor less PGW_HELD: does it hold a block? */
static _Atomic bool held[PGW_HELD_END - PGW_HELD];
static _Atomic bool used;
static _Atomic pid_t process;

/* System calls that are no cancellation points and that nobody interposes. */
static int raw_close(int fd) {
    return (int)pgw_raw(SYS_close, fd);
}

static int raw_fcntl(int fd, int command, int argument) {
    return (int)pgw_raw(SYS_fcntl, fd, command, argument);
}

bool pgw_identity_of(int fd, struct pgw_identity *identity) {
    struct statx status;
    if (pgw_raw(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &status) != 0) {
        return false;
    }
    identity->device = makedev(status.stx_dev_major, status.stx_dev_minor);
    identity->inode = status.stx_ino;
    return true;
}

bool pgw_table_is_ours(void) {
    pid_t known = atomic_load(&process);
    return known == 0 || known == (pid_t)pgw_raw(SYS_getpid);
}

void pgw_table_forked(void) {
    atomic_store(&process, (pid_t)pgw_raw(SYS_getpid));
}

bool pgw_table_used(void) {
    return atomic_load(&used);
}

static void use_table(void) {
    if (atomic_load(&process) == 0) {
        pgw_table_forked();
    }
    atomic_store(&used, true);
}

static bool is_single(int fd) {
    return (unsigned)fd < PGW_DESCRIPTORS && atomic_load(&singles[fd].inode) != 0;
}

static void forget_single(int fd) {
    if (atomic_exchange(&singles[fd].inode, 0) != 0) {
        raw_close(PGW_TWINS + fd);
    }
}

/* Is the witness there, and the number not the program's? */
static bool is_witnessed(int fd) {
    return (unsigned)fd < PGW_DESCRIPTORS && atomic_load(&witnesses[fd]) == WITNESSED;
}

static void forget_witness(int fd) {
    if (atomic_exchange(&witnesses[fd], 0) == WITNESSED) {
        raw_close(PGW_TWINS + fd);
    }
}

int pgw_twin(int fd) {
    struct pgw_identity now;
    int error = errno;
    int twin = fd;

    if (!is_single(fd)) {
        return fd;
    }
    if (pgw_identity_of(fd, &now) && now.inode == atomic_load(&singles[fd].inode) &&
        now.device == atomic_load(&singles[fd].device)) {
        twin = raw_fcntl(PGW_TWINS + fd, F_GETFD, 0) < 0 ? fd : PGW_TWINS + fd;
    } else if (pgw_table_is_ours()) {
        forget_single(fd);
    }
    errno = error;
    return twin;
}

/* Without a table to tell: is it a twin, as far as can be seen? */
static bool looks_like_twin(int fd) {
    struct statx twin;
    struct statx file;
    int error = errno;
    bool like = pgw_raw(SYS_statx, fd - PGW_TWINS, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                        STATX_TYPE | STATX_SIZE, &file) == 0 &&
                pgw_raw(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                        STATX_TYPE | STATX_SIZE, &twin) == 0 &&
                S_ISREG(twin.stx_mode) && S_ISREG(file.stx_mode) &&
                twin.stx_size == file.stx_size && twin.stx_dev_major == 0;
    errno = error;
    return like;
}

bool pgw_is_hidden(int fd) {
    if (fd < PGW_TWINS || fd >= PGW_HELD_END || !pgw_table_used()) {
        return false;
    }
    if (fd >= PGW_HELD) {
        return pgw_table_is_ours() && atomic_load(&held[fd - PGW_HELD]);
    }
    return pgw_table_is_ours() ? is_single(fd - PGW_TWINS) || is_witnessed(fd - PGW_TWINS)
                               : looks_like_twin(fd);
}

/* Our numbers lie above those that programs use: the soft limit must allow them. */
static void allow_numbers(void) {
    static _Atomic bool allowed;
    struct rlimit limit;
    if (atomic_exchange(&allowed, true) ||
        pgw_raw(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) != 0) {
        return;
    }
    if (limit.rlim_cur < WANTED_LIMIT && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max < WANTED_LIMIT ? limit.rlim_max : WANTED_LIMIT;
        pgw_raw(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL);
    }
}

void pgw_table_make_room(void) {
    struct rlimit given;
    struct rlimit wide;
    int root = (int)pgw_raw(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0);
    if (root >= 0 && pgw_raw(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &given) == 0) {
        wide = given;
        wide.rlim_cur = given.rlim_max < PGW_HELD_END ? given.rlim_max : PGW_HELD_END;
        bool lifted = given.rlim_cur < wide.rlim_cur &&
                      pgw_raw(SYS_prlimit64, 0, RLIMIT_NOFILE, &wide, NULL) == 0;
        raw_close(raw_fcntl(root, F_DUPFD_CLOEXEC, (int)wide.rlim_cur - 1));
        if (lifted) {
            pgw_raw(SYS_prlimit64, 0, RLIMIT_NOFILE, &given, NULL);
        }
    }
    raw_close(root);
}

/* A duplicate with this very number; false: it is taken, or not allowed. */
static bool duplicate_at(int fd, int number, bool close_on_exec) {
    int made = raw_fcntl(fd, close_on_exec ? F_DUPFD_CLOEXEC : F_DUPFD, number);
    if (made >= 0 && made != number) {
        raw_close(made);
    }
    return made == number;
}

static void set_single(int fd, const struct pgw_identity *block) {
    use_table();
    atomic_store(&singles[fd].device, block->device);
    atomic_store(&singles[fd].inode, block->inode);
}

bool pgw_single_begin(int fd, int block, bool close_on_exec) {
    struct pgw_identity identity;
    bool begun = false;

    allow_numbers();
    if (fd < PGW_DESCRIPTORS && pgw_identity_of(block, &identity) &&
        duplicate_at(fd, PGW_TWINS + fd, close_on_exec)) {
        begun = pgw_raw(SYS_dup3, block, fd, close_on_exec ? O_CLOEXEC : 0) == fd;
        if (begun) {
            set_single(fd, &identity);
        } else {
            raw_close(PGW_TWINS + fd);
        }
    }
    raw_close(block);
    return begun;
}

void pgw_single_found(int fd, const struct pgw_identity *block) {
    set_single(fd, block);
}

void pgw_single_end(int fd) {
    int error = errno;
    int twin = pgw_twin(fd);
    long flags = raw_fcntl(fd, F_GETFD, 0);
    if (twin != fd && flags >= 0) {
        pgw_raw(SYS_lseek, twin, pgw_raw(SYS_lseek, fd, 0, SEEK_CUR), SEEK_SET);
        pgw_raw(SYS_dup3, twin, fd, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
        pgw_release(fd);
    }
    errno = error;
}

struct pgw_file *pgw_file_reserve(void) {
    for (int i = 0; i < FILES; i++) {
        uint32_t unused = 0;
        if (atomic_compare_exchange_strong(&files[i].users, &unused, NOT_READY)) {
            files[i].blocks = 0;
            return &files[i];
        }
    }
    return NULL;
}

void pgw_file_abandon(struct pgw_file *file) {
    for (uint32_t i = 0; i < file->blocks; i++) {
        int fd = atomic_load(&file->fds[i]);
        if (fd >= PGW_HELD) {
            raw_close(fd);
            atomic_store(&held[fd - PGW_HELD], false);
        }
    }
    atomic_store(&file->users, 0);
}

void pgw_file_publish(struct pgw_file *file) {
    atomic_store(&file->users, 1);
}

static bool join(struct pgw_file *file) {
    uint32_t users = atomic_load(&file->users);
    while (users > 0 && users < NOT_READY) {
        if (atomic_compare_exchange_weak(&file->users, &users, users + 1)) {
            return true;
        }
    }
    return false;
}

void pgw_file_unref(struct pgw_file *file) {
    uint32_t users = atomic_load(&file->users);
    while (
        !atomic_compare_exchange_weak(&file->users, &users, users == 1 ? NOT_READY : users - 1)) {
    }
    if (users == 1) {
        pgw_file_abandon(file);
    }
}

struct pgw_file *pgw_file_find(const struct pgw_identity *identity) {
    for (int i = 0; i < FILES; i++) {
        struct pgw_file *file = &files[i];
        if (atomic_load(&file->users) == 0 || !join(file)) {
            continue;
        }
        if (file->identity.device == identity->device && file->identity.inode == identity->inode) {
            return file;
        }
        pgw_file_unref(file);
    }
    return NULL;
}

void pgw_file_attach(int fd, struct pgw_file *file) {
    use_table();
    forget_witness(fd);
    atomic_store(&pgw_files_by_fd[fd], file);
}

static void forget_file(int fd) {
    struct pgw_file *file = atomic_exchange(&pgw_files_by_fd[fd], NULL);
    forget_witness(fd);
    if (file != NULL) {
        pgw_file_unref(file);
    }
}

/*
 * Who reads often gets a witness: a duplicate of the descriptor, in the place of a twin. Whether
 * two descriptors are of one open file costs less to ask than an inode.
 */
static void count_to_witness(int fd) {
    uint8_t seen = atomic_load(&witnesses[fd]);
    bool made;
    if (seen < WORTH_A_WITNESS) {
        atomic_compare_exchange_strong(&witnesses[fd], &seen, seen + 1);
    } else if (seen == WORTH_A_WITNESS && pgw_table_is_ours() &&
               atomic_compare_exchange_strong(&witnesses[fd], &seen, MAKING_WITNESS)) {
        made = raw_fcntl(fd, F_DUPFD_QUERY, fd) == 1 && duplicate_at(fd, PGW_TWINS + fd, true);
        seen = MAKING_WITNESS;
        if (!atomic_compare_exchange_strong(&witnesses[fd], &seen,
                                            made ? WITNESSED : WITHOUT_WITNESS) &&
            made) {
            raw_close(PGW_TWINS + fd); /* the descriptor was closed meanwhile */
        }
    }
}

/* Is fd still the file, as far as it concerns what is read from it? */
static bool is_still(int fd, const struct pgw_file *file) {
    struct pgw_identity now;
    if (is_witnessed(fd) && raw_fcntl(fd, F_DUPFD_QUERY, PGW_TWINS + fd) == 1) {
        return true;
    }
    if (!pgw_identity_of(fd, &now) || now.inode != file->identity.inode ||
        now.device != file->identity.device) {
        return false;
    }
    count_to_witness(fd);
    return true;
}

struct pgw_file *pgw_file_get(int fd) {
    struct pgw_file *file = atomic_load(&pgw_files_by_fd[fd]);
    int error = errno;

    if (file == NULL || !join(file)) {
        return NULL;
    }
    if (atomic_load(&pgw_files_by_fd[fd]) == file && is_still(fd, file)) {
        errno = error;
        return file;
    }
    if (pgw_table_is_ours()) {
        forget_file(fd);
    }
    pgw_file_unref(file);
    errno = error;
    return NULL;
}

int pgw_hold(int fd) {
    int moved;
    allow_numbers();
    moved = raw_fcntl(fd, F_DUPFD_CLOEXEC, PGW_HELD);
    raw_close(fd);
    if (moved >= PGW_HELD_END) {
        raw_close(moved);
        moved = -1;
    }
    if (moved >= 0) {
        atomic_store(&held[moved - PGW_HELD], true);
    }
    return moved;
}

void pgw_release(int fd) {
    int error = errno;
    if ((unsigned)fd >= PGW_DESCRIPTORS || (!is_single(fd) && !pgw_may_be_file(fd))) {
        return;
    }
    if (pgw_table_is_ours()) {
        forget_single(fd);
        forget_file(fd);
    } else if (is_single(fd)) {
        raw_close(PGW_TWINS + fd);
    }
    errno = error;
}

/* Moves a held block out of the way. */
static void move_held(int number) {
    for (int i = 0; i < FILES; i++) {
        struct pgw_file *file = &files[i];
        if (!join(file)) {
            continue;
        }
        for (uint32_t b = 0; b < file->blocks; b++) {
            if (atomic_load(&file->fds[b]) == number) {
                int other = pgw_hold((int)pgw_raw(SYS_dup, number));
                atomic_store(&file->fds[b], other);
                atomic_store(&held[number - PGW_HELD], false);
            }
        }
        pgw_file_unref(file);
    }
}

void pgw_vacate(int to) {
    int error = errno;
    if (pgw_is_hidden(to) && pgw_table_is_ours()) {
        if (to < PGW_HELD) {
            forget_single(to - PGW_TWINS);
            forget_witness(to - PGW_TWINS);
        } else {
            move_held(to);
        }
    }
    errno = error;
}

void pgw_follow(int from, int to, bool close_on_exec) {
    int error = errno;
    struct pgw_file *file;
    if ((unsigned)from >= PGW_DESCRIPTORS || (unsigned)to >= PGW_DESCRIPTORS || from == to) {
        return;
    }
    if (pgw_twin(from) != from) {
        if (duplicate_at(PGW_TWINS + from, PGW_TWINS + to, close_on_exec) && pgw_table_is_ours()) {
            struct pgw_identity block = {atomic_load(&singles[from].device),
                                         atomic_load(&singles[from].inode)};
            set_single(to, &block);
        }
    } else if (pgw_may_be_file(from) && pgw_table_is_ours()) {
        file = pgw_file_get(from);
        if (file != NULL) {
            pgw_file_attach(to, file);
        }
    }
    errno = error;
}
