/* Bursts of datagrams to a far side whose socket has the buffer that a point asks for: what the
 * sender handed over, what the far host's interface took in, and what the program there got. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "arrivals.h"
#include "bench.h"
#include "clock.h"
#include "companion.h"
#include "cpus.h"
#include "network.h"

enum { KEY_PAYLOAD, KEY_DATAGRAMS, KEY_BUFFER, KEY_GAP, KEY_HANDLING, KEYS };
enum { SENDER, RECEIVER };
enum { DATAGRAMS_MOST = 1 << 20, PAUSE_NS_MOST = 1000000, BUFFER_BYTES_MOST = 1 << 30 };
enum { SEND_BUFFER_BYTES = 4 << 20 }; /* so that the sender does not wait */
enum { CPUS_WANTED = 2 };

/* Nothing more comes, if nothing came for so long. */
enum { QUIET_NS = 1000000, LAST_QUIET_NS = 20000000, PATIENCE_NS = 100000 };
#define GIVE_UP_NS UINT64_C(1000000000)

struct burst {
    uint64_t datagrams;
    size_t bytes; /* of each */
    uint64_t gap_ns;
};

/* Where counters stood before the point. */
static struct {
    uint64_t sent;
    uint64_t arrived;
    uint64_t arrived_bytes;
    uint64_t wrong;
    uint64_t buffer_errors;
    struct proc_net_traffic near;
    struct proc_net_traffic far;
    bool has_buffer_errors;
    bool has_traffic;
} before;

static const struct network *network;
static struct sockaddr_in there;
static int near = -1;
static struct datagram datagram;
static struct burst burst;
static uint64_t sent;
static uint64_t transfers;
static int send_error;
static bool is_given_up;

static inline void send_some(const struct burst *all, uint64_t count) {
    uint64_t next = clock_now();
    for (uint64_t i = 0; i < count; i++) {
        while (all->gap_ns > 0 && clock_now() < next) {
        }
        next += all->gap_ns;
        datagram.number = ++sent;
        if (sendto(near, &datagram, all->bytes, 0, (const struct sockaddr *)&there, sizeof there) <
            0) {
            send_error = errno;
        }
    }
}

/* Until `wanted` have arrived, or none has for a while. */
static inline void wait_for(uint64_t wanted) {
    uint64_t seen = arrivals_datagrams();
    uint64_t since = clock_now();
    while (seen < wanted && clock_now() - since < PATIENCE_NS) {
        const uint64_t now = arrivals_datagrams();
        since = now == seen ? since : clock_now();
        seen = now;
    }
}

/* Ends when the last datagram is handed to the socket. */
BENCH_TIMED static void timed_sender(const void *state) {
    const struct burst *all = state;
    send_some(all, all->datagrams);
}

/* Ends when as many as are declared have arrived; those that are lost are made up for. */
BENCH_TIMED static void timed_receiver(const void *state) {
    const struct burst *all = state;
    const uint64_t wanted = arrivals_datagrams() + all->datagrams;
    const uint64_t until = clock_now() + GIVE_UP_NS;
    for (uint64_t has; (has = arrivals_datagrams()) < wanted && !is_given_up;) {
        send_some(all, wanted - has);
        wait_for(wanted);
        is_given_up = clock_now() > until;
    }
}

static void finish(const void *state) {
    (void)state;
    transfers++;
    companions_watch();
    arrivals_wait_until_quiet(QUIET_NS);
}

static const struct bench_key keys[] = {
    [KEY_PAYLOAD] = {.name = "payload_bytes"},       [KEY_DATAGRAMS] = {.name = "datagrams"},
    [KEY_BUFFER] = {.name = "receive_buffer_bytes"}, [KEY_GAP] = {.name = "gap_ns"},
    [KEY_HANDLING] = {.name = "handling_ns"},        [KEYS] = {0},
};

static const struct bench_method methods[] = {
    [SENDER] = {.name = "sender", .keys = (1 << KEYS) - 1},
    [RECEIVER] = {.name = "receiver", .keys = (1 << KEYS) - 1},
    {0},
};

static const struct range {
    uint64_t least;
    uint64_t most;
} ranges[KEYS] = {
    [KEY_PAYLOAD] = {PAYLOAD_LEAST_BYTES, PAYLOAD_MOST_BYTES},
    [KEY_DATAGRAMS] = {1, DATAGRAMS_MOST},
    [KEY_BUFFER] = {1, BUFFER_BYTES_MOST},
    [KEY_GAP] = {0, PAUSE_NS_MOST},
    [KEY_HANDLING] = {0, PAUSE_NS_MOST},
};

static void accept_point(const struct bench_point *point) {
    for (size_t i = 0; i < KEYS; i++) {
        if (point->values[i] < ranges[i].least || point->values[i] > ranges[i].most) {
            refuse("%s=%" PRIu64 " is not from %" PRIu64 " to %" PRIu64 "; give one that is",
                   keys[i].name, point->values[i], ranges[i].least, ranges[i].most);
        }
    }
}

static struct bench_buffers open_network(const struct bench_settings *settings) {
    int cpus[CPUS_WANTED];
    const int room = SEND_BUFFER_BYTES;
    network = network_asked();
    network_open();
    if (network->port) {
        refuse("--port is of a far side that somebody else started, and nobody else's tells what "
               "arrived; leave it out");
    }
    if (cpus_find(cpus, CPUS_WANTED) < CPUS_WANTED) {
        cannot_run("this process may use 1 CPU, and both sides need one each; give it two");
    }
    arrivals_fill(&datagram, settings->seed);
    there = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = network->far};
    network_enter(network->far_namespace);
    const int far = arrivals_socket(&there);
    network_return();
    near = arrivals_socket(&(struct sockaddr_in){.sin_family = AF_INET, .sin_addr = network->near});
    if (setsockopt(near, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room) != 0) {
        (void)setsockopt(near, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    }
    arrivals_start(far, cpus[1], settings->seed);
    cpus_pin(cpus[0]);
    return (struct bench_buffers){0};
}

static struct bench_task prepare(const struct bench_point *point) {
    burst = (struct burst){
        .datagrams = point->values[KEY_DATAGRAMS],
        .bytes = point->values[KEY_PAYLOAD],
        .gap_ns = point->values[KEY_GAP],
    };
    arrivals_set(point->values[KEY_BUFFER], point->values[KEY_HANDLING]);
    transfers = 0;
    send_error = 0;
    is_given_up = false;
    before.sent = sent;
    before.arrived = arrivals_datagrams();
    before.arrived_bytes = arrivals_bytes();
    before.wrong = arrivals_wrong();
    before.has_buffer_errors =
        network_count(NETWORK_FAR, "Udp", "RcvbufErrors", &before.buffer_errors);
    before.has_traffic =
        network_traffic(NETWORK_NEAR, &before.near) && network_traffic(NETWORK_FAR, &before.far);
    return (struct bench_task){
        .timed = point->method == SENDER ? timed_sender : timed_receiver,
        .state = &burst,
        .bytes_declared = burst.datagrams * burst.bytes,
        .between = finish,
    };
}

static void observe_hosts(struct bench_report *report) {
    struct proc_net_traffic near_now;
    struct proc_net_traffic far_now;
    uint64_t errors = 0;
    if (before.has_buffer_errors && network_count(NETWORK_FAR, "Udp", "RcvbufErrors", &errors)) {
        bench_observe_count(report, "receive_buffer_errors", errors - before.buffer_errors);
    } else {
        bench_observe_absent(report, "receive_buffer_errors");
    }
    if (before.has_traffic && network_traffic(NETWORK_NEAR, &near_now) &&
        network_traffic(NETWORK_FAR, &far_now)) {
        bench_observe_count(report, "interface_packets_sent",
                            near_now.sent_packets - before.near.sent_packets);
        bench_observe_count(report, "interface_packets_received",
                            far_now.received_packets - before.far.received_packets);
    } else {
        bench_observe_absent(report, "interface_packets_sent");
        bench_observe_absent(report, "interface_packets_received");
    }
}

static void check(const struct bench_point *point, struct bench_report *report) {
    int cpus[CPUS_WANTED];
    (void)point;
    arrivals_wait_until_quiet(LAST_QUIET_NS);
    companions_watch();
    const uint64_t datagrams = arrivals_datagrams() - before.arrived;
    const uint64_t wrong = arrivals_wrong() - before.wrong;
    if (wrong > 0) {
        bench_fail(report, "%" PRIu64 " datagrams arrived out of order or changed", wrong);
    }
    if (send_error) {
        bench_fail(report, "a datagram of %zu bytes could not be sent (%s); see addresses and MTU",
                   burst.bytes, strerror(send_error));
    }
    if (is_given_up || datagrams == 0) {
        bench_fail(report,
                   "%" PRIu64 " of %" PRIu64 " datagrams arrived, which is too few; see what "
                   "drops them, or give a larger buffer",
                   datagrams, sent - before.sent);
    }
    bench_observe_count(report, "transfers", transfers);
    bench_observe_count(report, "datagrams_sent", sent - before.sent);
    bench_observe_count(report, "datagrams_received", datagrams);
    bench_observe_count(report, "bytes_sent", (sent - before.sent) * burst.bytes);
    bench_observe_count(report, "bytes_received", arrivals_bytes() - before.arrived_bytes);
    bench_observe_count(report, "socket_buffer_bytes", arrivals_buffer_bytes());
    bench_observe_count(report, "affinity_cpus", cpus_find(cpus, CPUS_WANTED));
    observe_hosts(report);
}

const struct bench_kernel bench_kernel = {
    .name = "burst",
    .question = "How fast are datagrams sent, and how many of them arrive?",
    .argp = &network_argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_network,
    .prepare = prepare,
    .check = check,
    .close = companions_end,
};
