#define _GNU_SOURCE
#include "arrivals.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "companion.h"
#include "crew.h"
#include "pattern.h"
#include "refuse.h"

enum { LOOK_EVERY_US = 100 };

/* What both sides see. */
struct arrived {
    atomic_uint_fast64_t handling_ns;
    atomic_uint_fast64_t datagrams;
    atomic_uint_fast64_t bytes;
    atomic_uint_fast64_t wrong;
};

static struct arrived *arrived;
static struct datagram expected;
static int far = -1;

int arrivals_socket(struct sockaddr_in *address) {
    socklen_t length = sizeof *address;
    const int opened = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (opened < 0 || bind(opened, (const struct sockaddr *)address, length) != 0) {
        refuse("no socket can be opened (%s); check addresses and limits", strerror(errno));
    }
    getsockname(opened, (struct sockaddr *)address, &length);
    return opened;
}

static void take_in(const struct datagram *datagram, size_t bytes) {
    static uint64_t last;
    const size_t rest = bytes - sizeof datagram->number;
    if (datagram->number <= last || memcmp(datagram->words, expected.words, rest) != 0) {
        atomic_fetch_add(&arrived->wrong, 1);
    }
    last = datagram->number;
    atomic_fetch_add(&arrived->bytes, bytes);
    atomic_fetch_add(&arrived->datagrams, 1);
}

static void be_far_side(const void *argument) {
    static struct datagram taken;
    (void)argument;
    companion_ready(0);
    for (;;) {
        const ssize_t length = recv(far, &taken, sizeof taken, MSG_TRUNC);
        if (length < PAYLOAD_LEAST_BYTES || length > (ssize_t)sizeof taken) {
            atomic_fetch_add(&arrived->wrong, length >= 0);
            continue;
        }
        take_in(&taken, (size_t)length);
        const uint64_t until = clock_now() + atomic_load(&arrived->handling_ns);
        while (clock_now() < until) {
        }
    }
}

void arrivals_start(int socket, int cpu, uint64_t seed) {
    far = socket;
    arrivals_fill(&expected, seed);
    arrived = crew_share(sizeof *arrived, "what arrives");
    companion_start("the far side", cpu, be_far_side, NULL);
}

void arrivals_fill(struct datagram *datagram, uint64_t seed) {
    pattern_fill(pattern_make(seed), datagram->words,
                 sizeof datagram->words / sizeof *datagram->words);
}

void arrivals_set(uint64_t buffer_bytes, uint64_t handling_ns) {
    const int wanted = (int)buffer_bytes;
    /* Beyond the system's limit only with the right to. */
    if (setsockopt(far, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof wanted) != 0) {
        (void)setsockopt(far, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
    }
    atomic_store(&arrived->handling_ns, handling_ns);
}

uint64_t arrivals_buffer_bytes(void) {
    int bytes = 0;
    socklen_t length = sizeof bytes;
    (void)getsockopt(far, SOL_SOCKET, SO_RCVBUF, &bytes, &length);
    return (uint64_t)bytes;
}

uint64_t arrivals_datagrams(void) {
    return atomic_load(&arrived->datagrams);
}

uint64_t arrivals_bytes(void) {
    return atomic_load(&arrived->bytes);
}

uint64_t arrivals_wrong(void) {
    return atomic_load(&arrived->wrong);
}

void arrivals_wait_until_quiet(uint64_t quiet_ns) {
    uint64_t seen = arrivals_datagrams();
    uint64_t since = clock_now();
    while (clock_now() - since < quiet_ns) {
        int waiting = 0;
        usleep(LOOK_EVERY_US);
        (void)ioctl(far, FIONREAD, &waiting);
        const uint64_t now = arrivals_datagrams();
        since = now == seen && waiting == 0 ? since : clock_now();
        seen = now;
    }
}
