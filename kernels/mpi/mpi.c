/* Messages between two ranks of MPI. Without a launcher's option this program starts itself as both
 * ranks; the near one has the harness, the far one obeys it. With MPI_OVER_MESSAGES there is no
 * library of MPI, and the far rank is a process that this one starts. */
#define _GNU_SOURCE
#include <inttypes.h>

#include "bench.h"
#include "cpus.h"
#include "exchange.h"
#include "launch.h"
#include "messages_world.h"
#include "network.h"
#include "world.h"

enum { KEY_PAYLOAD, KEY_ROTATION };
enum { OPTION_LAUNCHED = 0x200 };
enum { PAYLOAD_MOST_BYTES = 4 << 20 };

#define ROTATION_MOST_BYTES (UINT64_C(4) << 30)

static const struct bench_key keys[] = {{.name = "payload_bytes"}, {.name = "rotation_bytes"}, {0}};

#define ALL_KEYS ((1u << KEY_PAYLOAD) | (1u << KEY_ROTATION))

static const struct bench_method methods[] = {
    [ROUND_TRIP] = {.name = "round-trip", .keys = ALL_KEYS},
    [ONE_WAY] = {.name = "one-way", .keys = ALL_KEYS},
    [BOTH_WAYS] = {.name = "both-ways", .keys = ALL_KEYS},
    {0},
};

static const char *launched;
static uint64_t seed;

static void accept_point(const struct bench_point *point) {
    const uint64_t payload_bytes = point->values[KEY_PAYLOAD];
    const uint64_t rotation_bytes = point->values[KEY_ROTATION];
    if (payload_bytes > PAYLOAD_MOST_BYTES) {
        refuse("payload_bytes=%" PRIu64 " is over %d; give fewer", payload_bytes,
               PAYLOAD_MOST_BYTES);
    }
    if (rotation_bytes > ROTATION_MOST_BYTES) {
        refuse("rotation_bytes=%" PRIu64 " is over %" PRIu64 "; give fewer", rotation_bytes,
               ROTATION_MOST_BYTES);
    }
}

/* TCP widens its windows as bytes pass: without this, a point would be faster behind one of large
 * messages than at the beginning of a start. */
static void widen_windows(void) {
    const struct order order = {
        .pattern = BOTH_WAYS, .bytes = WINDOW_BYTES / 16, .samples = 16, .loops = 1, .seed = seed};
    const struct bench_task task = exchange_begin(&order);
    for (uint64_t sample = 0; sample < order.samples; sample++) {
        task.timed(task.state);
        task.between(task.state);
    }
    (void)exchange_end();
}

static void enter_world(void) {
#if defined(MPI_OVER_MESSAGES)
    messages_world_enter(exchange_obey);
#else
    if (!launched) {
        launch_run(RANKS, false);
    }
    if (world_enter(launched, RANKS, false) == FAR_RANK) {
        exchange_obey();
    }
#endif
}

static struct bench_buffers open_ranks(const struct bench_settings *settings) {
    seed = settings->seed;
    enter_world();
    widen_windows();
    return (struct bench_buffers){0};
}

static struct bench_task prepare(const struct bench_point *point) {
    const struct order order = {
        .pattern = point->method,
        .bytes = point->values[KEY_PAYLOAD],
        .rotation_bytes = point->values[KEY_ROTATION],
        .samples = point->warm_up + point->samples,
        .loops = point->loops,
        .seed = seed,
    };
    return exchange_begin(&order);
}

static void observe_path(struct bench_report *report) {
    struct network_device device;
    const bool is_network = network_asked()->far_namespace != NULL;
    bench_observe_count(report, "shared_memory", !is_network);
    if (is_network && network_device(NETWORK_NEAR, &device)) {
        bench_observe_count(report, "device_mtu_bytes", device.mtu_bytes);
    } else {
        bench_observe_absent(report, "device_mtu_bytes");
    }
}

static void check(const struct bench_point *point, struct bench_report *report) {
    const struct exchanged exchanged = exchange_end();
    const uint64_t calls = (point->warm_up + point->samples) * point->loops;
    const struct order order = {.pattern = point->method, .bytes = point->values[KEY_PAYLOAD]};
    const uint64_t window = exchange_window(&order);
    const uint64_t declared = (point->method == ONE_WAY ? 1 : 2) * window * calls;
    if (exchanged.messages != declared) {
        bench_fail(report, "%" PRIu64 " messages came, and %" PRIu64 " were sent",
                   exchanged.messages, declared);
    }
    if (exchanged.wrong > 0) {
        bench_fail(report, "%" PRIu64 " of %" PRIu64 " messages looked at were not as sent",
                   exchanged.wrong, exchanged.looked_at);
    }
    bench_observe_events(report, "messages", exchanged.messages);
    bench_observe_events(report, "messages_looked_at", exchanged.looked_at);
    bench_observe_count(report, "messages_in_window", window);
    bench_observe_count(report, "message_directions", point->method == ONE_WAY ? 1 : 2);
    bench_observe_count(report, "message_buffers", exchanged.buffers);
    bench_observe_count(report, "message_buffers_bytes", exchanged.buffer_bytes);
    bench_observe_count(report, "sent_before_received", exchanged.sent_before_received);
#if defined(MPI_OVER_MESSAGES)
    messages_world_observe(report);
    bench_observe_text(report, "mpi_library", MESSAGES_WORLD_LIBRARY);
#else
    bench_observe_text(report, "mpi_library", world_library());
#endif
    int cpus[RANKS];
    bench_observe_count(report, "affinity_cpus", cpus_find(cpus, RANKS));
    observe_path(report);
}

static const struct argp_option options[] = {
    {.name = LAUNCHED_OPTION,
     .key = OPTION_LAUNCHED,
     .arg = "PATH",
     .flags = OPTION_HIDDEN,
     .doc = "This process is a rank; given by the launcher"},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state) {
    (void)state;
    if (key == OPTION_LAUNCHED) {
        launched = text;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {{.argp = &network_argp}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse_option,
    .children = children,
};

const struct bench_kernel bench_kernel = {
    .name = "mpi",
    .question = "How long does a message of MPI take to another rank and back, and how many bytes "
                "arrive per second?",
    .argp = &argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_ranks,
    .prepare = prepare,
    .check = check,
};
