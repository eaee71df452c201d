/* How long a call of Sun RPC takes that brings data to another host, over TCP, UDP and memory-based
 * messages; and as many bytes there and back without RPC, asleep or spinning. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "companion.h"
#include "cpus.h"
#include "far.h"
#include "far_side.h"
#include "methods.h"
#include "near_transport.h"
#include "network.h"
#include "transport.h"

#define WATCH_EVERY_NS UINT64_C(200000000)

enum { KEY_PROTOCOL, KEY_PAYLOAD };
enum { CALL, EXCHANGE };
enum { CPUS_WANTED = 2 };
enum { MESSAGE_PAYLOAD_MOST = TRANSPORT_BYTES_MOST - CALL_BYTES - LENGTH_BYTES };

/* The point has failed where so many in a row have no answer, or more than so many of all. */
enum { LOST_IN_A_ROW_MOST = 4, LOST_PERCENT_MOST = 1 };

/* Where counters stood before the point. */
static struct {
    bool has_delayed_acks;
    bool has_buffer_errors;
    uint64_t delayed_acks;
    uint64_t buffer_errors;
    struct transport_frames frames;
} before;

static struct {
    uint64_t planned;
    uint64_t answered;
    uint64_t lost;
    uint64_t lost_in_a_row;
    uint64_t wrong;
    const char *first_wrong;
} outcome;

static const struct network *network;
static struct listening servers[2]; /* by method */
static const struct trip_method *const trip_methods[] = {[CALL] = &call_method,
                                                         [EXCHANGE] = &exchange_method};
static const struct trip_method *method;
static struct trip trip;
static struct ends ends;
static bool wants_messages;
static uint64_t seed;
static uint32_t number;
static int netstat = -1; /* of the far host */

static const char *const protocols[] = {
    [PROTOCOL_TCP] = "tcp",
    [PROTOCOL_UDP] = "udp",
    [PROTOCOL_FIFO] = "fifo",
    [PROTOCOL_SIGNAL] = "signal",
    NULL,
};

static const struct bench_key keys[] = {
    [KEY_PROTOCOL] = {.name = "protocol", .words = protocols},
    [KEY_PAYLOAD] = {.name = "payload_bytes"},
    {0},
};

static const struct bench_method methods[] = {
    [CALL] = {.name = "call", .keys = 1 << KEY_PROTOCOL | 1 << KEY_PAYLOAD},
    [EXCHANGE] = {.name = "exchange", .keys = 1 << KEY_PROTOCOL | 1 << KEY_PAYLOAD},
    {0},
};

static void accept_point(const struct bench_point *point) {
    const uint64_t bytes = point->values[KEY_PAYLOAD];
    if (bytes < PAYLOAD_LEAST_BYTES || bytes > TRIP_BYTES_MOST) {
        refuse("payload_bytes=%" PRIu64 " is not from %d to %d; give one that is", bytes,
               PAYLOAD_LEAST_BYTES, TRIP_BYTES_MOST);
    }
    const enum protocol protocol = (enum protocol)point->values[KEY_PROTOCOL];
    if (protocol_has_messages(protocol) && bytes > MESSAGE_PAYLOAD_MOST) {
        refuse("payload_bytes=%" PRIu64 " does not fit into a message; give at most %d", bytes,
               MESSAGE_PAYLOAD_MOST);
    }
    wants_messages = wants_messages || protocol_has_messages(protocol);
    if (point->method == CALL && network_asked()->spins && !protocol_has_messages(protocol)) {
        refuse("method=call sleeps until its answer comes, as the library does; give --wait=block");
    }
    if (point->loops != 1) {
        refuse("loops=%" PRIu64 " is not 1, and each round trip is a sample; give loops=1",
               point->loops);
    }
}

static struct bench_buffers open_network(const struct bench_settings *settings) {
    int cpus[CPUS_WANTED];
    seed = settings->seed;
    network = network_asked();
    if (network->port) {
        refuse("--port is of a far side that somebody else started, and here it is started with "
               "the near one; leave it out");
    }
    network_open();
    if (cpus_find(cpus, CPUS_WANTED) < CPUS_WANTED) {
        cannot_run("this process may use 1 CPU, and both sides need one each; give it two");
    }
    network_enter(network->far_namespace);
    netstat = open("/proc/thread-self/net/netstat", O_RDONLY | O_CLOEXEC);
    for (size_t i = CALL; i <= EXCHANGE; i++) {
        servers[i] = far_listen(network->far);
    }
    network_return();
    far_start(servers[CALL], servers[EXCHANGE], cpus[1]);
    if (wants_messages) {
        ends = ends_open(CARRIER_RINGS, network, RINGS_FRAMES); /* of no server but the next */
        far_start_messages(&ends, cpus[1]);
        near_transport_open(&ends);
    }
    cpus_pin(cpus[0]);
    return (struct bench_buffers){0};
}

static void make_ready(void) {
    payload_make(seed, number++, trip.request, trip.bytes);
    /* What pads the payload to whole words is zero, and so is what stands for RPC's own. */
    memset(trip.request + trip.bytes, 0, sizeof trip.request - trip.bytes);
}

static bool has_failed(void) {
    /* One may be lost of few, too. */
    return outcome.lost_in_a_row >= LOST_IN_A_ROW_MOST ||
           (outcome.lost > 1 && outcome.lost * 100 > LOST_PERCENT_MOST * outcome.planned);
}

_Noreturn static void give_up(void) {
    companions_watch_dying();
    refuse("a request of %zu bytes over %s has no answer (%s); check the network between the sides",
           trip.request_bytes, protocols[trip.protocol],
           trip.end == TRIP_LOST ? "time is out" : trip.why);
}

/* What comes too late finds no socket. */
static void lose(void) {
    companions_watch();
    outcome.lost++;
    outcome.lost_in_a_row++;
    method->close(&trip);
    method->open(&trip);
}

static void take_wrong(const char *what) {
    if (outcome.wrong++ == 0) {
        outcome.first_wrong = what;
    }
}

/* Also of those servers that this point does not need. */
static void watch_servers(void) {
    static uint64_t watched_ns;
    const uint64_t now_ns = clock_now();
    if (now_ns - watched_ns > WATCH_EVERY_NS) {
        watched_ns = now_ns;
        companions_watch();
    }
}

/* Between two round trips, untimed. */
static void finish(const void *state) {
    (void)state;
    if (trip.is_given_up) {
        return;
    }
    watch_servers();
    method->look(&trip);
    if (trip.end == TRIP_BROKEN || (trip.end == TRIP_LOST && trip.protocol == PROTOCOL_TCP)) {
        give_up();
    }
    if (trip.end == TRIP_LOST) {
        lose();
    } else if (payload_number(seed, (const unsigned char *)&trip.answer) != number - 1) {
        take_wrong("an answer is not that of its request");
    } else if (!far_has(trip.request, trip.bytes)) {
        take_wrong("what arrived is not what was sent");
    } else {
        outcome.answered++;
        outcome.lost_in_a_row = 0;
    }
    make_ready();
    trip.is_given_up = has_failed();
}

static size_t whole_words(size_t bytes) {
    return (bytes + ANSWER_BYTES - 1) / ANSWER_BYTES * ANSWER_BYTES;
}

static struct transport_frames frames_of_both_sides(void) {
    const struct transport_frames near = transport_frames();
    const struct transport_frames far = far_frames();
    return (struct transport_frames){.resent = near.resent + far.resent,
                                     .repeated = near.repeated + far.repeated};
}

static void note_counters(void) {
    if (wants_messages) {
        before.frames = frames_of_both_sides();
    }
    before.has_delayed_acks =
        proc_net_count(netstat, "TcpExt", "DelayedACKs", &before.delayed_acks);
    before.has_buffer_errors =
        network_count(NETWORK_FAR, "Udp", "RcvbufErrors", &before.buffer_errors);
}

static struct bench_task prepare(const struct bench_point *point) {
    const enum protocol protocol = (enum protocol)point->values[KEY_PROTOCOL];
    const size_t mark_bytes = protocol == PROTOCOL_TCP ? MARK_BYTES : 0;
    const size_t bytes = point->values[KEY_PAYLOAD];
    memset(&outcome, 0, sizeof outcome);
    outcome.planned = point->warm_up + point->samples;
    trip = (struct trip){
        .protocol = protocol,
        .here = network->near,
        .spins = network->spins,
        .is_call = point->method == CALL,
        .bytes = bytes,
        .request_bytes = mark_bytes + CALL_BYTES + LENGTH_BYTES + whole_words(bytes),
        .answer_bytes = mark_bytes + REPLY_BYTES + ANSWER_BYTES,
    };
    if (!protocol_has_messages(protocol)) {
        trip.there = servers[point->method].addresses[protocol];
    }
    note_counters();
    far_expect(&trip);
    method = trip_methods[point->method];
    method->open(&trip);
    make_ready();
    return (struct bench_task){
        .timed = method->timed,
        .state = &trip,
        .bytes_declared = bytes,
        .between = finish,
    };
}

typedef void observe_number(struct bench_report *report, const char *name, uint64_t value);

static void observe_known(struct bench_report *report, observe_number *observe, const char *name,
                          bool is_known, uint64_t value) {
    if (is_known) {
        observe(report, name, value);
    } else {
        bench_observe_absent(report, name);
    }
}

static void observe_connection(struct bench_report *report) {
    int nodelay = 0;
    struct tcp_info info = {0};
    socklen_t length = sizeof nodelay;
    uint64_t delayed_acks = 0;
    bool is_known = getsockopt(trip.socket, IPPROTO_TCP, TCP_NODELAY, &nodelay, &length) == 0;
    observe_known(report, bench_observe_count, "tcp_nodelay", is_known, nodelay != 0);
    observe_known(report, bench_observe_count, "far_tcp_nodelay", far_nodelay() >= 0,
                  far_nodelay() > 0);
    length = sizeof info;
    is_known = getsockopt(trip.socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0;
    observe_known(report, bench_observe_events, "tcp_retransmits", is_known,
                  info.tcpi_total_retrans);
    is_known =
        before.has_delayed_acks && proc_net_count(netstat, "TcpExt", "DelayedACKs", &delayed_acks);
    observe_known(report, bench_observe_events, "delayed_acks", is_known,
                  delayed_acks - before.delayed_acks);
    bench_observe_events(report, "transfers", outcome.answered);
}

static void observe_datagrams(struct bench_report *report) {
    uint64_t errors = 0;
    const bool is_known =
        before.has_buffer_errors && network_count(NETWORK_FAR, "Udp", "RcvbufErrors", &errors);
    bench_observe_events(report, "datagrams_lost", outcome.lost);
    observe_known(report, bench_observe_events, "receive_buffer_errors", is_known,
                  errors - before.buffer_errors);
}

/* What tells points by messages apart, and what both sides sent again. */
static void observe_messages(struct bench_report *report) {
    const struct transport_frames frames = frames_of_both_sides();
    bench_observe_count(report, "ethernet_frames", 1);
    bench_observe_count(report, "mapped_rings", 1);
    bench_observe_count(report, "queued", trip.protocol == PROTOCOL_FIFO);
    bench_observe_count(report, "interrupting", 0);
    bench_observe_events(report, "frames_resent", frames.resent - before.frames.resent);
    bench_observe_events(report, "frames_repeated", frames.repeated - before.frames.repeated);
    bench_observe_count(report, "resend_timeout_ns", MESSAGES_RESEND_NS);
}

static void observe_sides(const struct bench_point *point, struct bench_report *report) {
    int cpus[CPUS_WANTED];
    struct network_device device = {0};
    const bool is_known = network_device(NETWORK_NEAR, &device);
    bench_observe_events(report, "round_trips", outcome.answered);
    bench_observe_events(report, "sockets_opened", trip.sockets_opened);
    bench_observe_count(report, "stream", trip.protocol == PROTOCOL_TCP);
    bench_observe_events(report, "procedure_calls", point->method == CALL ? outcome.answered : 0);
    bench_observe_count(report, "request_bytes", trip.request_bytes);
    bench_observe_count(report, "answer_bytes", trip.answer_bytes);
    bench_observe_count(report, "spinning", trip.spins);
    bench_observe_count(report, "affinity_cpus", cpus_find(cpus, CPUS_WANTED));
    observe_known(report, bench_observe_count, "device_is_loopback", is_known, device.is_loopback);
    observe_known(report, bench_observe_count, "device_mtu_bytes", is_known, device.mtu_bytes);
    if (procedure_library()) {
        bench_observe_text(report, "procedure_library", procedure_library());
    } else {
        bench_observe_absent(report, "procedure_library");
    }
}

static void check(const struct bench_point *point, struct bench_report *report) {
    companions_watch();
    if (outcome.wrong > 0) {
        bench_fail(report, "%s (%" PRIu64 " wrong of %" PRIu64 " round trips)", outcome.first_wrong,
                   outcome.wrong, outcome.planned);
    }
    if (has_failed()) {
        bench_fail(report,
                   "%" PRIu64 " requests of %" PRIu64 " planned have no answer, and more than %d "
                   "%% or %d in a row are too many; check what drops datagrams",
                   outcome.lost, outcome.planned, LOST_PERCENT_MOST, LOST_IN_A_ROW_MOST - 1);
    }
    observe_sides(point, report);
    if (trip.protocol == PROTOCOL_TCP) {
        observe_connection(report);
    } else if (trip.protocol == PROTOCOL_UDP) {
        observe_datagrams(report);
    } else {
        observe_messages(report);
    }
    far_rest();
    method->close(&trip);
}

const struct bench_kernel bench_kernel = {
    .name = "rpc",
    .question = "How long does a call of Sun RPC take that brings data to a far side?",
    .argp = &network_argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_network,
    .prepare = prepare,
    .check = check,
    .close = companions_end,
};
