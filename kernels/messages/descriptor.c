#define _GNU_SOURCE
#include "descriptor.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

/* Nobody has the peer's socket, or the interface is no more. */
static void look_at_error(struct carrier *carrier) {
    if (errno == ECONNREFUSED || errno == ENODEV || errno == ENXIO || errno == ENETDOWN) {
        carrier->is_gone = true;
    }
}

bool descriptor_send(struct carrier *carrier, int socket, const void *frame, size_t bytes) {
    if (send(socket, frame, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
        return true;
    }
    look_at_error(carrier);
    return !(errno == EAGAIN || errno == ENOBUFS);
}

const unsigned char *descriptor_take(struct carrier *carrier, int socket, unsigned char *room,
                                     size_t room_bytes, size_t *bytes) {
    const ssize_t length = recv(socket, room, room_bytes, MSG_DONTWAIT);
    if (length < 0) {
        if (errno != EAGAIN) {
            look_at_error(carrier);
        }
        return NULL;
    }
    *bytes = (size_t)length;
    return room;
}

void descriptor_wait(int socket, uint64_t limit_ns) {
    struct pollfd readable = {.fd = socket, .events = POLLIN};
    const struct timespec limit = {
        .tv_sec = (time_t)(limit_ns / NS_PER_S),
        .tv_nsec = (long)(limit_ns % NS_PER_S),
    };
    (void)ppoll(&readable, 1, &limit, NULL);
}

uint64_t descriptor_dropped(int socket) {
    uint32_t values[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof values;
    if (getsockopt(socket, SOL_SOCKET, SO_MEMINFO, values, &length) != 0) {
        return 0;
    }
    return values[SK_MEMINFO_DROPS];
}
