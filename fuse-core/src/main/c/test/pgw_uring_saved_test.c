/* A slot of a kept session, as the process that served it may have left it at any moment. */
#include "pgw_uring.h"
#include "pgw_uring_saved.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAYLOAD "name"

static _Alignas(8) char slot[2 * PGW_URING_HEADER_BYTES];

static struct pgw_uring_req_header *header(void) {
    void *memory = slot;
    return memory;
}

static struct pgw_in_header *request(void) {
    void *memory = header()->in_out;
    return memory;
}

/* As the kernel puts it there. */
static void deliver(uint64_t unique) {
    *request() = (struct pgw_in_header){.len = 45, .opcode = 1, .unique = unique, .nodeid = 7};
    header()->ring_ent.commit_id = unique;
    header()->ring_ent.payload_sz = sizeof PAYLOAD;
    memcpy(slot + PGW_URING_HEADER_BYTES, PAYLOAD, sizeof PAYLOAD);
}

/* As the file system puts it there. */
static void overwrite_by_reply(void) {
    request()->len = 16 + 128;
    request()->opcode = 0;
    header()->ring_ent.payload_sz = 128;
    memset(slot + PGW_URING_HEADER_BYTES, 'r', 128);
}

static int clear(void **state) {
    (void)state;
    memset(slot, 0, sizeof slot);
    return 0;
}

static void a_slot_without_a_request_is_registered(void **state) {
    (void)state;
    assert_int_equal(pgw_uring_saved_resume(slot), PGW_URING_REGISTER);
    deliver(10);
    pgw_uring_saved_keep(slot);
    pgw_uring_saved_replied(slot);
    pgw_uring_saved_free(slot);
    assert_int_equal(pgw_uring_saved_resume(slot), PGW_URING_REGISTER);
}

static void a_request_that_nobody_saw_is_executed_for_the_first_time(void **state) {
    (void)state;
    deliver(10);
    pgw_uring_saved_keep(slot);
    pgw_uring_saved_free(slot);
    deliver(12);
    assert_int_equal(pgw_uring_saved_resume(slot), PGW_URING_EXECUTE);
    assert_int_equal(request()->unique, 12);
}

static void a_request_that_began_is_restored_and_marked(void **state) {
    (void)state;
    deliver(10);
    pgw_uring_saved_keep(slot);
    for (int process = 0; process < 2; process++) {
        overwrite_by_reply();
        assert_int_equal(pgw_uring_saved_resume(slot), PGW_URING_EXECUTE);
        assert_int_equal(request()->unique, UINT64_C(10) | PGW_UNIQUE_RESENT);
        assert_int_equal(request()->len, 45);
        assert_int_equal(request()->opcode, 1);
        assert_int_equal(request()->nodeid, 7);
        assert_int_equal(header()->ring_ent.payload_sz, sizeof PAYLOAD);
        assert_string_equal(slot + PGW_URING_HEADER_BYTES, PAYLOAD);
    }
}

static void a_complete_reply_is_committed_as_it_is(void **state) {
    (void)state;
    deliver(10);
    pgw_uring_saved_keep(slot);
    overwrite_by_reply();
    pgw_uring_saved_replied(slot);
    assert_int_equal(pgw_uring_saved_resume(slot), PGW_URING_COMMIT);
    assert_int_equal(request()->len, 16 + 128);
    assert_int_equal(slot[PGW_URING_HEADER_BYTES], 'r');
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_slot_without_a_request_is_registered, clear),
        cmocka_unit_test_setup(a_request_that_nobody_saw_is_executed_for_the_first_time, clear),
        cmocka_unit_test_setup(a_request_that_began_is_restored_and_marked, clear),
        cmocka_unit_test_setup(a_complete_reply_is_committed_as_it_is, clear),
    };
    return cmocka_run_group_tests_name("pgw_uring_saved", tests, NULL, NULL);
}
