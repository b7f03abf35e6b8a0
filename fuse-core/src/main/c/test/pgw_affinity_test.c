/* The CPU of a queue's thread: when it leaves it, when it comes back, and who inherits it. */
#include "../pgw_affinity.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 16 };

/* Where a thread that is not the process's first was at each step. */
struct steps {
    cpu_set_t first; /* where that one may run */
    int cpu;
    cpu_set_t at[MOST];
    int count;
};

static void note(struct steps *steps) {
    cpu_set_t *now = &steps->at[steps->count++];
    CPU_ZERO(now);
    (void)sched_getaffinity(0, sizeof *now, now);
}

/* So many turns without a large reply. */
static void turn(struct pgw_affinity *affinity, int turns, int large) {
    for (int i = 0; i < turns; i++) {
        if (pgw_affinity_answered(affinity, large)) {
            pgw_affinity_change(affinity);
        }
    }
}

static void *heir(void *steps) {
    note(steps);
    (void)pgw_affinity_none();
    note(steps);
    return NULL;
}

static void *queue(void *given) {
    struct steps *steps = given;
    struct pgw_affinity affinity;
    pthread_t started;

    pgw_affinity_take(&affinity, steps->cpu);
    note(steps); /* 0: sits */
    if (pthread_create(&started, NULL, heir, steps) == 0) {
        pthread_join(started, NULL); /* 1: sits, too; 2: is free */
    }
    turn(&affinity, 1000, 0);
    turn(&affinity, 1000, 1);
    note(steps); /* 3: sits */
    turn(&affinity, 1, 2);
    note(steps); /* 4: has left */
    for (int i = 0; i < 100; i++) {
        turn(&affinity, 20, 0);
        turn(&affinity, 1, 1);
    }
    note(steps); /* 5: is still away */
    turn(&affinity, 1000, 0);
    note(steps); /* 6: sits again */
    turn(&affinity, 1, 2);
    note(steps); /* 7: leaves again */
    return NULL;
}

static void run(struct steps *steps) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, queue, steps), 0);
    pthread_join(thread, NULL);
    assert_int_equal(steps->count, 8);
}

static int last_of(const cpu_set_t *set) {
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET((size_t)last, set)) {
        last--;
    }
    return last;
}

static void leaves_for_large_replies_and_comes_back(void **state) {
    static const bool sits[] = {true, true, false, true, false, false, true, false};
    struct steps steps = {.count = 0};
    (void)state;

    assert_int_equal(sched_getaffinity(0, sizeof steps.first, &steps.first), 0);
    steps.cpu = last_of(&steps.first);
    run(&steps);
    for (int i = 0; i < steps.count; i++) {
        if (sits[i]) {
            assert_int_equal(CPU_COUNT(&steps.at[i]), 1);
            assert_true(CPU_ISSET((size_t)steps.cpu, &steps.at[i]));
        } else {
            assert_true(CPU_EQUAL(&steps.at[i], &steps.first));
        }
    }
}

static void a_cpu_that_is_not_there_is_not_taken(void **state) {
    struct steps steps = {.cpu = CPU_SETSIZE - 1};
    (void)state;

    assert_int_equal(sched_getaffinity(0, sizeof steps.first, &steps.first), 0);
    run(&steps);
    for (int i = 0; i < steps.count; i++) {
        assert_true(CPU_EQUAL(&steps.at[i], &steps.first));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_for_large_replies_and_comes_back),
        cmocka_unit_test(a_cpu_that_is_not_there_is_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
