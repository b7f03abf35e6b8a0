/* The CPU of a queue's thread: when it leaves it, and when it comes back. */
#include "../pgw_seat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static cpu_set_t place(void) {
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return set;
}

static int last_of(const cpu_set_t *set) {
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET((size_t)last, set)) {
        last--;
    }
    return last;
}

static bool sits_on(int cpu) {
    cpu_set_t now = place();
    return CPU_COUNT(&now) == 1 && CPU_ISSET((size_t)cpu, &now);
}

static bool is_at(const cpu_set_t *allowed) {
    cpu_set_t now = place();
    return CPU_EQUAL(&now, allowed);
}

/* So many turns without a large reply. */
static void rest(struct pgw_seat *seat, int turns) {
    for (int i = 0; i < turns; i++) {
        pgw_seat_answered(seat, 0);
    }
}

static void leaves_for_large_replies_and_comes_back(void **state) {
    const cpu_set_t allowed = place();
    const int cpu = last_of(&allowed);
    struct pgw_seat seat;
    (void)state;

    pgw_seat_take(&seat, cpu);
    assert_true(sits_on(cpu));
    for (int i = 0; i < 1000; i++) {
        pgw_seat_answered(&seat, i % 2);
    }
    assert_true(sits_on(cpu));

    pgw_seat_answered(&seat, 2);
    assert_true(is_at(&allowed));
    for (int i = 0; i < 1000; i++) {
        pgw_seat_answered(&seat, i % 10 == 0 ? 1 : 0);
    }
    assert_true(is_at(&allowed));
    rest(&seat, 1000);
    assert_true(sits_on(cpu));

    pgw_seat_answered(&seat, 2);
    assert_true(is_at(&allowed));
    assert_int_equal(sched_setaffinity(0, sizeof allowed, &allowed), 0);
}

static void a_seat_that_is_not_there_is_not_taken(void **state) {
    const cpu_set_t allowed = place();
    struct pgw_seat seat;
    (void)state;

    pgw_seat_take(&seat, CPU_SETSIZE - 1);
    assert_true(is_at(&allowed));
    pgw_seat_answered(&seat, 2);
    rest(&seat, 1000);
    assert_true(is_at(&allowed));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_for_large_replies_and_comes_back),
        cmocka_unit_test(a_seat_that_is_not_there_is_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
