#define _GNU_SOURCE
#include "endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"

/* The first number: near the end, so that going around is nothing rare. */
enum { NUMBERS_TO_END = 1000, CLOSES = 3 };
#define RESEND_NS UINT64_C(2000000)
#define SILENT_NS UINT64_C(1500000000)

static void set_defaults(struct endpoint_options *options) {
    options->window = options->window ? options->window : MESSAGES_WINDOW;
    options->resend_ns = options->resend_ns ? options->resend_ns : RESEND_NS;
    options->silent_ns = options->silent_ns ? options->silent_ns : SILENT_NS;
    if (options->window > MESSAGES_WINDOW_MOST) {
        options->window = MESSAGES_WINDOW_MOST;
    }
}

/* The numbers go around at 2^32, and places in the window with them: so it is a power of 2. */
static size_t power_of_2(size_t least) {
    size_t power = 1;
    while (power < least) {
        power *= 2;
    }
    return power;
}

struct endpoint *endpoint_open(struct carrier *carrier, const struct endpoint_options *options) {
    struct endpoint *endpoint = calloc(1, sizeof *endpoint);
    if (!endpoint || !carrier) {
        free(endpoint);
        return NULL;
    }
    endpoint->carrier = carrier;
    endpoint->options = *options;
    set_defaults(&endpoint->options);
    endpoint->options.window = power_of_2(endpoint->options.window);
    const size_t bytes = endpoint->options.window * sizeof *endpoint->frames;
    endpoint->frames = aligned_alloc(_Alignof(struct sent_frame), bytes);
    if (!endpoint->frames) {
        free(endpoint);
        return NULL;
    }
    memset(endpoint->frames, 0, bytes);
    endpoint->next = endpoint->unsent = endpoint->highest = endpoint->acknowledged =
        endpoint->expected = UINT32_MAX - NUMBERS_TO_END;
    endpoint->gap = endpoint->acknowledged;
    endpoint->resend_after_ns = endpoint->options.resend_ns;
    return endpoint;
}

void endpoint_close(struct endpoint *endpoint) {
    if (!endpoint) {
        return;
    }
    for (int i = 0; i < CLOSES && !endpoint_failure(endpoint); i++) {
        control_send(endpoint, FRAME_CLOSE);
    }
    endpoint->carrier->methods->close(endpoint->carrier);
    targets_free(&endpoint->targets);
    free(endpoint->frames);
    free(endpoint);
}

bool endpoint_register(struct endpoint *endpoint, uint32_t key, void *memory, size_t bytes) {
    struct target *target = memory ? targets_add(&endpoint->targets, key, FRAME_WRITE) : NULL;
    if (!target) {
        return false;
    }
    target->memory = memory;
    target->bytes = bytes;
    return true;
}

bool endpoint_register_queue(struct endpoint *endpoint, uint32_t key, size_t bytes) {
    struct target *target = targets_add(&endpoint->targets, key, FRAME_APPEND);
    return target && target_make_queue(target, bytes);
}

bool endpoint_register_handler(struct endpoint *endpoint, uint32_t key, messages_handler *handler,
                               void *context) {
    struct target *target = handler ? targets_add(&endpoint->targets, key, FRAME_SIGNAL) : NULL;
    if (!target) {
        return false;
    }
    target->handler = handler;
    target->context = context;
    return true;
}

static bool put_message(struct endpoint *endpoint, enum frame_kind kind, uint32_t key,
                        uint32_t offset, const void *payload, size_t bytes) {
    if (bytes > MESSAGES_BYTES_MOST) {
        return false;
    }
    struct sent_frame *frame = sending_reserve(endpoint);
    if (!frame) {
        return false;
    }
    frame->header.bytes = (uint16_t)bytes;
    frame->header.kind = (uint8_t)kind;
    frame->header.key = key;
    frame->header.offset = offset;
    if (bytes > 0) {
        memcpy(frame->payload, payload, bytes);
    }
    sending_commit(endpoint);
    return true;
}

static bool send_message(struct endpoint *endpoint, enum frame_kind kind, uint32_t key,
                         uint32_t offset, const void *payload, size_t bytes) {
    endpoint_enter(endpoint);
    const bool is_sent = put_message(endpoint, kind, key, offset, payload, bytes);
    endpoint_leave(endpoint);
    return is_sent;
}

bool endpoint_write(struct endpoint *endpoint, uint32_t key, uint32_t offset, const void *payload,
                    size_t bytes) {
    const unsigned char *place = payload;
    for (; bytes > MESSAGES_BYTES_MOST; bytes -= MESSAGES_BYTES_MOST) {
        if (!send_message(endpoint, FRAME_WRITE, key, offset, place, MESSAGES_BYTES_MOST)) {
            return false;
        }
        place += MESSAGES_BYTES_MOST;
        offset += MESSAGES_BYTES_MOST;
    }
    return send_message(endpoint, FRAME_WRITE, key, offset, place, bytes);
}

bool endpoint_append(struct endpoint *endpoint, uint32_t key, const void *payload, size_t bytes) {
    return send_message(endpoint, FRAME_APPEND, key, 0, payload, bytes);
}

bool endpoint_signal(struct endpoint *endpoint, uint32_t key, const void *payload, size_t bytes) {
    return send_message(endpoint, FRAME_SIGNAL, key, 0, payload, bytes);
}

/* What only time tells: lost frames, dead peers, acknowledgements that no message carries. */
static void look_at_clock(struct endpoint *endpoint) {
    const uint64_t now_ns = clock_now();
    endpoint->polls = 0;
    if (endpoint->owed > 0) {
        control_send(endpoint, FRAME_ACKNOWLEDGE);
    }
    sending_look(endpoint, now_ns);
    silence_look(endpoint, now_ns);
    if (endpoint->carrier->is_gone) {
        endpoint_fail(endpoint, "%s has gone: nobody is at its address", endpoint->options.peer);
    }
}

static bool take_frame(struct endpoint *endpoint) {
    const struct carrier_methods *methods = endpoint->carrier->methods;
    size_t bytes = 0;
    const unsigned char *frame = methods->take(endpoint->carrier, &bytes);
    if (frame) {
        receiving_take(endpoint, frame, bytes);
        methods->release(endpoint->carrier);
    }
    if (endpoint->unsent != endpoint->next) {
        sending_continue(endpoint);
    }
    return frame != NULL;
}

bool endpoint_poll(struct endpoint *endpoint) {
    endpoint_enter(endpoint);
    const bool came = take_frame(endpoint);
    if (++endpoint->polls >= POLLS_PER_LOOK) {
        look_at_clock(endpoint);
    }
    endpoint_leave(endpoint);
    return came;
}

/* The next thing that only the clock tells: a sleep must not be longer. */
static uint64_t until_next_look(const struct endpoint *endpoint, uint64_t limit_ns) {
    const uint64_t asks_ns = endpoint->options.silent_ns / 8;
    uint64_t until_ns = limit_ns < asks_ns ? limit_ns : asks_ns;
    if (!sending_is_done(endpoint) && endpoint->resend_after_ns < until_ns) {
        until_ns = endpoint->resend_after_ns;
    }
    return until_ns;
}

void endpoint_sleep(struct endpoint *endpoint, uint64_t limit_ns) {
    endpoint_enter(endpoint);
    look_at_clock(endpoint);
    endpoint_leave(endpoint);
    if (!endpoint_failure(endpoint)) {
        endpoint->carrier->methods->wait(endpoint->carrier, until_next_look(endpoint, limit_ns));
    }
}

bool endpoint_wait(struct endpoint *endpoint, uint64_t limit_ns) {
    if (endpoint_poll(endpoint)) {
        return true;
    }
    const uint64_t began_ns = clock_now();
    for (uint64_t waited_ns = 0; waited_ns < limit_ns && !endpoint_failure(endpoint);
         waited_ns = clock_now() - began_ns) {
        if (endpoint->options.sleeps) {
            endpoint_sleep(endpoint, limit_ns - waited_ns);
        }
        if (endpoint_poll(endpoint)) {
            return true;
        }
    }
    return false;
}

bool endpoint_drain(struct endpoint *endpoint) {
    while (!sending_is_done(endpoint) && !endpoint_failure(endpoint)) {
        if (endpoint->options.sleeps) {
            endpoint_wait(endpoint, UINT64_MAX);
        } else {
            endpoint_poll(endpoint);
        }
    }
    return sending_is_done(endpoint);
}

const void *endpoint_front(struct endpoint *endpoint, uint32_t key, size_t *bytes) {
    struct target *queue = targets_find(&endpoint->targets, key, FRAME_APPEND);
    endpoint_enter(endpoint);
    const void *front = queue ? target_front(queue, bytes) : NULL;
    endpoint_leave(endpoint);
    return front;
}

void endpoint_pop(struct endpoint *endpoint, uint32_t key) {
    struct target *queue = targets_find(&endpoint->targets, key, FRAME_APPEND);
    size_t bytes;
    if (!endpoint_front(endpoint, key, &bytes)) {
        return;
    }
    endpoint_enter(endpoint);
    target_pop(queue);
    if (queue->is_awaited && queue->held <= queue->bytes / 2) {
        queue->is_awaited = false;
        endpoint->has_gap = false;
        control_send(endpoint, FRAME_ROOM);
    }
    endpoint_leave(endpoint);
}

const char *endpoint_failure(const struct endpoint *endpoint) {
    return *endpoint->failure ? endpoint->failure : NULL;
}

const struct messages_counts *endpoint_counts(const struct endpoint *endpoint) {
    return &endpoint->counts;
}

uint64_t endpoint_dropped(const struct endpoint *endpoint) {
    return endpoint->carrier->methods->dropped(endpoint->carrier);
}
