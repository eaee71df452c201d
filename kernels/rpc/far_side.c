#define _GNU_SOURCE
#include "far_side.h"

#include <netinet/tcp.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

#include "crew.h"

/* What both sides see. */
struct seen {
    atomic_size_t payload_bytes;
    atomic_size_t request_bytes;
    atomic_size_t answer_bytes;
    atomic_bool spins;
    atomic_bool is_called;
    atomic_bool has_messages;
    atomic_bool wants_nodelay;
    atomic_int nodelay;
    atomic_uint_least64_t frames_resent;
    atomic_uint_least64_t frames_repeated;
    atomic_size_t bytes; /* of what came */
    unsigned char came[TRIP_BYTES_MOST];
};

static struct seen *seen;

void far_share(void) {
    seen = crew_share(sizeof *seen, "what arrives");
}

void far_expect(const struct trip *trip) {
    atomic_store(&seen->payload_bytes, trip->bytes);
    atomic_store(&seen->request_bytes, trip->request_bytes);
    atomic_store(&seen->answer_bytes, trip->answer_bytes);
    atomic_store(&seen->is_called, trip->is_call);
    atomic_store(&seen->has_messages, protocol_has_messages(trip->protocol));
    atomic_store(&seen->spins, trip->spins);
    atomic_store(&seen->nodelay, -1);
    atomic_store(&seen->wants_nodelay, trip->protocol == PROTOCOL_TCP);
}

void far_rest(void) {
    atomic_store(&seen->spins, false);
}

bool far_has(const unsigned char *payload, size_t bytes) {
    return atomic_load(&seen->bytes) == bytes && memcmp(seen->came, payload, bytes) == 0;
}

int far_nodelay(void) {
    return atomic_load(&seen->nodelay);
}

/* Of the first request of a point only: the others pay no system call for it. */
static void look_at_nodelay(int socket) {
    int on = 0;
    socklen_t length = sizeof on;
    atomic_store(&seen->wants_nodelay, false);
    if (getsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, &length) == 0) {
        atomic_store(&seen->nodelay, on != 0);
    }
}

uint32_t far_take(int socket, const void *payload, size_t bytes) {
    uint32_t first = 0;
    if (atomic_load(&seen->wants_nodelay)) {
        look_at_nodelay(socket);
    }
    if (bytes >= sizeof first && bytes <= sizeof seen->came) {
        memcpy(seen->came, payload, bytes);
        memcpy(&first, payload, sizeof first);
    }
    atomic_store(&seen->bytes, bytes);
    return first;
}

size_t far_payload_bytes(void) {
    return atomic_load(&seen->payload_bytes);
}

size_t far_request_bytes(void) {
    return atomic_load(&seen->request_bytes);
}

size_t far_answer_bytes(void) {
    return atomic_load(&seen->answer_bytes);
}

bool far_spins(void) {
    return atomic_load(&seen->spins);
}

bool far_is_called(void) {
    return atomic_load(&seen->is_called);
}

bool far_has_messages(void) {
    return atomic_load(&seen->has_messages);
}

/* Of the same value again nothing is written: the near side reads what stands next to it. */
static void set_count(atomic_uint_least64_t *count, uint64_t value) {
    if (atomic_load_explicit(count, memory_order_relaxed) != value) {
        atomic_store(count, value);
    }
}

void far_note_frames(struct transport_frames frames) {
    set_count(&seen->frames_resent, frames.resent);
    set_count(&seen->frames_repeated, frames.repeated);
}

struct transport_frames far_frames(void) {
    return (struct transport_frames){.resent = atomic_load(&seen->frames_resent),
                                     .repeated = atomic_load(&seen->frames_repeated)};
}
