#include "raw.h"

#include <errno.h>

/* Results above -4096 are negative errnos. */
#define ERRORS 4095UL

long pgw_raw_call(long number, long a, long b, long c, long d, long e) {
    long result;
#if defined(__x86_64__)
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long which __asm__("x8") = number;
    register long first __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    register long fifth __asm__("x4") = e;
    register long sixth __asm__("x5") = 0;
    __asm__ volatile("svc 0"
                     : "+r"(first)
                     : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "memory");
    result = first;
#else
#error "give this machine's system call"
#endif
    if ((unsigned long)result > -ERRORS - 1) {
        errno = (int)-result;
        return -1;
    }
    return result;
}
