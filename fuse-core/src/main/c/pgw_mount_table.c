#include "pgw_mount_table.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Undoes the mount table's \040 and the like, in place. */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] != '\0' &&
            from[3] != '\0') {
            *to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

char *pgw_mount_table_read(void *unused) {
    size_t used = 0;
    size_t room = 1 << 16;
    char *text = malloc(room);
    int table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = table < 0 || text == NULL ? -1 : 1;

    (void)unused;
    while (bytes > 0) {
        if (used + 1 == room) {
            char *more = realloc(text, room *= 2);
            if (more == NULL) {
                bytes = -1;
                break;
            }
            text = more;
        }
        bytes = read(table, text + used, room - 1 - used);
        used += bytes > 0 ? (size_t)bytes : 0;
    }
    if (table >= 0) {
        close(table);
    }
    if (bytes < 0) {
        free(text);
        return NULL;
    }
    text[used] = '\0';
    return text;
}

char *pgw_mount_table_stable(pgw_mount_table_reading *reading, void *context) {
    char *last = reading(context);
    while (last != NULL) {
        char *next = reading(context);
        bool same = next != NULL && strcmp(last, next) == 0;
        free(last);
        if (same) {
            return next;
        }
        last = next;
    }
    return NULL;
}

/*
 * Users name folders, and what a bind mount shows stands before its place: of all bytes the blank
 * alone separates the columns.
 */
bool pgw_mount_table_has(const char *target, const char *device) {
    bool ours = false;
    char *table = pgw_mount_table_stable(pgw_mount_table_read, NULL);
    char *rest_of_table = table;

    for (char *line = strsep(&rest_of_table, "\n"); line != NULL;
         line = strsep(&rest_of_table, "\n")) {
        char *columns[5]; /* id, parent, device, what is shown, where */
        char *rest = line;
        for (int i = 0; i < 5; i++) {
            columns[i] = strsep(&rest, " ");
        }
        if (columns[4] != NULL) {
            unescape(columns[4]);
            ours = strcmp(columns[4], target) == 0 ? strcmp(columns[2], device) == 0 : ours;
        }
    }
    free(table);
    return ours;
}
