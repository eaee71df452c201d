/* Whoever polls does the work: takes frames in, sends what waits, looks at the clock. An interrupt
 * polls in the same way. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "clock.h"
#include "endpoint.h"

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
        endpoint_fail(endpoint, "%s has gone: nothing answers at its address",
                      endpoint->options.peer);
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
    endpoint->counts.polls++;
    const bool came = take_frame(endpoint);
    if (++endpoint->polls >= POLLS_PER_LOOK) {
        look_at_clock(endpoint);
    }
    endpoint_leave(endpoint);
    return came;
}

void endpoint_look_at_clock(struct endpoint *endpoint) {
    endpoint_enter(endpoint);
    look_at_clock(endpoint);
    endpoint_leave(endpoint);
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
    endpoint_look_at_clock(endpoint);
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

/* --- Interrupts. */

static struct endpoint *volatile interrupted;

static void take_all(struct endpoint *endpoint) {
    while (endpoint_poll(endpoint)) {
    }
}

void interrupts_make_up(struct endpoint *endpoint) {
    endpoint->is_missed = 0;
    take_all(endpoint);
}

static void interrupt(int signal) {
    struct endpoint *endpoint = interrupted;
    const int error = errno;
    (void)signal;
    if (endpoint && endpoint->depth > 0) {
        endpoint->is_missed = 1;
    } else if (endpoint) {
        take_all(endpoint);
    }
    errno = error;
}

bool endpoint_interrupt(struct endpoint *endpoint, bool on) {
    const int descriptor = endpoint->carrier->methods->descriptor(endpoint->carrier);
    const struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    const int flags = descriptor < 0 ? -1 : fcntl(descriptor, F_GETFL);
    if (flags < 0) {
        return false;
    }
    if (on &&
        (sigaction(SIGIO, &action, NULL) != 0 || fcntl(descriptor, F_SETOWN, getpid()) != 0)) {
        return false;
    }
    interrupted = on ? endpoint : NULL;
    return fcntl(descriptor, F_SETFL, on ? flags | O_ASYNC : flags & ~O_ASYNC) == 0;
}
