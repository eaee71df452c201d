#if defined(MPI_OVER_MESSAGES)
#define _GNU_SOURCE
#include "messages_world.h"

#include "../messages/ends.h"
#include "companion.h"
#include "cpus.h"
#include "over_messages.h"
#include "world.h"

struct far_rank {
    struct ends *ends;
    void (*be)(void);
};

static struct endpoint *near_end;
static struct messages_counts before;
static uint64_t dropped_before;

static void give_up(const char *why) {
    companions_watch_dying();
    refuse("the ranks cannot go on (%s); check the network between them", why);
}

static struct endpoint *join(int rank, const struct end *end, uint64_t connection) {
    const struct endpoint_options options = {
        .peer = rank == NEAR_RANK ? "the far rank" : "the near rank",
        .connection = connection,
        /* The far rank is killed with the near one, which may be away between points. */
        .silent_ns = rank == NEAR_RANK ? 0 : MESSAGES_SILENT_EVER,
    };
    struct endpoint *endpoints[RANKS] = {NULL};
    struct endpoint *endpoint = endpoint_open(end->carrier, &options);
    if (!endpoint) {
        cannot_run("there is no memory for messages; free some");
    }
    endpoints[rank == NEAR_RANK ? FAR_RANK : NEAR_RANK] = endpoint;
    over_messages_open(rank, RANKS, endpoints, give_up);
    return endpoint;
}

static void be_far_rank(const void *argument) {
    const struct far_rank *far_rank = argument;
    end_let_go(&far_rank->ends->near);
    (void)join(FAR_RANK, &far_rank->ends->far, far_rank->ends->connection);
    companion_ready(0);
    far_rank->be();
}

void messages_world_enter(void (*be)(void)) {
    int cpus[RANKS];
    const bool is_network = network_asked()->far_namespace != NULL;
    if (cpus_find(cpus, RANKS) < RANKS) {
        cannot_run("this process may use 1 CPU, and each rank polls all the time; give it two");
    }
    if (is_network) {
        network_open();
    }
    struct ends ends =
        ends_open(is_network ? CARRIER_RINGS : CARRIER_MEMORY, network_asked(), RINGS_FRAMES);
    const struct far_rank far_rank = {.ends = &ends, .be = be};
    companion_start("the far rank", cpus[FAR_RANK], be_far_rank, &far_rank);
    end_let_go(&ends.far);
    near_end = join(NEAR_RANK, &ends.near, ends.connection);
    cpus_pin(cpus[NEAR_RANK]);
}

void messages_world_observe(struct bench_report *report) {
    const struct messages_counts counts = *endpoint_counts(near_end);
    const uint64_t dropped = endpoint_dropped(near_end);
    bench_observe_events(report, "frames_resent", counts.resent - before.resent);
    bench_observe_events(report, "frames_dropped", dropped - dropped_before);
    before = counts;
    dropped_before = dropped;
}

#endif
