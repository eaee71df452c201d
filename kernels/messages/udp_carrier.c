#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "carrier.h"
#include "descriptor.h"

struct udp_carrier {
    struct carrier carrier;
    int socket;
    uint32_t dropped;
    unsigned char frame[CARRIER_FRAME_MOST_BYTES + 1]; /* so that a longer one is seen to be */
};

static struct udp_carrier *udp_of(struct carrier *carrier) {
    return (struct udp_carrier *)carrier;
}

static bool udp_send(struct carrier *carrier, const void *frame, size_t bytes) {
    return descriptor_send(carrier, udp_of(carrier)->socket, frame, bytes);
}

static const unsigned char *udp_take(struct carrier *carrier, size_t *bytes) {
    struct udp_carrier *udp = udp_of(carrier);
    return descriptor_take(carrier, udp->socket, udp->frame, sizeof udp->frame, bytes);
}

static void udp_release(struct carrier *carrier) {
    (void)carrier;
}

static void udp_wait(struct carrier *carrier, uint64_t limit_ns) {
    descriptor_wait(udp_of(carrier)->socket, limit_ns);
}

static uint64_t udp_dropped(struct carrier *carrier) {
    return descriptor_dropped(udp_of(carrier)->socket);
}

static int udp_descriptor(const struct carrier *carrier) {
    return ((const struct udp_carrier *)carrier)->socket;
}

static void udp_close(struct carrier *carrier) {
    close(udp_of(carrier)->socket);
    free(carrier);
}

static const struct carrier_methods methods = {
    .send = udp_send,
    .take = udp_take,
    .release = udp_release,
    .wait = udp_wait,
    .dropped = udp_dropped,
    .descriptor = udp_descriptor,
    .close = udp_close,
};

int udp_carrier_bind(struct sockaddr_in *here) {
    socklen_t length = sizeof *here;
    const int udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (udp < 0) {
        return -1;
    }
    if (bind(udp, (const struct sockaddr *)here, length) != 0 ||
        getsockname(udp, (struct sockaddr *)here, &length) != 0) {
        const int error = errno;
        close(udp);
        errno = error;
        return -1;
    }
    return udp;
}

struct carrier *udp_carrier_join(int socket, const struct sockaddr_in *there) {
    struct udp_carrier *udp = calloc(1, sizeof *udp);
    if (!udp || connect(socket, (const struct sockaddr *)there, sizeof *there) != 0) {
        free(udp);
        return NULL;
    }
    udp->carrier.methods = &methods;
    udp->socket = socket;
    return &udp->carrier;
}
