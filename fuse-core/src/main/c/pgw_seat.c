#include "pgw_seat.h"

/* Turns without a large reply, after which the thread comes back. */
enum { TURNS_TO_STAY = 64 };

static void sit(const struct pgw_seat *seat) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)seat->cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

void pgw_seat_take(struct pgw_seat *seat, int cpu) {
    seat->cpu = cpu;
    seat->left = false;
    seat->turns = 0;
    if (sched_getaffinity(0, sizeof seat->allowed, &seat->allowed) != 0) {
        CPU_ZERO(&seat->allowed);
    }
    sit(seat);
}

void pgw_seat_answered(struct pgw_seat *seat, int large) {
    seat->turns = large > 0 ? 0 : seat->turns + 1;
    if (!seat->left && large > 1) {
        seat->left = sched_setaffinity(0, sizeof seat->allowed, &seat->allowed) == 0;
    } else if (seat->left && seat->turns >= TURNS_TO_STAY) {
        seat->left = false;
        sit(seat);
    }
}
