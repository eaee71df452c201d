#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carrier.h"
#include "descriptor.h"
#include "ethernet.h"

enum { PACKET_MOST_BYTES = ETHERNET_HEADER_BYTES + CARRIER_FRAME_MOST_BYTES };

struct packet_carrier {
    struct carrier carrier;
    int socket;
    uint64_t dropped;
    unsigned char out[PACKET_MOST_BYTES];
    unsigned char in[PACKET_MOST_BYTES + 1];
};

static struct packet_carrier *packet_of(struct carrier *carrier) {
    return (struct packet_carrier *)carrier;
}

static bool packet_send(struct carrier *carrier, const void *frame, size_t bytes) {
    struct packet_carrier *packet = packet_of(carrier);
    memcpy(packet->out + ETHERNET_HEADER_BYTES, frame, bytes);
    return descriptor_send(carrier, packet->socket, packet->out, ETHERNET_HEADER_BYTES + bytes);
}

static const unsigned char *packet_take(struct carrier *carrier, size_t *bytes) {
    struct packet_carrier *packet = packet_of(carrier);
    const unsigned char *frame =
        descriptor_take(carrier, packet->socket, packet->in, sizeof packet->in, bytes);
    if (!frame) {
        return NULL;
    }
    *bytes = *bytes > ETHERNET_HEADER_BYTES ? *bytes - ETHERNET_HEADER_BYTES : 0;
    return frame + ETHERNET_HEADER_BYTES;
}

static void packet_release(struct carrier *carrier) {
    (void)carrier;
}

static void packet_wait(struct carrier *carrier, uint64_t limit_ns) {
    descriptor_wait(packet_of(carrier)->socket, limit_ns);
}

static uint64_t packet_dropped(struct carrier *carrier) {
    struct packet_carrier *packet = packet_of(carrier);
    return packet->dropped += ethernet_dropped(packet->socket);
}

static int packet_descriptor(const struct carrier *carrier) {
    return ((const struct packet_carrier *)carrier)->socket;
}

static void packet_close(struct carrier *carrier) {
    close(packet_of(carrier)->socket);
    free(carrier);
}

static const struct carrier_methods methods = {
    .send = packet_send,
    .take = packet_take,
    .release = packet_release,
    .wait = packet_wait,
    .dropped = packet_dropped,
    .descriptor = packet_descriptor,
    .close = packet_close,
};

struct carrier *packet_carrier_open(const struct ethernet *ethernet) {
    struct packet_carrier *packet = calloc(1, sizeof *packet);
    if (!packet) {
        return NULL;
    }
    packet->carrier.methods = &methods;
    ethernet_head(ethernet, packet->out);
    packet->socket = ethernet_socket(ethernet);
    if (packet->socket < 0 || !ethernet_bind(packet->socket, ethernet)) {
        const int error = errno;
        if (packet->socket >= 0) {
            close(packet->socket);
        }
        free(packet);
        errno = error;
        return NULL;
    }
    return &packet->carrier;
}
