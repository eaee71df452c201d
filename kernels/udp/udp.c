/* How long a datagram takes to a far side and back: with a socket for each round trip or one for
 * all, asleep or spinning, over whatever network the measurer made. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"
#include "companion.h"
#include "cpus.h"
#include "crew.h"
#include "echo.h"
#include "exchange.h"
#include "network.h"
#include "schedule.h"
#include "switches.h"
#include "trips.h"

enum { KEY_PAYLOAD, KEY_GAP };
enum { ONE_SOCKET, SOCKET_EACH, OPEN, OPEN_FROM_SEND };
enum { OPTION_SWITCHES = 0x100, OPTION_SWITCH_NAMESPACE, OPTION_SERVE, OPTION_BIND };
enum { SWITCHES_PLANNED_MOST = 4, CPUS_WANTED = 3 };
#define GAP_NS_MOST UINT64_C(60000000000)

static struct {
    const char *switch_namespace;
    uint64_t switches;
    bool is_emulated;
    bool serves;
    struct in_addr bind;
} asked;

static const struct network *network;
static int far_in_turn = -1; /* the far side's socket, where this thread plays it too */
static struct exchange exchange;
static bool has_buffer_errors;
static uint64_t buffer_errors; /* before the point */

static const struct bench_key keys[] = {
    [KEY_PAYLOAD] = {.name = "payload_bytes"},
    [KEY_GAP] = {.name = "gap_ns"},
    {0},
};

static const struct bench_method methods[] = {
    [ONE_SOCKET] = {.name = "one-socket", .keys = 1 << KEY_PAYLOAD | 1 << KEY_GAP},
    [SOCKET_EACH] = {.name = "socket-each", .keys = 1 << KEY_PAYLOAD | 1 << KEY_GAP},
    [OPEN] = {.name = "open", .keys = 1 << KEY_PAYLOAD | 1 << KEY_GAP},
    [OPEN_FROM_SEND] = {.name = "open-from-send", .keys = 1 << KEY_PAYLOAD | 1 << KEY_GAP},
    {0},
};

static bool is_open(const struct bench_point *point) {
    return point->method == OPEN || point->method == OPEN_FROM_SEND;
}

static void accept_point(const struct bench_point *point) {
    const uint64_t payload_bytes = point->values[KEY_PAYLOAD];
    const uint64_t gap = point->values[KEY_GAP];
    if (payload_bytes < PAYLOAD_LEAST_BYTES || payload_bytes > PAYLOAD_MOST_BYTES) {
        refuse("payload_bytes=%" PRIu64 " is not from %d to %d; give one that is", payload_bytes,
               PAYLOAD_LEAST_BYTES, PAYLOAD_MOST_BYTES);
    }
    if (gap > GAP_NS_MOST || (gap == 0 && is_open(point))) {
        refuse("gap_ns=%" PRIu64 " is not from %d to %" PRIu64 "; give one that is", gap,
               is_open(point), GAP_NS_MOST);
    }
    if (point->loops != 1) {
        refuse("loops=%" PRIu64 " is not 1, and each round trip is a sample; give loops=1",
               point->loops);
    }
}

static void be_far_side(const void *argument) {
    const int *far = argument;
    companion_ready(0);
    echo_run(*far, network->spins);
}

static void be_switches(const void *argument) {
    network_enter(asked.switch_namespace);
    switches_run(argument);
}

static void say_ready(void *context) {
    (void)context;
    /* Who reads these waits until all that hold them have ended, and these switches end slowly. */
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    companion_ready(0);
}

static void start_switches(int cpu) {
    const size_t counts_bytes = 2 * asked.switches * sizeof(struct switches_count);
    const struct switches switches = {
        .count = (unsigned)asked.switches,
        .link_bits_per_s = network->link_bits_per_s,
        .counts = crew_share(counts_bytes, "the counts of switches"),
        .parent = getpid(),
        .ready = say_ready,
    };
    companion_start("the emulated switches", cpu, be_switches, &switches);
}

/* Two that spin on one CPU would fight for it: where switches leave none for the far side, this
 * thread plays both sides, in turn. */
static void start_far_side(const int *cpus, size_t count) {
    if (count < 2) {
        cannot_run("this process may use %zu CPU, and both sides need one each; give it two",
                   count);
    }
    network_enter(network->far_namespace);
    const int far = echo_open(&exchange.there);
    network_return();
    if (asked.is_emulated && asked.switches > 0) {
        start_switches(cpus[1]);
    }
    if (asked.is_emulated && count < CPUS_WANTED) {
        far_in_turn = far;
        return;
    }
    companion_start("the far side", cpus[asked.is_emulated ? 2 : 1], be_far_side, &far);
    close(far); /* so that nothing is taken in when it has ended */
}

/* The usable CPUs in the order of OMP_PLACES, `{1},{0}`, in which they are meant to be used: each
 * side stands where that of another program does, to which it is compared. */
static size_t find_cpus(int *cpus) {
    const size_t count = cpus_find(cpus, CPUS_WANTED);
    const char *places = getenv("OMP_PLACES");
    size_t placed = 0;
    while (places && placed < count && (places = strpbrk(places, "0123456789"))) {
        char *end;
        const long wanted = strtol(places, &end, 10);
        places = end;
        for (size_t i = placed; i < count; i++) {
            if (cpus[i] == wanted) {
                cpus[i] = cpus[placed];
                cpus[placed++] = (int)wanted;
                break;
            }
        }
    }
    return count;
}

static struct bench_buffers open_network(const struct bench_settings *settings) {
    int cpus[CPUS_WANTED];
    const size_t count = find_cpus(cpus);
    network_open();
    exchange = (struct exchange){
        .here = {.sin_family = AF_INET, .sin_addr = network->near},
        .there = {.sin_family = AF_INET,
                  .sin_addr = network->far,
                  .sin_port = htons(network->port)},
        .spins = network->spins,
        .seed = settings->seed,
        .socket = -1,
    };
    prctl(PR_SET_TIMERSLACK, 1UL); /* else a gap lasts 50 us longer than it is asked to */
    if (!network->port) {
        start_far_side(cpus, count);
    }
    cpus_pin(cpus[0]);
    return (struct bench_buffers){0};
}

static struct bench_task prepare(const struct bench_point *point) {
    struct bench_task task = {.bytes_declared = point->values[KEY_PAYLOAD]};
    exchange.bytes = point->values[KEY_PAYLOAD];
    exchange.planned = point->warm_up + point->samples;
    exchange.sockets = exchange.answered = exchange.lost = exchange.lost_in_a_row = 0;
    exchange.wrong = 0;
    has_buffer_errors = network_count(NETWORK_FAR, "Udp", "RcvbufErrors", &buffer_errors);
    if (is_open(point) && far_in_turn >= 0) {
        cannot_run("an open schedule through emulated switches needs 3 CPUs; take ping-pong");
    }
    if (is_open(point)) {
        const struct schedule schedule = {
            .exchange = &exchange,
            .interval_ns = point->values[KEY_GAP],
            .from_send = point->method == OPEN_FROM_SEND,
        };
        schedule_begin(&schedule, &task);
    } else {
        const struct trips trips = {
            .exchange = &exchange,
            .socket_each = point->method == SOCKET_EACH,
            .far = far_in_turn,
            .gap_ns = point->values[KEY_GAP],
        };
        trips_begin(&trips, &task);
    }
    return task;
}

static void observe_network(struct bench_report *report) {
    uint64_t errors = 0;
    network_observe_device(report);
    if (has_buffer_errors && network_count(NETWORK_FAR, "Udp", "RcvbufErrors", &errors)) {
        bench_observe_events(report, "receive_buffer_errors", errors - buffer_errors);
    } else {
        bench_observe_absent(report, "receive_buffer_errors");
    }
}

static void check(const struct bench_point *point, struct bench_report *report) {
    trips_end();
    if (exchange.socket >= 0) {
        close(exchange.socket);
        exchange.socket = -1;
    }
    companions_watch();
    if (exchange.wrong > 0) {
        bench_fail(report, "%s (%" PRIu64 " wrong answers)", exchange.first_wrong, exchange.wrong);
    }
    if (exchange_has_failed(&exchange)) {
        bench_fail(report,
                   "%" PRIu64 " datagrams of %" PRIu64
                   " planned have no answer; more than %d %% or "
                   "%d in a row are too many. Check that the far side runs, and what drops packets",
                   exchange.lost, exchange.planned, LOST_PERCENT_MOST, LOST_IN_A_ROW_MOST);
    }
    bench_observe_events(report, "round_trips", exchange.answered);
    bench_observe_events(report, "datagrams_lost", exchange.lost);
    bench_observe_events(report, "sockets_opened", exchange.sockets);
    bench_observe_count(report, "spinning", exchange.spins);
    bench_observe_count(report, "emulated_switches", asked.switches);
    bench_observe_count(report, "open_schedule", is_open(point));
    if (is_open(point)) {
        schedule_observe(report);
    }
    int cpus[CPUS_WANTED];
    bench_observe_count(report, "affinity_cpus", cpus_find(cpus, CPUS_WANTED));
    observe_network(report);
}

static const struct argp_option options[] = {
    {.name = "emulated-switches",
     .key = OPTION_SWITCHES,
     .arg = "N",
     .doc = "Switches of our own between the sides, 0 to 4, one after the other"},
    {.name = "switch-namespace",
     .key = OPTION_SWITCH_NAMESPACE,
     .arg = "PATH",
     .doc = "Network namespace with their interfaces: s1a, s1b, s2a and so on"},
    {.name = "serve",
     .key = OPTION_SERVE,
     .doc = "Measure nothing: be the far side for another host, at --bind and --port"},
    {.name = "bind", .key = OPTION_BIND, .arg = "ADDRESS", .doc = "Of this host, for --serve"},
    {0},
};

static void look_at_options(void) {
    network = network_asked();
    if (asked.serves && !(asked.bind.s_addr && network->port)) {
        refuse("--serve lacks --port, or --bind with an address of this host; give both");
    }
    if (asked.bind.s_addr && !asked.serves) {
        refuse("--bind is for --serve alone; leave it out");
    }
    if (asked.switches > 0 && !asked.switch_namespace) {
        refuse("--switch-namespace is missing; give that of the emulated switches");
    }
    if (asked.serves) {
        const struct sockaddr_in address = {
            .sin_family = AF_INET,
            .sin_addr = asked.bind,
            .sin_port = htons(network->port),
        };
        echo_serve(address, network->spins);
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state) {
    (void)state;
    switch (key) {
    case OPTION_SWITCHES:
        asked.is_emulated = true;
        asked.switches =
            parse_number("--emulated-switches ", text, strlen(text), 0, SWITCHES_PLANNED_MOST);
        return 0;
    case OPTION_SWITCH_NAMESPACE:
        asked.switch_namespace = text;
        return 0;
    case OPTION_SERVE:
        asked.serves = true;
        return 0;
    case OPTION_BIND:
        asked.bind = network_parse_address("--bind ", text);
        return 0;
    case ARGP_KEY_END:
        look_at_options();
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
    .name = "udp",
    .question = "How long does a datagram take to a far side and back?",
    .argp = &argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_network,
    .prepare = prepare,
    .check = check,
    .close = companions_end,
};
