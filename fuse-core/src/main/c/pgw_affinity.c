#include "pgw_affinity.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

/* Turns without a large reply, after which the thread comes back. */
enum { TURNS_TO_STAY = 64 };

int pgw_affinity_none(void) {
    cpu_set_t set;
    if (sched_getaffinity(getpid(), sizeof set, &set) != 0 ||
        sched_setaffinity(0, sizeof set, &set) != 0) {
        return -errno;
    }
    return 0;
}

static void sit(const struct pgw_affinity *affinity) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)affinity->cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

void pgw_affinity_take(struct pgw_affinity *affinity, int cpu) {
    *affinity = (struct pgw_affinity){.cpu = cpu};
    sit(affinity);
}

bool pgw_affinity_answered(struct pgw_affinity *affinity, int large) {
    if (!affinity->left) {
        return large > 1;
    }
    affinity->turns = large > 0 ? 0 : affinity->turns + 1;
    return affinity->turns >= TURNS_TO_STAY;
}

void pgw_affinity_change(struct pgw_affinity *affinity) {
    affinity->left = !affinity->left;
    affinity->turns = 0;
    if (affinity->left) {
        (void)pgw_affinity_none();
    } else {
        sit(affinity);
    }
}
