#include "pgw_seat.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

/* Turns without a large reply, after which the thread comes back. */
enum { TURNS_TO_STAY = 64 };

int pgw_seat_none(void) {
    cpu_set_t set;
    if (sched_getaffinity(getpid(), sizeof set, &set) != 0 ||
        sched_setaffinity(0, sizeof set, &set) != 0) {
        return -errno;
    }
    return 0;
}

static void sit(const struct pgw_seat *seat) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)seat->cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

void pgw_seat_take(struct pgw_seat *seat, int cpu) {
    *seat = (struct pgw_seat){.cpu = cpu};
    sit(seat);
}

bool pgw_seat_answered(struct pgw_seat *seat, int large) {
    if (!seat->left) {
        return large > 1;
    }
    seat->turns = large > 0 ? 0 : seat->turns + 1;
    return seat->turns >= TURNS_TO_STAY;
}

void pgw_seat_change(struct pgw_seat *seat) {
    seat->left = !seat->left;
    seat->turns = 0;
    if (seat->left) {
        (void)pgw_seat_none();
    } else {
        sit(seat);
    }
}
