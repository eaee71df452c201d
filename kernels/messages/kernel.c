/* How long a message takes that goes straight into another process's memory, and how many bytes
 * arrive per second: by writes, queues and signals, over each carrier, and by TCP. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "companion.h"
#include "cpus.h"
#include "flows.h"
#include "payload.h"

enum { KEY_PRIMITIVE, KEY_PAYLOAD };
enum { OPTION_CARRIER = 0x100, OPTION_RING_FRAMES, OPTION_LOST, OPTION_PAUSE };
enum { CPUS_WANTED = 2, RING_FRAMES_STEP = 32, RING_FRAMES_MOST = 4096, LOST_MOST = 500000 };
enum { PAUSE_MOST_NS = 10000000 };

static struct {
    enum carrier_word carrier;
    bool has_carrier;
    size_t ring_frames;
    uint32_t lost_per_million;
    uint64_t poll_pause_ns;
} options_chosen = {.ring_frames = RINGS_FRAMES};

static const struct network *network;
static struct channel *channel;
static struct flow flow;
static uint32_t number = 1; /* of the next message, of both sides */
static struct far_seen far_before;
static struct messages_counts near_before;
static uint64_t near_dropped_before;

static const char *const primitives[] = {
    [PRIMITIVE_WRITE] = "write",   [PRIMITIVE_FIFO] = "fifo",
    [PRIMITIVE_SIGNAL] = "signal", [PRIMITIVE_CALL] = "signal-polled",
    [PRIMITIVE_STREAM] = "stream", NULL,
};

static const struct bench_key keys[] = {
    [KEY_PRIMITIVE] = {.name = "primitive", .words = primitives},
    [KEY_PAYLOAD] = {.name = "payload_bytes"},
    {0},
};

enum { ALL_KEYS = 1 << KEY_PRIMITIVE | 1 << KEY_PAYLOAD };

static const struct bench_method methods[] = {
    [ROUND_TRIP] = {.name = "round-trip", .keys = ALL_KEYS},
    [ONE_WAY] = {.name = "one-way", .keys = ALL_KEYS},
    [HALF_DUPLEX] = {.name = "half-duplex", .keys = ALL_KEYS},
    [FULL_DUPLEX] = {.name = "full-duplex", .keys = ALL_KEYS},
    {0},
};

static void accept_point(const struct bench_point *point) {
    const uint64_t bytes = point->values[KEY_PAYLOAD];
    const enum primitive primitive = (enum primitive)point->values[KEY_PRIMITIVE];
    const char *carrier = carrier_words[options_chosen.carrier];
    const bool spins = network_asked()->spins;
    if (bytes < PAYLOAD_LEAST_BYTES || bytes > MESSAGES_BYTES_MOST) {
        refuse("payload_bytes=%" PRIu64 " is not from %d to %d; give one that is", bytes,
               PAYLOAD_LEAST_BYTES, MESSAGES_BYTES_MOST);
    }
    if (carrier_is_stream(options_chosen.carrier) != (primitive == PRIMITIVE_STREAM)) {
        refuse("primitive=%s does not go over --carrier=%s; %s", primitives[primitive], carrier,
               primitive == PRIMITIVE_STREAM ? "give tcp or tcp-nagle" : "give primitive=stream");
    }
    if (primitive == PRIMITIVE_SIGNAL && (!spins || options_chosen.carrier == CARRIER_MEMORY)) {
        refuse("primitive=signal interrupts a process that is at work, through a file descriptor; "
               "give --wait=spin and a carrier other than memory");
    }
    if (point->method == FULL_DUPLEX && primitive == PRIMITIVE_STREAM && !spins) {
        refuse("method=full-duplex over TCP sends and receives by turns, and a call that sleeps "
               "does one alone; give --wait=spin");
    }
    if (point->loops > CHANNEL_SLOTS || (point->loops != 1 && point->method != ROUND_TRIP)) {
        refuse("loops=%" PRIu64 " is not from 1 to %d; give one that is", point->loops,
               point->method == ROUND_TRIP ? CHANNEL_SLOTS : 1);
    }
}

/* On purpose, at both ends. */
static void lose_frames(struct ends *ends, uint64_t seed) {
    const struct lossy_rates rates = {.lost = options_chosen.lost_per_million};
    if (rates.lost == 0) {
        return;
    }
    if (!ends->near.carrier) {
        refuse("--lost_per_million is of frames, and TCP sends none of ours; leave it out");
    }
    ends->near.carrier = lossy_carrier_open(ends->near.carrier, &rates, seed);
    ends->far.carrier = lossy_carrier_open(ends->far.carrier, &rates, seed + 1);
    if (!ends->near.carrier || !ends->far.carrier) {
        cannot_run("there is no memory for a carrier that loses frames; free some");
    }
}

static struct bench_buffers open_both_sides(const struct bench_settings *settings) {
    int cpus[CPUS_WANTED];
    network = network_asked();
    if (network->port) {
        refuse("--port is of a far side that somebody else started, and here it is started with "
               "the near one; leave it out");
    }
    if (options_chosen.carrier != CARRIER_MEMORY) {
        network_open();
    }
    if (cpus_find(cpus, CPUS_WANTED) < CPUS_WANTED) {
        cannot_run("this process may use 1 CPU, and both sides need one each; give it two");
    }
    channel = aligned_alloc(_Alignof(struct channel), sizeof *channel);
    if (!channel) {
        cannot_run("there is no memory for messages; free some");
    }
    memset(channel, 0, sizeof *channel);
    channel->seed = settings->seed;
    struct ends ends = ends_open(options_chosen.carrier, network, options_chosen.ring_frames);
    lose_frames(&ends, settings->seed);
    const struct far_options far_options = {.seed = settings->seed,
                                            .pause_ns = options_chosen.poll_pause_ns};
    far_start(&ends, network, &far_options, cpus[1]);
    end_open_channel(&ends.near, ends.connection, network->spins, "the far side", true, channel);
    cpus_pin(cpus[0]);
    return (struct bench_buffers){0};
}

static struct bench_task prepare(const struct bench_point *point) {
    const struct order order = {
        .pattern = (enum pattern)point->method,
        .primitive = (enum primitive)point->values[KEY_PRIMITIVE],
        .bytes = point->values[KEY_PAYLOAD],
        .first_out = number,
        .first_in = number,
    };
    const bool is_window = point->method == HALF_DUPLEX || point->method == FULL_DUPLEX;
    const uint64_t directions = point->method == FULL_DUPLEX ? 2 : 1;
    struct bench_task task = {
        .bytes_declared = order.bytes * directions * (is_window ? WINDOW_MESSAGES : 1),
    };
    flow = (struct flow){
        .channel = channel,
        .pattern = order.pattern,
        .loops = point->loops,
    };
    if (channel->endpoint) {
        near_before = *endpoint_counts(channel->endpoint);
        near_dropped_before = endpoint_dropped(channel->endpoint);
    }
    far_begin(&order);
    if (!channel_begin(channel, order.primitive, order.bytes, order.first_out, order.first_in)) {
        cannot_run("this carrier has nothing that interrupts a process; take another primitive");
    }
    flow_begin(&flow, &task);
    return task;
}

/* What happened at both ends since the point began. */
static void observe_messages(const struct far_seen *far, struct bench_report *report) {
    if (!channel->endpoint) {
        return;
    }
    const struct messages_counts *near = endpoint_counts(channel->endpoint);
    const struct messages_counts *before = &far_before.counts;
    bench_observe_events(report, "frames_resent",
                         near->resent - near_before.resent + far->counts.resent - before->resent);
    /* What was sent again although it had arrived: the other end was late, and nothing was lost. */
    bench_observe_events(report, "frames_repeated",
                         near->repeated - near_before.repeated + far->counts.repeated -
                             before->repeated);
    bench_observe_events(report, "resends_by_clock",
                         near->resends_by_clock - near_before.resends_by_clock +
                             far->counts.resends_by_clock - before->resends_by_clock);
    bench_observe_count(report, "resend_timeout_ns", MESSAGES_RESEND_NS);
    bench_observe_events(report, "window_waits", near->window_waits - near_before.window_waits);
    bench_observe_events(report, "frames_dropped",
                         endpoint_dropped(channel->endpoint) - near_dropped_before + far->dropped -
                             far_before.dropped);
    bench_observe_events(report, "far_polls", far->counts.polls - before->polls);
    bench_observe_events(report, "far_serving_ns", far->served_ns);
    bench_observe_events(report, "acknowledgement_frames",
                         near->acknowledgements - near_before.acknowledgements +
                             far->counts.acknowledgements - before->acknowledgements);
}

/* What a window's rate counts is what arrived: the far end answers when it has all. */
static void observe_bytes(const struct bench_point *point, const struct far_seen *far,
                          struct bench_report *report) {
    const uint64_t bytes = point->values[KEY_PAYLOAD];
    const bool goes_both_ways = point->method == FULL_DUPLEX;
    const uint64_t sent = flow.windows * WINDOW_MESSAGES * (goes_both_ways ? 2 : 1);
    const uint64_t arrived = far->looked_at + (goes_both_ways ? flow.looked_at : 0);
    bench_observe_events(report, "transfers", flow.windows);
    bench_observe_events(report, "bytes_sent", sent * bytes);
    bench_observe_events(report, "bytes_received", arrived * bytes);
}

/* What tells two points apart, besides their sizes. */
static void observe_way(const struct bench_point *point, struct bench_report *report) {
    const uint64_t primitive = point->values[KEY_PRIMITIVE];
    const bool has_xdp = options_chosen.carrier == CARRIER_XDP;
    const bool has_rings = has_xdp || options_chosen.carrier == CARRIER_RINGS;
    bench_observe_count(report, "ethernet_frames",
                        has_rings || options_chosen.carrier == CARRIER_PACKET);
    bench_observe_count(report, "mapped_rings", has_rings);
    bench_observe_count(report, "xdp_sockets", has_xdp);
    if (has_rings) {
        bench_observe_count(report, "ring_frames", options_chosen.ring_frames);
    }
    bench_observe_count(report, "queued", primitive == PRIMITIVE_FIFO);
    bench_observe_count(report, "interrupting", primitive == PRIMITIVE_SIGNAL);
    bench_observe_count(report, "timed_one_way", point->method == ONE_WAY);
}

static void observe_network(struct bench_report *report) {
    int cpus[CPUS_WANTED];
    const bool is_network = options_chosen.carrier != CARRIER_MEMORY;
    bench_observe_count(report, "spinning", network->spins);
    bench_observe_count(report, "stream", carrier_is_stream(options_chosen.carrier));
    bench_observe_count(report, "shared_memory", !is_network);
    bench_observe_count(report, "shaped_link", network->link_bits_per_s > 0);
    bench_observe_count(report, "affinity_cpus", cpus_find(cpus, CPUS_WANTED));
    network_observe_device(report);
}

static void check(const struct bench_point *point, struct bench_report *report) {
    const bool is_trip = point->method == ROUND_TRIP || point->method == ONE_WAY;
    far_call_end();
    if (!channel_send(channel, channel_next(channel))) {
        far_give_up(channel_failure(channel));
    }
    const struct far_seen far = far_end(channel);
    channel_end(channel);
    const uint64_t wrong = flow.wrong + far.wrong;
    const uint64_t looked_at = flow.looked_at + far.looked_at;
    if (wrong > 0) {
        bench_fail(report, "%" PRIu64 " of %" PRIu64 " messages looked at were not as sent", wrong,
                   looked_at);
    }
    bench_observe_events(report, is_trip ? "round_trips" : "message_windows",
                         is_trip ? flow.looked_at : flow.windows);
    bench_observe_events(report, "messages_looked_at", looked_at);
    bench_observe_events(report, "sockets_opened", 0); /* all are, before the first point */
    if (!is_trip) {
        observe_bytes(point, &far, report);
    }
    observe_messages(&far, report);
    observe_way(point, report);
    observe_network(report);
    far_before = far;
    number += (uint32_t)channel->sent + (uint32_t)channel->arrived;
}

static const struct argp_option options[] = {
    {.name = "lost_per_million",
     .key = OPTION_LOST,
     .arg = "N",
     .doc = "How many frames of a million to lose on purpose at each end (0 if not given)"},
    {.name = "carrier",
     .key = OPTION_CARRIER,
     .arg = "rings|xdp|packet|udp|memory|tcp|tcp-nagle",
     .doc = "What carries messages to the other side; the last two are TCP alone, with and without "
            "TCP_NODELAY"},
    {.name = "poll_pause_ns",
     .key = OPTION_PAUSE,
     .arg = "NS",
     .doc = "How long a far end that spins does something else between two polls (0 if not given)"},
    {.name = "ring_frames",
     .key = OPTION_RING_FRAMES,
     .arg = "N",
     .doc = "Room of each ring in frames, a multiple of 32 (256 if not given)"},
    {0},
};

static enum carrier_word parse_carrier(const char *text) {
    for (size_t word = 0; carrier_words[word]; word++) {
        if (strcmp(carrier_words[word], text) == 0) {
            return (enum carrier_word)word;
        }
    }
    refuse("--carrier '%s' is none of rings, xdp, packet, udp, memory, tcp and tcp-nagle; give one "
           "of them",
           text);
}

static error_t parse_option(int key, char *text, struct argp_state *state) {
    (void)state;
    switch (key) {
    case OPTION_CARRIER:
        options_chosen.carrier = parse_carrier(text);
        options_chosen.has_carrier = true;
        return 0;
    case OPTION_RING_FRAMES:
        options_chosen.ring_frames =
            parse_number("--ring_frames ", text, strlen(text), RING_FRAMES_STEP, RING_FRAMES_MOST);
        options_chosen.ring_frames -= options_chosen.ring_frames % RING_FRAMES_STEP;
        return 0;
    case OPTION_PAUSE:
        options_chosen.poll_pause_ns =
            parse_number("--poll_pause_ns ", text, strlen(text), 0, PAUSE_MOST_NS);
        return 0;
    case OPTION_LOST:
        options_chosen.lost_per_million =
            (uint32_t)parse_number("--lost_per_million ", text, strlen(text), 0, LOST_MOST);
        return 0;
    case ARGP_KEY_END:
        if (!options_chosen.has_carrier) {
            refuse("--carrier is missing; give one of rings, xdp, packet, udp, memory, tcp and "
                   "tcp-nagle");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &network_argp}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse_option,
    .children = children,
};

const struct bench_kernel bench_kernel = {
    .name = "messages",
    .question = "How long does a message take that is written into another process's memory?",
    .argp = &argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_both_sides,
    .prepare = prepare,
    .check = check,
    .close = companions_end,
};
