/*
 * System calls themselves, with errno as libc sets it: no cancellation points, and out of reach of
 * everybody's interposed functions, our own among them.
 */
#ifndef PGW_BYPASS_RAW_H
#define PGW_BYPASS_RAW_H

#include <sys/syscall.h>

long pgw_raw_call(long number, long a, long b, long c, long d, long e);

/* pgw_raw(number, up to five arguments): integers or pointers. */
#define PGW_RAW_0(n) pgw_raw_call(n, 0, 0, 0, 0, 0)
#define PGW_RAW_1(n, a) pgw_raw_call(n, (long)(a), 0, 0, 0, 0)
#define PGW_RAW_2(n, a, b) pgw_raw_call(n, (long)(a), (long)(b), 0, 0, 0)
#define PGW_RAW_3(n, a, b, c) pgw_raw_call(n, (long)(a), (long)(b), (long)(c), 0, 0)
#define PGW_RAW_4(n, a, b, c, d) pgw_raw_call(n, (long)(a), (long)(b), (long)(c), (long)(d), 0)
#define PGW_RAW_5(n, a, b, c, d, e)                                                                \
    pgw_raw_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))
#define PGW_RAW_PICK(n, a, b, c, d, e, name, ...) name
#define pgw_raw(...)                                                                               \
    PGW_RAW_PICK(__VA_ARGS__, PGW_RAW_5, PGW_RAW_4, PGW_RAW_3, PGW_RAW_2, PGW_RAW_1, PGW_RAW_0)    \
    (__VA_ARGS__)

#endif
