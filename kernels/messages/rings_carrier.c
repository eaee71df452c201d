/* PACKET_MMAP, version 2: a ring of frames each way, in memory that the kernel shares. Receiving is
 * reading it; sending is one system call for each frame. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_packet.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "carrier.h"
#include "descriptor.h"
#include "ethernet.h"

enum { FRAME_BYTES = 2048, BLOCK_BYTES = 32 * FRAME_BYTES };
enum { DATA_OFFSET = TPACKET2_HDRLEN - sizeof(struct sockaddr_ll) };

struct rings_carrier {
    struct carrier carrier;
    int socket;
    size_t frames; /* of each ring */
    unsigned char *in;
    unsigned char *out;
    size_t next_in;
    size_t next_out;
    uint64_t dropped;
    unsigned char head[ETHERNET_HEADER_BYTES];
};

static struct rings_carrier *rings_of(struct carrier *carrier) {
    return (struct rings_carrier *)carrier;
}

static struct tpacket2_hdr *header_at(unsigned char *ring, size_t frame) {
    return (struct tpacket2_hdr *)(void *)(ring + frame * FRAME_BYTES);
}

static uint32_t status_of(const struct tpacket2_hdr *header) {
    return __atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE);
}

static void set_status(struct tpacket2_hdr *header, uint32_t status) {
    __atomic_store_n(&header->tp_status, status, __ATOMIC_RELEASE);
}

/* The kernel has not sent what stands in the ring: it had no room itself. */
static void kick(struct rings_carrier *rings) {
    if (send(rings->socket, NULL, 0, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
        (errno == ENXIO || errno == ENODEV || errno == ENETDOWN)) {
        rings->carrier.is_gone = true;
    }
}

static bool rings_send(struct carrier *carrier, const void *frame, size_t bytes) {
    struct rings_carrier *rings = rings_of(carrier);
    struct tpacket2_hdr *header = header_at(rings->out, rings->next_out);
    if (status_of(header) != TP_STATUS_AVAILABLE) {
        kick(rings);
        return false;
    }
    unsigned char *data = (unsigned char *)header + DATA_OFFSET;
    memcpy(data, rings->head, sizeof rings->head);
    memcpy(data + sizeof rings->head, frame, bytes);
    header->tp_len = (uint32_t)(sizeof rings->head + bytes);
    set_status(header, TP_STATUS_SEND_REQUEST);
    rings->next_out = rings->next_out + 1 < rings->frames ? rings->next_out + 1 : 0;
    kick(rings);
    return true;
}

static const unsigned char *rings_take(struct carrier *carrier, size_t *bytes) {
    struct rings_carrier *rings = rings_of(carrier);
    struct tpacket2_hdr *header = header_at(rings->in, rings->next_in);
    if (!(status_of(header) & TP_STATUS_USER)) {
        return NULL;
    }
    const size_t length = header->tp_snaplen;
    *bytes = length > ETHERNET_HEADER_BYTES ? length - ETHERNET_HEADER_BYTES : 0;
    return (const unsigned char *)header + header->tp_mac + ETHERNET_HEADER_BYTES;
}

static void rings_release(struct carrier *carrier) {
    struct rings_carrier *rings = rings_of(carrier);
    set_status(header_at(rings->in, rings->next_in), TP_STATUS_KERNEL);
    rings->next_in = rings->next_in + 1 < rings->frames ? rings->next_in + 1 : 0;
}

static void rings_wait(struct carrier *carrier, uint64_t limit_ns) {
    descriptor_wait(rings_of(carrier)->socket, limit_ns);
}

static uint64_t rings_dropped(struct carrier *carrier) {
    struct rings_carrier *rings = rings_of(carrier);
    return rings->dropped += ethernet_dropped(rings->socket);
}

static int rings_descriptor(const struct carrier *carrier) {
    return ((const struct rings_carrier *)carrier)->socket;
}

static void rings_close(struct carrier *carrier) {
    struct rings_carrier *rings = rings_of(carrier);
    if (rings->in) {
        munmap(rings->in, 2 * rings->frames * FRAME_BYTES);
    }
    if (rings->socket >= 0) {
        close(rings->socket);
    }
    free(rings);
}

static const struct carrier_methods methods = {
    .send = rings_send,
    .take = rings_take,
    .release = rings_release,
    .wait = rings_wait,
    .dropped = rings_dropped,
    .descriptor = rings_descriptor,
    .close = rings_close,
};

static bool make_rings(struct rings_carrier *rings) {
    const int version = TPACKET_V2;
    const struct tpacket_req ring = {
        .tp_block_size = BLOCK_BYTES,
        .tp_block_nr = (unsigned)(rings->frames * FRAME_BYTES / BLOCK_BYTES),
        .tp_frame_size = FRAME_BYTES,
        .tp_frame_nr = (unsigned)rings->frames,
    };
    const int raw = rings->socket;
    if (raw < 0 || setsockopt(raw, SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0 ||
        setsockopt(raw, SOL_PACKET, PACKET_RX_RING, &ring, sizeof ring) != 0 ||
        setsockopt(raw, SOL_PACKET, PACKET_TX_RING, &ring, sizeof ring) != 0) {
        return false;
    }
    unsigned char *both = mmap(NULL, 2 * rings->frames * FRAME_BYTES, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_POPULATE, raw, 0);
    if (both == MAP_FAILED) {
        return false;
    }
    rings->in = both;
    rings->out = both + rings->frames * FRAME_BYTES;
    return true;
}

struct carrier *rings_carrier_open(const struct ethernet *ethernet, size_t frames) {
    struct rings_carrier *rings = calloc(1, sizeof *rings);
    if (!rings) {
        return NULL;
    }
    rings->carrier.methods = &methods;
    rings->frames = frames;
    ethernet_head(ethernet, rings->head);
    rings->socket = ethernet_socket(ethernet);
    if (!make_rings(rings) || !ethernet_bind(rings->socket, ethernet)) {
        const int error = errno;
        rings_close(&rings->carrier);
        errno = error;
        return NULL;
    }
    return &rings->carrier;
}
