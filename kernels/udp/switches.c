#define _GNU_SOURCE
#include "switches.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cannot_run.h"
#include "clock.h"
#include "refuse.h"

enum { SLOT_BYTES = 2048, RING_BYTES = SLOT_BYTES * SWITCHES_QUEUE_FRAMES };
enum { ADDRESSES_BYTES = 2 * ETH_ALEN, TAG_BYTES = 4 };
/* A frame is padded to the smallest one; around it are preamble, checksum and gap. */
enum { LEAST_FRAME_BYTES = 60, AROUND_FRAME_BYTES = 8 + 4 + 12 };
enum { ROUNDS_PER_CLOCK_READING = 4096 };
static const uint64_t AWAKE_NS = 1000000000;

/* One of the two directions through a switch. The ring in which the kernel puts what comes in is
 * the queue as well: a frame waits in its slot until it leaves. */
struct direction {
    int in;
    int out;
    char *ring;
    size_t first;          /* slot of the frame that leaves next */
    size_t waiting;        /* frames seen, from there on */
    uint64_t leaves_at_ns; /* the first of them */
    uint64_t left_ns;      /* the one before */
    bool was_full;
    struct switches_count *count;
    uint64_t came_ns[SWITCHES_QUEUE_FRAMES];
};

static struct direction directions[2 * SWITCHES_MOST];

static struct tpacket2_hdr *slot_of(const struct direction *direction, size_t place) {
    const size_t slot = (direction->first + place) % SWITCHES_QUEUE_FRAMES;
    return (struct tpacket2_hdr *)(direction->ring + slot * SLOT_BYTES);
}

static bool has_tag(const struct tpacket2_hdr *slot) {
    return slot->tp_status & TP_STATUS_VLAN_VALID;
}

/* How long the link to the next one is busy with the frame. */
static uint64_t wire_ns(const struct tpacket2_hdr *slot, uint64_t link_bits_per_s) {
    uint64_t bytes = slot->tp_len + (has_tag(slot) ? TAG_BYTES : 0);
    if (bytes < LEAST_FRAME_BYTES) {
        bytes = LEAST_FRAME_BYTES;
    }
    return (bytes + AROUND_FRAME_BYTES) * 8 * UINT64_C(1000000000) / link_bits_per_s;
}

/* The link carries one frame at a time, so the next one starts when the one before has left. */
static void schedule(struct direction *direction, const struct switches *config) {
    uint64_t start_ns = direction->came_ns[direction->first] + config->switching_ns;
    if (start_ns < direction->left_ns) {
        start_ns = direction->left_ns;
    }
    direction->leaves_at_ns =
        config->link_bits_per_s ? start_ns + wire_ns(slot_of(direction, 0), config->link_bits_per_s)
                                : 0;
}

/* True where a frame came. */
static bool look(struct direction *direction, const struct switches *config) {
    const size_t before = direction->waiting;
    while (direction->waiting < SWITCHES_QUEUE_FRAMES &&
           __atomic_load_n(&slot_of(direction, direction->waiting)->tp_status, __ATOMIC_ACQUIRE) &
               TP_STATUS_USER) {
        const size_t slot = (direction->first + direction->waiting) % SWITCHES_QUEUE_FRAMES;
        direction->came_ns[slot] = clock_now();
        direction->waiting++;
    }
    if (direction->waiting == before) {
        return false;
    }
    if (before == 0) {
        schedule(direction, config);
    }
    return true;
}

/* At most one slot gets free between two looks, so that a queue that was full in between is seen
 * with one place left at most. */
static void count_drops(struct direction *direction) {
    if (direction->waiting >= SWITCHES_QUEUE_FRAMES - 1) {
        direction->was_full = true;
    } else if (direction->was_full) {
        struct tpacket_stats since;
        socklen_t bytes = sizeof since;
        if (getsockopt(direction->in, SOL_PACKET, PACKET_STATISTICS, &since, &bytes) == 0) {
            direction->count->frames_dropped += since.tp_drops;
        }
        direction->was_full = false;
    }
}

/* The kernel took the tag out of the frame and left room in front of it. */
static char *put_tag_back(char *start, const struct tpacket2_hdr *slot) {
    const struct {
        uint16_t type;
        uint16_t tag;
    } tag = {htons(slot->tp_status & TP_STATUS_VLAN_TPID_VALID ? slot->tp_vlan_tpid : 0x8100),
             htons(slot->tp_vlan_tci)};
    struct virtio_net_hdr offload;
    memcpy(&offload, start, sizeof offload);
    if (offload.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) {
        offload.csum_start += TAG_BYTES;
    }
    char *const earlier = start - TAG_BYTES;
    memcpy(earlier, &offload, sizeof offload);
    char *const frame = earlier + sizeof offload;
    memmove(frame, frame + TAG_BYTES, ADDRESSES_BYTES);
    memcpy(frame + ADDRESSES_BYTES, &tag, sizeof tag);
    return earlier;
}

/* Straight from the slot, with what is still to be done to its checksum: a sender on this machine
 * leaves that to a network card that is not there. */
static bool send_whole(const struct direction *direction, struct tpacket2_hdr *slot) {
    if (slot->tp_snaplen < slot->tp_len) {
        return false;
    }
    char *start = (char *)slot + slot->tp_mac - sizeof(struct virtio_net_hdr);
    size_t bytes = sizeof(struct virtio_net_hdr) + slot->tp_len;
    if (has_tag(slot)) {
        start = put_tag_back(start, slot);
        bytes += TAG_BYTES;
    }
    return send(direction->out, start, bytes, MSG_DONTWAIT) == (ssize_t)bytes;
}

static void forward(struct direction *direction, const struct switches *config) {
    if (direction->waiting == 0) {
        return;
    }
    const uint64_t now_ns = clock_now();
    if (now_ns < direction->leaves_at_ns) {
        return;
    }
    direction->left_ns = now_ns;
    struct tpacket2_hdr *slot = slot_of(direction, 0);
    if (send_whole(direction, slot)) {
        direction->count->frames_sent++;
    } else {
        direction->count->frames_dropped++;
    }
    __atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    direction->first = (direction->first + 1) % SWITCHES_QUEUE_FRAMES;
    direction->waiting--;
    if (direction->waiting > 0) {
        schedule(direction, config);
    }
}

/* The sides are opened at once, and one of them gives the reason for all. */
static void speak_alone(void) {
    static pthread_mutex_t speaking = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&speaking);
}

static void set(int socket, int option, const void *value, size_t bytes, const char *what) {
    if (setsockopt(socket, SOL_PACKET, option, value, (socklen_t)bytes) != 0) {
        speak_alone();
        cannot_run("a raw socket of an emulated switch takes no %s (%s); leave the emulated "
                   "switches out",
                   what, strerror(errno));
    }
}

static int open_socket(const struct sockaddr_ll *address) {
    /* Without a protocol nothing comes in until it is bound. */
    const int opened = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (opened < 0) {
        speak_alone();
        cannot_run("emulated switches need raw sockets, which are refused here (%s); allow user "
                   "namespaces, or leave these switches out",
                   strerror(errno));
    }
    const int version = TPACKET_V2;
    const int on = 1;
    const struct tpacket_req ring = {
        .tp_block_size = RING_BYTES,
        .tp_block_nr = 1,
        .tp_frame_size = SLOT_BYTES,
        .tp_frame_nr = SWITCHES_QUEUE_FRAMES,
    };
    const struct packet_mreq all = {.mr_ifindex = address->sll_ifindex,
                                    .mr_type = PACKET_MR_PROMISC};
    set(opened, PACKET_VERSION, &version, sizeof version, "ring of version 2");
    set(opened, PACKET_VNET_HDR, &on, sizeof on, "offload header");
    set(opened, PACKET_IGNORE_OUTGOING, &on, sizeof on, "order to ignore what it sent");
    set(opened, PACKET_RX_RING, &ring, sizeof ring, "ring");
    set(opened, PACKET_ADD_MEMBERSHIP, &all, sizeof all, "frames for others");
    return opened;
}

struct side {
    pthread_t opener;
    char name[IF_NAMESIZE];
    int index;
    int socket;
};

static struct side find_side(unsigned number, char letter) {
    struct side side = {.socket = -1};
    snprintf(side.name, sizeof side.name, "s%u%c", number, letter);
    side.index = (int)if_nametoindex(side.name);
    if (side.index == 0) {
        refuse("the interface %s of an emulated switch is missing; make it first", side.name);
    }
    return side;
}

static int open_side(const struct side *side) {
    const struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = side->index};
    const int side_socket = open_socket(&address);
    int error = 0;
    socklen_t bytes = sizeof error;
    /* Of an interface that is down, bind itself does not complain. */
    if (bind(side_socket, (const struct sockaddr *)&address, sizeof address) != 0) {
        error = errno;
    } else if (getsockopt(side_socket, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) {
        error = errno;
    }
    if (error) {
        speak_alone();
        refuse("the interface %s of an emulated switch gives no frames (%s); set it up first",
               side->name, strerror(error));
    }
    return side_socket;
}

static void *open_in_thread(void *argument) {
    struct side *side = argument;
    side->socket = open_side(side);
    return NULL;
}

/* All at once: the kernel makes each ring wait some 20 ms until the one before it is no longer
 * used. */
static void open_sides(struct side *sides, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sides[i] = find_side((unsigned)(i / 2 + 1), i % 2 ? 'b' : 'a');
    }
    for (size_t i = 0; i < count; i++) {
        const int error = pthread_create(&sides[i].opener, NULL, open_in_thread, &sides[i]);
        if (error) {
            speak_alone();
            cannot_run("no thread to open an emulated switch (%s); free processes",
                       strerror(error));
        }
    }
    for (size_t i = 0; i < count; i++) {
        pthread_join(sides[i].opener, NULL);
    }
}

static void open_direction(struct direction *direction, int in, int out,
                           struct switches_count *count) {
    char *ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, in, 0);
    if (ring == MAP_FAILED) {
        cannot_run("no memory for the queues of the emulated switches (%s); ask for fewer",
                   strerror(errno));
    }
    *direction = (struct direction){.in = in, .out = out, .ring = ring, .count = count};
}

static void end_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXIT_FAILED);
    }
}

static void sleep_until_any(size_t count) {
    struct pollfd sockets[2 * SWITCHES_MOST];
    for (size_t i = 0; i < count; i++) {
        sockets[i] = (struct pollfd){.fd = directions[i].in, .events = POLLIN};
    }
    poll(sockets, count, -1);
    for (size_t i = 0; i < count; i++) {
        if (sockets[i].revents & POLLERR) {
            _exit(EXIT_FAILED); /* its interface is gone or down: nothing is left to do */
        }
    }
}

_Noreturn static void serve(const struct switches *config) {
    const size_t count = 2 * (size_t)config->count;
    uint64_t last_ns = clock_now();
    bool idle = true;
    for (uint64_t round = 1;; round++) {
        for (size_t i = 0; i < count; i++) {
            if (look(&directions[i], config)) {
                idle = false;
            }
            count_drops(&directions[i]);
            forward(&directions[i], config);
        }
        if (round % ROUNDS_PER_CLOCK_READING != 0) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            idle = idle && directions[i].waiting == 0;
        }
        if (!idle) {
            last_ns = clock_now();
        } else if (clock_now() - last_ns > AWAKE_NS) {
            sleep_until_any(count);
            last_ns = clock_now();
        }
        idle = true;
    }
}

void switches_run(const struct switches *config) {
    if (config->count < 1 || config->count > SWITCHES_MOST) {
        refuse("%u emulated switches are not from 1 to %d; ask for as many", config->count,
               SWITCHES_MOST);
    }
    end_with(config->parent);
    struct side sides[2 * SWITCHES_MOST];
    open_sides(sides, 2 * (size_t)config->count);
    for (unsigned i = 0; i < config->count; i++) {
        const int a = sides[2 * i].socket;
        const int b = sides[2 * i + 1].socket;
        open_direction(&directions[2 * i], a, b, &config->counts[2 * i]);
        open_direction(&directions[2 * i + 1], b, a, &config->counts[2 * i + 1]);
    }
    config->ready(config->context);
    serve(config);
}
