/* Programs of the NAS Parallel Benchmarks between ranks of MPI. Without a launcher's option this
 * program starts itself as all ranks; the first one has the harness, the others obey it. With
 * MPI_OVER_MESSAGES there is no library of MPI, and the second rank is a process of this one. */
#define _GNU_SOURCE
#include "program.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "../mpi/launch.h"
#include "../mpi/messages_world.h"
#include "../mpi/world.h"
#include "clock.h"
#include "cpus.h"
#include "measure.h"
#include "network.h"
#include "traffic.h"

enum { KEY_CLASS };
enum { OPTION_LAUNCHED = 0x200, OPTION_RANKS, OPTION_CROWDED };

static const char *const class_names[] = {
    [CLASS_S] = "S", [CLASS_W] = "W", [CLASS_A] = "A", [CLASS_B] = "B", NULL};

static const struct bench_key keys[] = {{.name = "class", .words = class_names}, {0}};

static const struct nas_program *const programs[] = {&nas_ep, &nas_is, &nas_cg, &nas_mg,
                                                     &nas_lu, &nas_sp, &nas_bt};

enum { PROGRAMS = sizeof programs / sizeof *programs };

static const struct bench_method methods[] = {
    {.name = "ep", .keys = 1u << KEY_CLASS}, {.name = "is", .keys = 1u << KEY_CLASS},
    {.name = "cg", .keys = 1u << KEY_CLASS}, {.name = "mg", .keys = 1u << KEY_CLASS},
    {.name = "lu", .keys = 1u << KEY_CLASS}, {.name = "sp", .keys = 1u << KEY_CLASS},
    {.name = "bt", .keys = 1u << KEY_CLASS}, {0},
};

static const char *launched;
static bool is_crowded;
static size_t cpu_count; /* that the ranks share, at most one for each */

/* What the first rank has the others do: plain numbers, because it is sent as it is. */
struct order {
    uint64_t program;
    uint64_t class;
    uint64_t repetitions;
};

static struct order order;

/* What a rank knows after its repetitions. */
static struct {
    struct nas_verdict verdict; /* the worst one */
    struct traffic traffic;
    uint64_t time_ns;
    uint64_t repetitions;
} done;

static const struct nas_program *ordered(void) {
    return programs[order.program];
}

static void accept_point(const struct bench_point *point) {
    const enum nas_class class = (enum nas_class)point->values[KEY_CLASS];
    const char *const refusal = programs[point->method]->refusal(class, nas_ranks);
    if (refusal) {
        refuse("--ranks %d are no number for method=%s,class=%s; %s", nas_ranks,
               methods[point->method].name, class_names[class], refusal);
    }
}

static void begin(void) {
    memset(&done, 0, sizeof done);
    ordered()->make((enum nas_class)order.class);
}

static void keep_worst(const struct nas_verdict *verdict) {
    if (done.repetitions == 0 || verdict->wrong > done.verdict.wrong ||
        verdict->worst_error > done.verdict.worst_error) {
        done.verdict = *verdict;
    }
}

/* All ranks at once; returns how long the slowest took. */
static uint64_t repeat(uint64_t *start_ns) {
    const struct nas_program *const program = ordered();
    struct nas_verdict verdict = {0};
    program->reset();
    MPI_Barrier(MPI_COMM_WORLD);
    traffic_switch(true);
    *start_ns = clock_now();
    program->timed(NULL);
    const uint64_t own_ns = clock_now() - *start_ns;
    traffic_switch(false);
    const struct traffic traffic = traffic_take();
    for (int i = 0; i < TRAFFIC_COUNTS; i++) {
        done.traffic.counts[i] += traffic.counts[i];
    }
    uint64_t longest_ns = 0;
    MPI_Allreduce(&own_ns, &longest_ns, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    program->verify(&verdict);
    keep_worst(&verdict);
    done.time_ns += own_ns;
    done.repetitions++;
    return longest_ns;
}

static void run_series(const void *state, struct sample *samples, size_t count) {
    (void)state;
    for (size_t i = 0; i < count; i++) {
        samples[i].cpu = sched_getcpu();
        samples[i].time_ns = repeat(&samples[i].start_ns);
    }
}

/* What all ranks counted, in the mean of the repetitions. */
struct gathered {
    double counts[TRAFFIC_COUNTS]; /* sums over the ranks */
    double busy_ns;                /* outside of MPI, the sum over the ranks */
    double busy_most_ns;           /* of the rank that computed longest */
    double time_ns;                /* sum over the ranks */
};

static struct gathered gather(void) {
    struct gathered all = {0};
    double own[TRAFFIC_COUNTS + 2];
    double sums[TRAFFIC_COUNTS + 2];
    const double repetitions = (double)done.repetitions;
    for (int i = 0; i < TRAFFIC_COUNTS; i++) {
        own[i] = (double)done.traffic.counts[i] / repetitions;
    }
    const double in_mpi_ns =
        own[TRAFFIC_SENDING_NS] + own[TRAFFIC_WAITING_NS] + own[TRAFFIC_COLLECTIVE_NS];
    own[TRAFFIC_COUNTS] = (double)done.time_ns / repetitions;
    own[TRAFFIC_COUNTS + 1] = own[TRAFFIC_COUNTS] - in_mpi_ns;
    MPI_Reduce(own, sums, TRAFFIC_COUNTS + 2, MPI_DOUBLE, MPI_SUM, NEAR_RANK, MPI_COMM_WORLD);
    MPI_Reduce(&own[TRAFFIC_COUNTS + 1], &all.busy_most_ns, 1, MPI_DOUBLE, MPI_MAX, NEAR_RANK,
               MPI_COMM_WORLD);
    memcpy(all.counts, sums, sizeof all.counts);
    all.time_ns = sums[TRAFFIC_COUNTS];
    all.busy_ns = sums[TRAFFIC_COUNTS + 1];
    return all;
}

static void end(void) {
    nas_rooms_free();
}

_Noreturn static void obey(void) {
    for (;;) {
        MPI_Bcast(&order, sizeof order, MPI_BYTE, NEAR_RANK, MPI_COMM_WORLD);
        begin();
        for (uint64_t i = 0; i < order.repetitions; i++) {
            uint64_t start_ns;
            (void)repeat(&start_ns);
        }
        (void)gather();
        end();
    }
}

#if defined(MPI_OVER_MESSAGES)
static void be_far_rank(void) {
    nas_rank = FAR_RANK;
    obey();
}

static void enter_world(void) {
    if (nas_ranks != RANKS || is_crowded) {
        refuse("this build has %d ranks, with a CPU each; give --ranks=%d alone", RANKS, RANKS);
    }
    messages_world_enter(be_far_rank);
}
#else
static void enter_world(void) {
    if (!launched) {
        launch_run(nas_ranks, is_crowded);
    }
    nas_rank = world_enter(launched, nas_ranks, is_crowded);
    if (is_crowded) {
        traffic_share_cpus();
    }
    if (nas_rank != NEAR_RANK) {
        obey();
    }
}
#endif

static struct bench_buffers open_ranks(const struct bench_settings *settings) {
    (void)settings;
    int cpus[RANKS_MOST];
    cpu_count = cpus_find(cpus, (size_t)nas_ranks);
    enter_world();
    return (struct bench_buffers){0};
}

static struct bench_task prepare(const struct bench_point *point) {
    order = (struct order){
        .program = point->method,
        .class = point->values[KEY_CLASS],
        .repetitions = point->warm_up + point->samples,
    };
    MPI_Bcast(&order, sizeof order, MPI_BYTE, NEAR_RANK, MPI_COMM_WORLD);
    begin();
    return (struct bench_task){
        .timed = ordered()->timed, .series = run_series, .crowded = is_crowded};
}

static void observe_traffic(struct bench_report *report, const struct gathered *all) {
    static const char *const names[TRAFFIC_COUNTS] = {
        [TRAFFIC_MESSAGES] = "rank_messages",
        [TRAFFIC_BYTES] = "rank_message_bytes",
        [TRAFFIC_COLLECTIVE_CALLS] = "collective_calls",
        [TRAFFIC_COLLECTIVE_BYTES] = "collective_bytes",
        [TRAFFIC_SENDING_NS] = "sending_fraction",
        [TRAFFIC_WAITING_NS] = "waiting_fraction",
        [TRAFFIC_COLLECTIVE_NS] = "collective_fraction",
    };
    for (int i = 0; i < TRAFFIC_COUNTS; i++) {
        if (!traffic_is_counted()) {
            bench_observe_absent(report, names[i]);
        } else if (i < TRAFFIC_SENDING_NS) {
            bench_observe_count(report, names[i], (uint64_t)(all->counts[i] + 0.5));
        } else {
            bench_observe_real(report, names[i], all->counts[i] / all->time_ns);
        }
    }
    if (traffic_is_counted()) {
        const double mean_ns = all->busy_ns / nas_ranks;
        bench_observe_real(report, "busy_fraction", all->busy_ns / all->time_ns);
        bench_observe_real(report, "busiest_rank_ratio", all->busy_most_ns / mean_ns);
    } else {
        bench_observe_absent(report, "busy_fraction");
        bench_observe_absent(report, "busiest_rank_ratio");
    }
}

static void check(const struct bench_point *point, struct bench_report *report) {
    const struct gathered all = gather();
    const struct nas_verdict *verdict = &done.verdict;
    const double operations = ordered()->operations((enum nas_class)point->values[KEY_CLASS]);
    if (verdict->compared == 0) {
        bench_fail(report, "nothing of %s was verified", ordered()->name);
    } else if (verdict->wrong > 0) {
        bench_fail(report, "class %s is not verified: %s", class_names[order.class],
                   verdict->words);
    }
    bench_observe_count(report, "values_verified", verdict->compared - verdict->wrong);
    bench_observe_count(report, "values_wrong", verdict->wrong);
    bench_observe_real(report, "verification_error", verdict->worst_error);
    bench_observe_real(report, "operations", operations);
    observe_traffic(report, &all);
    bench_observe_count(report, "rank_count", (uint64_t)nas_ranks);
    bench_observe_count(report, "rank_cpus", cpu_count);
    bench_observe_count(report, "shared_memory", network_asked()->far_namespace == NULL);
#if defined(MPI_OVER_MESSAGES)
    messages_world_observe(report);
    bench_observe_text(report, "mpi_library", MESSAGES_WORLD_LIBRARY);
#else
    bench_observe_text(report, "mpi_library", world_library());
#endif
    end();
}

static const struct argp_option options[] = {
    {.name = "ranks", .key = OPTION_RANKS, .arg = "N", .doc = "How many ranks share the work (1)"},
    {.name = "crowded",
     .key = OPTION_CROWDED,
     .doc = "There may be more ranks than CPUs; what is timed then is their waiting too"},
    {.name = LAUNCHED_OPTION,
     .key = OPTION_LAUNCHED,
     .arg = "PATH",
     .flags = OPTION_HIDDEN,
     .doc = "This process is a rank; given by the launcher"},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state) {
    (void)state;
    switch (key) {
    case OPTION_RANKS:
        nas_ranks = (int)parse_number("--ranks ", text, strlen(text), 1, RANKS_MOST);
        return 0;
    case OPTION_CROWDED:
        is_crowded = true;
        return 0;
    case OPTION_LAUNCHED:
        launched = text;
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
    .name = "nas",
    .question = "How long do programs of the NAS Parallel Benchmarks take on so many ranks?",
    .argp = &argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_ranks,
    .prepare = prepare,
    .check = check,
};
