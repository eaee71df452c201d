#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "endpoint.h"

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
