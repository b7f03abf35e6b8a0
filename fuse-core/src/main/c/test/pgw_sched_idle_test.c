/* A thread that stands back: when it does, who brings it forward, and what it leaves behind. */
#include "../pgw_sched_idle.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { LOOK_US = 500, MAX_LOOKS = 120000 };

static int policy(void) {
    return sched_getscheduler(0);
}

/* On the first CPU that this process may use; all who call it share that one. */
static void stay_on_one_cpu(void) {
    cpu_set_t set;
    size_t cpu = 0;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    while (!CPU_ISSET(cpu, &set)) {
        cpu++;
    }
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
}

/* Requests in quick succession until it stands back, be it for a moment. */
static bool get_back(struct pgw_sched_idle *sched_idle) {
    for (int i = 0; i < MAX_LOOKS; i++) {
        for (int request = 0; request < 100; request++) {
            pgw_sched_idle_met(sched_idle, 1);
        }
        usleep(LOOK_US);
        if (policy() == SCHED_IDLE) {
            return true;
        }
    }
    return false;
}

static void await_forward(const struct pgw_sched_idle *sched_idle) {
    for (int i = 0; i < MAX_LOOKS && pgw_sched_idle_is_demoted(sched_idle); i++) {
        usleep(LOOK_US);
    }
    assert_false(pgw_sched_idle_is_demoted(sched_idle));
    assert_int_equal(policy(), SCHED_OTHER);
}

/* A thread inherits the policy, and must lose it soon. */
static void *child(void *forward) {
    for (int i = 0; i < MAX_LOOKS && policy() != SCHED_OTHER; i++) {
        usleep(LOOK_US);
    }
    *(bool *)forward = policy() == SCHED_OTHER;
    return NULL;
}

static void stands_back_and_rests(void **state) {
    struct pgw_sched_idle *sched_idle = pgw_sched_idle_open();
    pthread_t thread;
    bool forward = false;
    (void)state;
    assert_non_null(sched_idle);
    assert_false(pgw_sched_idle_is_demoted(sched_idle));
    assert_true(get_back(sched_idle));
    assert_int_equal(pthread_create(&thread, NULL, child, &forward), 0);
    pthread_join(thread, NULL);
    assert_true(forward);
    await_forward(sched_idle);
    assert_true(get_back(sched_idle));
    pgw_sched_idle_close(sched_idle);
    assert_int_equal(policy(), SCHED_OTHER);
}

static void slow_requests_change_nothing(void **state) {
    struct pgw_sched_idle *sched_idle = pgw_sched_idle_open();
    (void)state;
    assert_non_null(sched_idle);
    for (int request = 0; request < 200; request++) {
        pgw_sched_idle_met(sched_idle, 1);
        usleep(1000);
    }
    assert_false(pgw_sched_idle_is_demoted(sched_idle));
    pgw_sched_idle_close(sched_idle);
}

static void *burn(void *stop) {
    stay_on_one_cpu();
    while (!atomic_load((atomic_bool *)stop)) {
    }
    return NULL;
}

/* Runs on one CPU beside a program that never sleeps, as a queue's thread would. */
static void *be_kept_waiting(void *unused) {
    struct pgw_sched_idle *sched_idle;
    pthread_t burner;
    atomic_bool stop = false;
    (void)unused;
    stay_on_one_cpu();
    sched_idle = pgw_sched_idle_open();
    assert_non_null(sched_idle);
    assert_true(get_back(sched_idle));
    assert_int_equal(pthread_create(&burner, NULL, burn, &stop), 0);
    while (pgw_sched_idle_is_demoted(sched_idle)) {
        /* wants to run, and cannot */
    }
    assert_int_equal(policy(), SCHED_OTHER);
    for (int request = 0; request < 1000; request++) {
        pgw_sched_idle_met(sched_idle, 1);
    }
    usleep(20000);
    assert_false(pgw_sched_idle_is_demoted(sched_idle)); /* not again at once */
    atomic_store(&stop, true);
    pthread_join(burner, NULL);
    pgw_sched_idle_close(sched_idle);
    return NULL;
}

static void who_is_kept_waiting_comes_forward(void **state) {
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, be_kept_waiting, NULL), 0);
    pthread_join(thread, NULL);
}

static void nobody_is_no_sched_idle(void **state) {
    (void)state;
    pgw_sched_idle_met(NULL, 1);
    assert_false(pgw_sched_idle_is_demoted(NULL));
    pgw_sched_idle_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_back_and_rests),
        cmocka_unit_test(slow_requests_change_nothing),
        cmocka_unit_test(who_is_kept_waiting_comes_forward),
        cmocka_unit_test(nobody_is_no_sched_idle),
    };
    if (!pgw_sched_idle_possible()) {
        print_message("skipped: needs CAP_SYS_NICE to come forward again\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
