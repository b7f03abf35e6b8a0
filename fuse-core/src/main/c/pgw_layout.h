/* Sizes, offsets and error numbers of the C side by name, so that Java's can be held against them.
 */
#ifndef PGW_LAYOUT_H
#define PGW_LAYOUT_H

/*
 * "read_in" is the size of struct pgw_read_in, "read_in.offset" the offset of a field in it,
 * "ENOENT" an error number. -1: no such name.
 */
long pgw_layout_find(const char *name);

#endif
