/* AF_XDP in copy mode: a program in the kernel hands frames of our type to a socket, whose rings
 * and frames the kernel shares with this process. Receiving is reading memory; sending is one
 * system call for each frame. The program goes when its link is closed, with this process at the
 * latest. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "carrier.h"
#include "descriptor.h"
#include "ethernet.h"

enum { CHUNK_BYTES = 2048, QUEUE = 0, TRIES_TO_BIND = 500, TRY_AGAIN_NS = 1000000 };

/* One of the four rings: who fills it moves the producer, who empties it the consumer. */
struct ring {
    uint32_t *producer;
    uint32_t *consumer;
    void *entries;
    void *mapping;
    size_t mapped_bytes;
};

struct xdp_carrier {
    struct carrier carrier;
    int socket;
    int link;      /* the program at the interface */
    size_t frames; /* of each ring, a power of two */
    unsigned char *memory;
    size_t memory_bytes;
    struct ring fill; /* chunks for frames to come */
    struct ring in;
    struct ring out;
    struct ring completed; /* chunks whose frames have gone */
    uint64_t *free_chunks; /* for frames to send */
    size_t free_count;
    unsigned char head[ETHERNET_HEADER_BYTES];
};

static struct xdp_carrier *xdp_of(struct carrier *carrier) {
    return (struct xdp_carrier *)carrier;
}

static uint32_t load(const uint32_t *index) {
    return __atomic_load_n(index, __ATOMIC_ACQUIRE);
}

static void advance(uint32_t *index) {
    __atomic_store_n(index, *index + 1, __ATOMIC_RELEASE);
}

static uint64_t *chunk_at(const struct xdp_carrier *xdp, const struct ring *ring, uint32_t index) {
    return (uint64_t *)ring->entries + (index & (xdp->frames - 1));
}

static struct xdp_desc *frame_at(const struct xdp_carrier *xdp, const struct ring *ring,
                                 uint32_t index) {
    return (struct xdp_desc *)ring->entries + (index & (xdp->frames - 1));
}

static void kick(struct xdp_carrier *xdp) {
    if (sendto(xdp->socket, NULL, 0, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0) < 0 &&
        (errno == ENXIO || errno == ENODEV || errno == ENETDOWN)) {
        xdp->carrier.is_gone = true;
    }
}

static void reclaim(struct xdp_carrier *xdp) {
    struct ring *completed = &xdp->completed;
    while (*completed->consumer != load(completed->producer)) {
        xdp->free_chunks[xdp->free_count++] = *chunk_at(xdp, completed, *completed->consumer);
        advance(completed->consumer);
    }
}

static bool xdp_send(struct carrier *carrier, const void *frame, size_t bytes) {
    struct xdp_carrier *xdp = xdp_of(carrier);
    reclaim(xdp);
    if (xdp->free_count == 0) {
        kick(xdp);
        return false;
    }
    const uint64_t chunk = xdp->free_chunks[--xdp->free_count];
    memcpy(xdp->memory + chunk, xdp->head, sizeof xdp->head);
    memcpy(xdp->memory + chunk + sizeof xdp->head, frame, bytes);
    *frame_at(xdp, &xdp->out, *xdp->out.producer) = (struct xdp_desc){
        .addr = chunk,
        .len = (uint32_t)(sizeof xdp->head + bytes),
    };
    advance(xdp->out.producer);
    kick(xdp);
    return true;
}

static const unsigned char *xdp_take(struct carrier *carrier, size_t *bytes) {
    struct xdp_carrier *xdp = xdp_of(carrier);
    const uint32_t next = *xdp->in.consumer;
    if (next == load(xdp->in.producer)) {
        return NULL;
    }
    const struct xdp_desc *frame = frame_at(xdp, &xdp->in, next);
    *bytes = frame->len > ETHERNET_HEADER_BYTES ? frame->len - ETHERNET_HEADER_BYTES : 0;
    return xdp->memory + frame->addr + ETHERNET_HEADER_BYTES;
}

/* The chunk is for another frame again. */
static void xdp_release(struct carrier *carrier) {
    struct xdp_carrier *xdp = xdp_of(carrier);
    const uint64_t place = frame_at(xdp, &xdp->in, *xdp->in.consumer)->addr;
    advance(xdp->in.consumer);
    *chunk_at(xdp, &xdp->fill, *xdp->fill.producer) = place - place % CHUNK_BYTES;
    advance(xdp->fill.producer);
}

static void xdp_wait(struct carrier *carrier, uint64_t limit_ns) {
    descriptor_wait(xdp_of(carrier)->socket, limit_ns);
}

static uint64_t xdp_dropped(struct carrier *carrier) {
    struct xdp_statistics counts = {0};
    socklen_t length = sizeof counts;
    if (getsockopt(xdp_of(carrier)->socket, SOL_XDP, XDP_STATISTICS, &counts, &length) != 0) {
        return 0;
    }
    return counts.rx_dropped + counts.rx_ring_full + counts.rx_fill_ring_empty_descs;
}

static int xdp_descriptor(const struct carrier *carrier) {
    return ((const struct xdp_carrier *)carrier)->socket;
}

static void unmap_ring(const struct ring *ring) {
    if (ring->mapping) {
        munmap(ring->mapping, ring->mapped_bytes);
    }
}

static void close_if_open(int descriptor) {
    if (descriptor >= 0) {
        close(descriptor);
    }
}

static void xdp_close(struct carrier *carrier) {
    struct xdp_carrier *xdp = xdp_of(carrier);
    close_if_open(xdp->link);
    unmap_ring(&xdp->fill);
    unmap_ring(&xdp->in);
    unmap_ring(&xdp->out);
    unmap_ring(&xdp->completed);
    close_if_open(xdp->socket);
    if (xdp->memory) {
        munmap(xdp->memory, xdp->memory_bytes);
    }
    free(xdp->free_chunks);
    free(xdp);
}

static const struct carrier_methods methods = {
    .send = xdp_send,
    .take = xdp_take,
    .release = xdp_release,
    .wait = xdp_wait,
    .dropped = xdp_dropped,
    .descriptor = xdp_descriptor,
    .close = xdp_close,
};

/* --- Opening. False or below 0: errno says why. */

static bool set_option(const struct xdp_carrier *xdp, int option, const void *value,
                       socklen_t bytes) {
    return setsockopt(xdp->socket, SOL_XDP, option, value, bytes) == 0;
}

static bool map_ring(const struct xdp_carrier *xdp, const struct xdp_ring_offset *offsets,
                     size_t entry_bytes, uint64_t place, struct ring *ring) {
    const size_t bytes = offsets->desc + xdp->frames * entry_bytes;
    unsigned char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                                xdp->socket, (off_t)place);
    if (start == MAP_FAILED) {
        return false;
    }
    *ring = (struct ring){
        .producer = (uint32_t *)(void *)(start + offsets->producer),
        .consumer = (uint32_t *)(void *)(start + offsets->consumer),
        .entries = start + offsets->desc,
        .mapping = start,
        .mapped_bytes = bytes,
    };
    return true;
}

/* Half of the chunks are for frames to come, half for frames to send. Shared, because the process
 * that opens a carrier may leave it to a child. */
static bool make_memory(struct xdp_carrier *xdp) {
    xdp->memory_bytes = 2 * xdp->frames * CHUNK_BYTES;
    xdp->free_chunks = calloc(xdp->frames, sizeof *xdp->free_chunks);
    unsigned char *memory = mmap(NULL, xdp->memory_bytes, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (!xdp->free_chunks || memory == MAP_FAILED) {
        return false;
    }
    xdp->memory = memory;
    for (size_t frame = 0; frame < xdp->frames; frame++) {
        xdp->free_chunks[xdp->free_count++] = (xdp->frames + frame) * CHUNK_BYTES;
    }
    const struct xdp_umem_reg region = {
        .addr = (uintptr_t)memory, .len = xdp->memory_bytes, .chunk_size = CHUNK_BYTES};
    return set_option(xdp, XDP_UMEM_REG, &region, sizeof region);
}

static bool make_rings(struct xdp_carrier *xdp) {
    const int entries = (int)xdp->frames;
    struct xdp_mmap_offsets offsets;
    socklen_t length = sizeof offsets;
    if (!set_option(xdp, XDP_UMEM_FILL_RING, &entries, sizeof entries) ||
        !set_option(xdp, XDP_UMEM_COMPLETION_RING, &entries, sizeof entries) ||
        !set_option(xdp, XDP_RX_RING, &entries, sizeof entries) ||
        !set_option(xdp, XDP_TX_RING, &entries, sizeof entries) ||
        getsockopt(xdp->socket, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) != 0 ||
        !map_ring(xdp, &offsets.fr, sizeof(uint64_t), XDP_UMEM_PGOFF_FILL_RING, &xdp->fill) ||
        !map_ring(xdp, &offsets.cr, sizeof(uint64_t), XDP_UMEM_PGOFF_COMPLETION_RING,
                  &xdp->completed) ||
        !map_ring(xdp, &offsets.rx, sizeof(struct xdp_desc), XDP_PGOFF_RX_RING, &xdp->in) ||
        !map_ring(xdp, &offsets.tx, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING, &xdp->out)) {
        return false;
    }
    for (size_t frame = 0; frame < xdp->frames; frame++) {
        *chunk_at(xdp, &xdp->fill, *xdp->fill.producer) = frame * CHUNK_BYTES;
        advance(xdp->fill.producer);
    }
    return true;
}

/* The kernel lets go of an interface's queue a while after the socket before was closed. */
static bool bind_socket(const struct xdp_carrier *xdp, int interface) {
    const struct sockaddr_xdp place = {
        .sxdp_family = AF_XDP,
        .sxdp_flags = XDP_COPY,
        .sxdp_ifindex = (uint32_t)interface,
        .sxdp_queue_id = QUEUE,
    };
    const struct timespec pause = {.tv_nsec = TRY_AGAIN_NS};
    for (int tries = 0; tries < TRIES_TO_BIND; tries++) {
        if (bind(xdp->socket, (const struct sockaddr *)&place, sizeof place) == 0) {
            return true;
        }
        if (errno != EBUSY) {
            return false;
        }
        nanosleep(&pause, NULL);
    }
    errno = EBUSY;
    return false;
}

static int call_bpf(enum bpf_cmd command, union bpf_attr *attributes) {
    return (int)syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

/* A map from the interface's queue to the socket. */
static int make_map(const struct xdp_carrier *xdp) {
    union bpf_attr map = {
        .map_type = BPF_MAP_TYPE_XSKMAP,
        .key_size = sizeof(uint32_t),
        .value_size = sizeof(int),
        .max_entries = QUEUE + 1,
    };
    const int made = call_bpf(BPF_MAP_CREATE, &map);
    const uint32_t key = QUEUE;
    union bpf_attr element = {
        .map_fd = (uint32_t)made, .key = (uintptr_t)&key, .value = (uintptr_t)&xdp->socket};
    if (made >= 0 && call_bpf(BPF_MAP_UPDATE_ELEM, &element) != 0) {
        const int error = errno;
        close(made);
        errno = error;
        return -1;
    }
    return made;
}

/* Frames of our type go to the socket of their queue, all others where they went before. */
static int load_program(int map, uint16_t type) {
    enum { R0, R1, R2, R3, R4, R5, PASS_AT = 13 };
    const struct bpf_insn code[] = {
        {BPF_LDX | BPF_MEM | BPF_W, R2, R1, offsetof(struct xdp_md, data), 0},
        {BPF_LDX | BPF_MEM | BPF_W, R3, R1, offsetof(struct xdp_md, data_end), 0},
        {BPF_ALU64 | BPF_MOV | BPF_X, R4, R2, 0, 0},
        {BPF_ALU64 | BPF_ADD | BPF_K, R4, 0, 0, ETHERNET_HEADER_BYTES},
        {BPF_JMP | BPF_JGT | BPF_X, R4, R3, PASS_AT - 5, 0},
        {BPF_LDX | BPF_MEM | BPF_H, R5, R2, ETHERNET_HEADER_BYTES - sizeof type, 0},
        {BPF_JMP | BPF_JNE | BPF_K, R5, 0, PASS_AT - 7, htons(type)},
        {BPF_LDX | BPF_MEM | BPF_W, R2, R1, offsetof(struct xdp_md, rx_queue_index), 0},
        {BPF_LD | BPF_IMM | BPF_DW, R1, BPF_PSEUDO_MAP_FD, 0, map},
        {0, 0, 0, 0, 0}, /* its second half */
        {BPF_ALU64 | BPF_MOV | BPF_K, R3, 0, 0, XDP_PASS},
        {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map},
        {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
        {BPF_ALU64 | BPF_MOV | BPF_K, R0, 0, 0, XDP_PASS},
        {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
    };
    union bpf_attr program = {
        .prog_type = BPF_PROG_TYPE_XDP,
        .insns = (uintptr_t)code,
        .insn_cnt = sizeof code / sizeof *code,
        .license = (uintptr_t)"",
    };
    return call_bpf(BPF_PROG_LOAD, &program);
}

static int link_program(int program, int interface) {
    union bpf_attr link = {
        .link_create.prog_fd = (uint32_t)program,
        .link_create.target_ifindex = (uint32_t)interface,
        .link_create.attach_type = BPF_XDP,
        .link_create.flags = XDP_FLAGS_SKB_MODE,
    };
    return call_bpf(BPF_LINK_CREATE, &link);
}

/* The link keeps the program, and that the map. */
static bool attach(struct xdp_carrier *xdp, const struct ethernet *ethernet) {
    const int map = make_map(xdp);
    const int program = map < 0 ? -1 : load_program(map, ethernet->type);
    xdp->link = program < 0 ? -1 : link_program(program, ethernet->interface);
    const int error = errno;
    close_if_open(map);
    close_if_open(program);
    errno = error;
    return xdp->link >= 0;
}

struct carrier *xdp_carrier_open(const struct ethernet *ethernet, size_t frames) {
    struct xdp_carrier *xdp = calloc(1, sizeof *xdp);
    if (!xdp) {
        return NULL;
    }
    xdp->carrier.methods = &methods;
    xdp->link = -1;
    for (xdp->frames = 1; 2 * xdp->frames <= frames;) {
        xdp->frames *= 2;
    }
    ethernet_head(ethernet, xdp->head);
    xdp->socket = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (xdp->socket < 0 || !make_memory(xdp) || !make_rings(xdp) ||
        !bind_socket(xdp, ethernet->interface) || !attach(xdp, ethernet)) {
        const int error = errno;
        xdp_close(&xdp->carrier);
        errno = error;
        return NULL;
    }
    return &xdp->carrier;
}
