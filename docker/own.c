// Gives a folder and all that lies in it to a user, who alone may then use it, or with "shown"
// change it while others look: own USER-ID FOLDER [shown|top|if-possible]. For the gateway's
// folders, which the kubelet makes for root, and in which another user's files lie when the gateway
// ran as that one before. With "top", what lies in it is not looked at where the folder itself is
// the user's: for a gateway that runs as root, whose files are then root's. With "if-possible", for
// the data cache, neither, as there may be a million files; and a disk that fails is left to the
// gateway, which can do without.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PERMISSIONS = 07777, OTHERS_WRITE = 022, DEPTH_MAX = 64 };

static uid_t user;
static dev_t device;

static int report(const char *name) {
    perror(name);
    return -1;
}

// Names of folders that are not to be walked.
static int is_dots(const char *name) {
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

// A mount in the folder is another's. So may be a file with several names: who owns the folder can
// give it one of a foreign file, and the gateway makes none.
static int is_foreign(const char *name, const struct stat *entry) {
    if (entry->st_dev != device) {
        return 1;
    }
    if (S_ISDIR(entry->st_mode) || entry->st_nlink < 2 || entry->st_uid == user) {
        return 0;
    }
    fprintf(stderr, "own: %s has several names; it stays user %u's\n", name,
            (unsigned)entry->st_uid);
    return 1;
}

typedef int (*visitor)(int folder, const char *name, const struct stat *entry, int depth);

// Takes the descriptor. Ends at the first visit that does not return 0, and returns that.
static int each(int folder, visitor visit, int depth) {
    DIR *entries = depth < DEPTH_MAX ? fdopendir(folder) : NULL;
    if (entries == NULL) {
        perror(depth < DEPTH_MAX ? "own: fdopendir" : "own: too many folders in one another");
        close(folder);
        return -1;
    }
    int result = 0;
    struct dirent *found;
    while (result == 0 && (errno = 0, found = readdir(entries)) != NULL) {
        struct stat entry;
        if (is_dots(found->d_name)) {
            continue;
        }
        if (fstatat(folder, found->d_name, &entry, AT_SYMLINK_NOFOLLOW) != 0) {
            result = errno == ENOENT ? 0 : report(found->d_name);
        } else {
            result = visit(folder, found->d_name, &entry, depth);
        }
    }
    if (result == 0 && errno != 0) {
        result = report("own: readdir");
    }
    closedir(entries);
    return result;
}

static int open_folder(int at, const char *name) {
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// 1: something in it is not the user's. Changes nothing, as a gateway may be at work in it.
static int look(int at, const char *name, const struct stat *entry, int depth) {
    if (entry->st_dev != device) {
        return 0;
    }
    if (entry->st_uid != user) {
        return S_ISDIR(entry->st_mode) || entry->st_nlink < 2;
    }
    if (!S_ISDIR(entry->st_mode)) {
        return 0;
    }
    int folder = open_folder(at, name);
    if (folder < 0) {
        return errno == ENOENT ? 0 : 1;
    }
    return each(folder, look, depth + 1);
}

// While its content is given away a folder is root's, so that nobody can exchange what was looked
// at. So `at` is.
static int give(int at, const char *name, const struct stat *entry, int depth) {
    if (is_foreign(name, entry)) {
        return 0;
    }
    if (!S_ISDIR(entry->st_mode)) {
        return entry->st_uid == user || fchownat(at, name, user, user, AT_SYMLINK_NOFOLLOW) == 0
                   ? 0
                   : report(name);
    }
    mode_t mode = entry->st_mode & PERMISSIONS;
    if (fchownat(at, name, 0, 0, AT_SYMLINK_NOFOLLOW) != 0) {
        return report(name);
    }
    int folder = open_folder(at, name);
    int kept = folder < 0 ? -1 : fcntl(folder, F_DUPFD_CLOEXEC, 0);
    if (kept < 0 || fchmod(kept, (mode | S_IRWXU) & ~(mode_t)OTHERS_WRITE) != 0) {
        return report(name);
    }
    int result = each(folder, give, depth + 1);
    // The mode first: it is not root's to change any more, once the folder is not.
    if (result == 0 && (fchmod(kept, mode) != 0 || fchown(kept, user, user) != 0)) {
        result = report(name);
    }
    close(kept);
    return result;
}

static int give_all(const char *path, mode_t mode, int looks_inside) {
    struct stat top;
    if (lstat(path, &top) != 0) {
        return report(path);
    }
    if (!S_ISDIR(top.st_mode)) {
        fprintf(stderr, "own: %s is no folder\n", path);
        return -1;
    }
    device = top.st_dev;
    int others = top.st_uid != user || top.st_gid != user ||
                 (looks_inside && look(AT_FDCWD, path, &top, 0) != 0);
    if (others && give(AT_FDCWD, path, &top, 0) != 0) {
        return -1;
    }
    if (!others && (top.st_mode & PERMISSIONS) == mode) {
        return 0;
    }
    return chmod(path, mode) == 0 ? 0 : report(path);
}

// Of its options: 0, or -1 if there is no such one.
static int read_option(const char *option, int *shown, int *shallow, int *lenient) {
    *shown = strcmp(option, "shown") == 0;
    *lenient = strcmp(option, "if-possible") == 0;
    *shallow = *lenient || strcmp(option, "top") == 0;
    return *shown || *shallow ? 0 : -1;
}

int main(int argc, char **argv) {
    char *end = NULL;
    int shown = 0, shallow = 0, lenient = 0;
    int known = argc == 3 || (argc == 4 && read_option(argv[3], &shown, &shallow, &lenient) == 0);
    unsigned long number = known ? strtoul(argv[1], &end, 10) : 0;
    if (end == NULL || end == argv[1] || *end != '\0' || number > 0xfffffffeUL) {
        fputs("own: give a numeric user id, a folder, and optionally: shown, top or if-possible\n",
              stderr);
        return 2;
    }
    user = (uid_t)number;
    int result = give_all(argv[2], shown ? 0755 : 0700, !shallow);
    return result == 0 || lenient ? 0 : 1;
}
