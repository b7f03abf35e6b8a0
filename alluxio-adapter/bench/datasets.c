/*
 * A source of the benchmarks' file systems (fuse-core/bench/c/null_fs.h): folders of files whose
 * content follows from their ids. Opens let the kernel keep its pages, as those of files that did
 * not change. The argument names the folders, their first ids and the files of their sizes:
 * NAME:FIRST_ID:SIZES,...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "null_fs.h"

enum { ROOT = 1, FIRST_FOLDER = 2, MOST_FOLDERS = 8, FIRST_FILE = 16 };

const uint32_t source_open_flags = KEEP_CACHE | NO_FLUSH;
static struct dataset sets[MOST_FOLDERS];
static uint64_t folders;
static char *words; /* the argument, cut into pieces: the names of the folders are in it */

static void give_up(const char *why, const char *what) {
    fprintf(stderr, "datasets: %s: %s\n", why, what);
    exit(2);
}

void source_prepare(const char *argument) {
    words = strdup(argument);
    char *rest = words;
    for (char *name = strsep(&rest, ":"); name != NULL; name = strsep(&rest, ":")) {
        const char *first_id = strsep(&rest, ":");
        const char *sizes = strsep(&rest, ",");
        if (sizes == NULL || folders == MOST_FOLDERS)
            give_up("NAME:FIRST_ID:SIZES,... is wanted", argument);
        if (dataset_read(&sets[folders++], name, first_id, sizes) != 0)
            give_up("cannot be read", sizes);
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
    content_fill(folder_of(node)->first_id + index_of(node), offset, (unsigned char *)reply, bytes);
}
