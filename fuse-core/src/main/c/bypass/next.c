#include "next.h"

#include <dlfcn.h>

static const char *const names[] = {
#define PGW_NAME(name) #name,
    PGW_FUNCTIONS(PGW_NAME)
#undef PGW_NAME
};

_Atomic(void *) pgw_next_known[PGW_FUNCTION_COUNT];

void *pgw_next_find(enum pgw_function function) {
    void *found = dlsym(RTLD_NEXT, names[function]);
    atomic_store_explicit(&pgw_next_known[function], found, memory_order_relaxed);
    return found;
}

void pgw_next_find_all(void) {
    for (int i = 0; i < PGW_FUNCTION_COUNT; i++) {
        pgw_next_find((enum pgw_function)i);
    }
}
