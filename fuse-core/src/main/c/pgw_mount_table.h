/* The kernel's table of mounts. Reading it never touches a mount, so it cannot hang on a dead one.
 */
#ifndef PGW_MOUNT_TABLE_H
#define PGW_MOUNT_TABLE_H

#include <stdbool.h>

/* Reads the table, in several pieces: a text that the caller frees, or NULL. */
typedef char *pgw_mount_table_reading(void *context);

/* The table of this process. */
char *pgw_mount_table_read(void *unused);

/*
 * What two readings, one after the other, give alike: Linux before 5.8 ("proc/mounts: add cursor")
 * may leave a mount out while another one is removed, and it would count as gone. NULL: the table
 * cannot be read. The caller frees it.
 */
char *pgw_mount_table_stable(pgw_mount_table_reading *reading, void *context);

/* Is the topmost mount at the target the one with this device number, "major:minor"? */
bool pgw_mount_table_has(const char *target, const char *device);

#endif
