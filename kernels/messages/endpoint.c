#include "endpoint.h"

#include <stdlib.h>
#include <string.h>

/* The first number: near the end, so that going around is nothing rare. */
enum { NUMBERS_TO_END = 1000, CLOSES = 3 };
#define SILENT_NS UINT64_C(1500000000)

static void set_defaults(struct endpoint_options *options) {
    options->window = options->window ? options->window : MESSAGES_WINDOW;
    options->resend_ns = options->resend_ns ? options->resend_ns : MESSAGES_RESEND_NS;
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

void endpoint_withdraw(struct endpoint *endpoint, uint32_t key) {
    targets_remove(&endpoint->targets, key);
}
