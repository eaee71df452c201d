/* What brings frames from one end to the other, as well as it can: it may lose, repeat, reorder and
 * damage them. An endpoint makes messages of them that arrive (messages.h).
 *
 * A carrier of another kind is a struct that begins with `struct carrier`, a table of these
 * methods, and a function that opens it. */
#ifndef CARRIER_H
#define CARRIER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CARRIER_FRAME_MOST_BYTES = 1440 };

struct carrier;

struct carrier_methods {
    /* False: there is no room now; try again. What is lost on the way is no failure. */
    bool (*send)(struct carrier *carrier, const void *frame, size_t bytes);

    /* The next frame, or NULL; never waits. It stays where it is until it is released. A carrier
     * may hand out bytes behind the frame, as Ethernet pads short ones. */
    const unsigned char *(*take)(struct carrier *carrier, size_t *bytes);
    void (*release)(struct carrier *carrier);

    /* Sleeps until a frame may be there, or so long. */
    void (*wait)(struct carrier *carrier, uint64_t limit_ns);

    /* Frames dropped at this end for want of room. */
    uint64_t (*dropped)(struct carrier *carrier);

    /* What the system raises SIGIO for when a frame comes; below 0: there is nothing like it. */
    int (*descriptor)(const struct carrier *carrier);

    void (*close)(struct carrier *carrier);
};

struct carrier {
    const struct carrier_methods *methods;
    bool is_gone; /* the system says that nobody is at the other end any more */
};

/* All of these return NULL, and errno says why, where the system lacks or forbids something. */

/* --- UDP: a datagram a frame. Bind both ends, then join each to the other one's address. */

/* A socket at this address, port 0: any; `here` then has the port. Below 0: errno says why. */
int udp_carrier_bind(struct sockaddr_in *here);
struct carrier *udp_carrier_join(int socket, const struct sockaddr_in *there);

/* --- Memory that both ends share: of memory_carrier_bytes(), all zero, before the ends part. One
 * is the first end, the other is not. */

size_t memory_carrier_bytes(void);
struct carrier *memory_carrier_open(void *shared, bool is_first, bool sleeps);

/* --- Ethernet, with frames of a type of our own. */

struct ethernet {
    int interface; /* its index */
    unsigned char here[6];
    unsigned char there[6];
    /* Of its frames: whoever else has a connection through these interfaces takes another one, for
     * each socket of a type is handed all its frames. ETHERNET_TYPE is IEEE 802's for local
     * experiments. */
    uint16_t type;
    bool bypasses_queue; /* what shapes the link is left out, and costs nothing */
};

enum { ETHERNET_TYPE = 0x88b5 };

/* Index and address of an interface in this network namespace; false: errno says why. */
bool ethernet_look(const char *name, int *interface, unsigned char address[6]);

/* By system calls: each frame is copied by the kernel. */
struct carrier *packet_carrier_open(const struct ethernet *ethernet);

/* By rings that the kernel and this process share, of so many frames, a multiple of 32. */
enum { RINGS_FRAMES = 256 };
struct carrier *rings_carrier_open(const struct ethernet *ethernet, size_t frames);

/* By AF_XDP in copy mode, with rings of as many frames, or of the next smaller power of two. One at
 * a time for each interface; nothing that shapes the link is passed, whatever bypasses_queue is. */
struct carrier *xdp_carrier_open(const struct ethernet *ethernet, size_t frames);

/* --- One that does on purpose what a wire does by accident, to each frame that is sent, in so many
 * of a million cases. */

struct lossy_rates {
    uint32_t lost;
    uint32_t repeated;
    uint32_t reordered; /* goes behind the next one */
    uint32_t damaged;   /* one bit is another one */
};

struct lossy_counts {
    uint64_t frames;
    uint64_t lost;
    uint64_t repeated;
    uint64_t reordered;
    uint64_t damaged;
};

/* Closes what it stands on with itself. The same seed: the same frames are hit. */
struct carrier *lossy_carrier_open(struct carrier *below, const struct lossy_rates *rates,
                                   uint64_t seed);
struct lossy_counts lossy_carrier_counts(const struct carrier *carrier);

#endif
