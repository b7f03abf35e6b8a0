#include "pgw_uring_saved.h"

#include "pgw_uring.h"

#include <stdatomic.h>
#include <string.h>

struct saved {
    _Atomic uint64_t commit_id;
    _Atomic uint32_t state; /* enum pgw_uring_state */
    uint32_t payload_sz;
    struct pgw_in_header header;
    char payload[PGW_URING_SAVED_PAYLOAD_BYTES];
};

_Static_assert(PGW_URING_SAVED_AT >= sizeof(struct pgw_uring_req_header), "behind the header");
_Static_assert(PGW_URING_SAVED_AT + sizeof(struct saved) <= PGW_URING_HEADER_BYTES, "in its page");

static struct saved *saved_of(char *slot) {
    void *memory = slot + PGW_URING_SAVED_AT;
    return memory;
}

static struct pgw_uring_req_header *header_of(char *slot) {
    void *memory = slot;
    return memory;
}

static size_t saved_payload_bytes(uint32_t payload_sz) {
    return payload_sz < PGW_URING_SAVED_PAYLOAD_BYTES ? payload_sz : PGW_URING_SAVED_PAYLOAD_BYTES;
}

static void set_state(struct saved *saved, enum pgw_uring_state state) {
    atomic_store_explicit(&saved->state, state, memory_order_release);
}

void pgw_uring_saved_keep(char *slot) {
    const struct pgw_uring_req_header *header = header_of(slot);
    struct saved *saved = saved_of(slot);

    saved->payload_sz = header->ring_ent.payload_sz;
    memcpy(&saved->header, header->in_out, sizeof saved->header);
    memcpy(saved->payload, slot + PGW_URING_HEADER_BYTES, saved_payload_bytes(saved->payload_sz));
    set_state(saved, PGW_URING_EXECUTING);
    atomic_store_explicit(&saved->commit_id, header->ring_ent.commit_id, memory_order_release);
}

void pgw_uring_saved_replied(char *slot) {
    set_state(saved_of(slot), PGW_URING_REPLIED);
}

void pgw_uring_saved_free(char *slot) {
    set_state(saved_of(slot), PGW_URING_FREE);
}

/* The reply may have overwritten it in part. */
static void restore(char *slot) {
    struct pgw_uring_req_header *header = header_of(slot);
    const struct saved *saved = saved_of(slot);
    struct pgw_in_header request = saved->header;

    header->ring_ent.payload_sz = saved->payload_sz;
    request.unique |= PGW_UNIQUE_RESENT;
    memcpy(header->in_out, &request, sizeof request);
    memcpy(slot + PGW_URING_HEADER_BYTES, saved->payload, saved_payload_bytes(saved->payload_sz));
}

enum pgw_uring_rest pgw_uring_saved_resume(char *slot) {
    struct saved *saved = saved_of(slot);
    uint64_t commit_id = header_of(slot)->ring_ent.commit_id;

    if (commit_id == 0) {
        return PGW_URING_REGISTER;
    }
    if (atomic_load_explicit(&saved->commit_id, memory_order_acquire) != commit_id) {
        pgw_uring_saved_keep(slot);
        return PGW_URING_EXECUTE;
    }
    switch (atomic_load_explicit(&saved->state, memory_order_acquire)) {
    case PGW_URING_EXECUTING:
        restore(slot);
        return PGW_URING_EXECUTE;
    case PGW_URING_REPLIED:
        return PGW_URING_COMMIT;
    default:
        return PGW_URING_REGISTER;
    }
}
