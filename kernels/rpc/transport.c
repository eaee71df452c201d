#include "transport.h"

#include "bench.h"

enum { QUEUE_KEY = 0x52000001, HANDLER_KEY = 0x52000002, QUEUE_BYTES = 1 << 16 };
#define SLEEP_NS UINT64_C(100000000)

static struct endpoint *endpoint;
static transport_taker *taker;

static void take_signal(void *context, const void *payload, size_t bytes) {
    (void)context;
    taker(PROTOCOL_SIGNAL, payload, bytes);
}

void transport_open(struct carrier *carrier, uint64_t connection, const char *peer,
                    bool is_waited_for, transport_taker *wanted) {
    const struct endpoint_options options = {
        .peer = peer,
        .connection = connection,
        .sleeps = true,
        .silent_ns = is_waited_for ? 0 : MESSAGES_SILENT_EVER,
    };
    taker = wanted;
    endpoint = endpoint_open(carrier, &options);
    if (!endpoint || !endpoint_register_queue(endpoint, QUEUE_KEY, QUEUE_BYTES) ||
        !endpoint_register_handler(endpoint, HANDLER_KEY, take_signal, NULL)) {
        cannot_run("there is no memory for messages; free some");
    }
}

bool transport_send(enum protocol protocol, const void *payload, size_t bytes) {
    return protocol == PROTOCOL_FIFO ? endpoint_append(endpoint, QUEUE_KEY, payload, bytes)
                                     : endpoint_signal(endpoint, HANDLER_KEY, payload, bytes);
}

bool transport_take(bool spins) {
    const unsigned char *payload;
    size_t bytes;
    if (!endpoint_poll(endpoint) && !spins) {
        (void)endpoint_wait(endpoint, SLEEP_NS);
    }
    while ((payload = endpoint_front(endpoint, QUEUE_KEY, &bytes))) {
        taker(PROTOCOL_FIFO, payload, bytes);
        endpoint_pop(endpoint, QUEUE_KEY);
    }
    return !endpoint_failure(endpoint);
}

void transport_acknowledge(void) {
    (void)endpoint_wait(endpoint, 1);
}

const char *transport_failure(void) {
    return endpoint_failure(endpoint);
}

struct transport_frames transport_frames(void) {
    const struct messages_counts *counts = endpoint_counts(endpoint);
    return (struct transport_frames){.resent = counts->resent, .repeated = counts->repeated};
}
