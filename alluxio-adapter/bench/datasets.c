/*
 * A source of the benchmarks' file systems (fuse-core/bench/c/null_fs.h): folders of files whose
 * content follows from their ids. Opens let the kernel keep its pages, as those of files that did
 * not change. The argument names the folders, their first ids, the files of their sizes, and where
 * the same files are already: NAME:FIRST_ID:SIZES:FOLDER,... A folder of one file is read from
 * there, as a block file is; of others the content is made when it is asked for.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "null_fs.h"

enum { ROOT = 1, FIRST_FOLDER = 2, MOST_FOLDERS = 8, FIRST_FILE = 16 };

const uint32_t source_open_flags = KEEP_CACHE | NO_FLUSH;
static struct dataset sets[MOST_FOLDERS];
static uint64_t folders;
static int only_file[MOST_FOLDERS]; /* open, of a folder of one file; else -1 */
static char *words; /* the argument, cut into pieces: the names of the folders are in it */

static void give_up(const char *why, const char *what) {
    fprintf(stderr, "datasets: %s: %s\n", why, what);
    exit(2);
}

static int open_only_file(const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/f0", folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        give_up("cannot be opened", path);
    return fd;
}

void source_prepare(const char *argument) {
    words = strdup(argument);
    char *rest = words;
    for (char *name = strsep(&rest, ":"); name != NULL; name = strsep(&rest, ":")) {
        const char *first_id = strsep(&rest, ":");
        const char *sizes = strsep(&rest, ":");
        const char *files = strsep(&rest, ",");
        if (files == NULL || folders == MOST_FOLDERS)
            give_up("NAME:FIRST_ID:SIZES:FOLDER,... is wanted", argument);
        if (dataset_read(&sets[folders], name, first_id, sizes) != 0)
            give_up("cannot be read", sizes);
        only_file[folders] = sets[folders].count == 1 ? open_only_file(files) : -1;
        folders++;
    }
}

static const struct dataset *folder_of(uint64_t node) {
    return &sets[node % MOST_FOLDERS];
}

static uint64_t index_of(uint64_t node) {
    return (node - FIRST_FILE) / MOST_FOLDERS;
}

static uint64_t find_file(uint64_t folder, const char *name) {
    uint64_t index = strtoull(name + 1, NULL, 10);
    if (folder >= folders || name[0] != 'f' || index >= sets[folder].count)
        return 0;
    return FIRST_FILE + index * MOST_FOLDERS + folder;
}

uint64_t source_find(uint64_t directory, const char *name) {
    if (directory != ROOT)
        return find_file(directory - FIRST_FOLDER, name);
    for (uint64_t i = 0; i < folders; i++)
        if (strcmp(sets[i].folder, name) == 0)
            return FIRST_FOLDER + i;
    return 0;
}

int source_is_directory(uint64_t node) {
    return node < FIRST_FILE;
}

uint64_t source_length(uint64_t node) {
    return folder_of(node)->sizes[index_of(node)];
}

void source_truncate(uint64_t bytes) {
    (void)bytes;
}

void source_read(uint64_t node, uint64_t offset, char *reply, size_t bytes) {
    int fd = only_file[node % MOST_FOLDERS];
    if (fd < 0)
        content_fill(folder_of(node)->first_id + index_of(node), offset, (unsigned char *)reply,
                     bytes);
    else if (pread(fd, reply, bytes, (off_t)offset) != (ssize_t)bytes)
        give_up("ends early", folder_of(node)->folder);
}
