/* Programs on shared memory between processes that have none. This process is node 0 and has the
 * harness; the other nodes obey it. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"
#include "companion.h"
#include "cpus.h"
#include "crew.h"
#include "measure.h"
#include "mesh.h"
#include "program.h"

enum { KEY_SIZE };
enum { OPTION_NODES = 0x200, OPTION_CROWDED, OPTION_CARRIER, OPTION_MPROTECT };
enum { NEAR_NODE = 0 };

static const struct bench_key keys[] = {{.name = "size"}, {0}};

static const struct program *const programs[] = {&dsm_lu, &dsm_radix, &dsm_words};

static const struct bench_method methods[] = {
    {.name = "lu", .keys = 1u << KEY_SIZE},
    {.name = "radix", .keys = 1u << KEY_SIZE},
    {.name = "words", .keys = 1u << KEY_SIZE},
    {0},
};

static struct {
    size_t nodes;
    enum mesh_kind carrier;
    bool is_crowded;
    bool has_mprotect_only;
} chosen = {.nodes = 2};

/* What node 0 has the others do; it goes through a pipe to each. */
struct order {
    uint64_t program;
    uint64_t size;
    uint64_t repetitions;
};

/* What nodes leave for node 0 to read. */
struct left {
    struct sharing_record record; /* of all repetitions */
    uint64_t time_ns;
    uint64_t copy; /* a hash of its copy of the result */
};

static struct order order;
static struct left *left; /* by node */
static struct mesh mesh;
static int pipes[SHARING_NODES_MOST][2];
static struct verdict worst; /* of a point's repetitions */
static size_t differing_copies;
static uint64_t repetitions;
static size_t cpu_count;

static const struct program *ordered(void) {
    return programs[order.program];
}

static void accept_point(const struct bench_point *point) {
    const uint64_t size = point->values[KEY_SIZE];
    const char *refusal = programs[point->method]->refusal(size, chosen.nodes);
    if (refusal) {
        refuse("size=%" PRIu64 " is none that %zu nodes can share by method=%s; %s", size,
               chosen.nodes, methods[point->method].name, refusal);
    }
}

/* --- All nodes. */

static void begin(void) {
    memset(&left[sharing_node()], 0, sizeof *left);
    sharing_clear();
    ordered()->make(order.size);
}

static uint64_t hash_copy(const uint32_t *words) {
    uint64_t hash = 0;
    for (size_t i = 0; i < ordered()->shared_bytes() / sizeof *words; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void keep(const struct sharing_record *record, uint64_t time_ns) {
    struct left *own = &left[sharing_node()];
    for (size_t i = 0; i < SHARING_COUNTS; i++) {
        own->record.counts[i] += record->counts[i];
    }
    for (size_t i = 0; i < SHARING_PARTS; i++) {
        own->record.part_ns[i] += record->part_ns[i];
    }
    own->time_ns += time_ns;
}

/* Returns how long it took at this node: the last barrier ends it for all. */
static uint64_t repeat(uint64_t *start_ns) {
    const struct program *program = ordered();
    program->reset();
    sharing_barrier();
    sharing_record_begin();
    *start_ns = clock_now();
    program->timed(NULL);
    const uint64_t time_ns = clock_now() - *start_ns;
    const struct sharing_record record = sharing_record_end();
    keep(&record, time_ns);
    left[sharing_node()].copy = hash_copy(sharing_first());
    return time_ns;
}

/* --- Node 0. */

static void verify(void) {
    struct verdict verdict = {0};
    ordered()->verify(&verdict);
    if (repetitions++ == 0 || verdict.wrong > worst.wrong) {
        worst = verdict;
    }
    for (size_t node = 0; node < chosen.nodes; node++) {
        differing_copies += left[node].copy != left[NEAR_NODE].copy;
    }
}

static void run_series(const void *state, struct sample *samples, size_t count) {
    (void)state;
    for (size_t i = 0; i < count; i++) {
        samples[i].cpu = sched_getcpu();
        samples[i].time_ns = repeat(&samples[i].start_ns);
        sharing_barrier(); /* all have looked at their copies */
        verify();
        sharing_barrier();
    }
}

static struct bench_task prepare(const struct bench_point *point) {
    order = (struct order){
        .program = point->method,
        .size = point->values[KEY_SIZE],
        .repetitions = point->warm_up + point->samples,
    };
    companions_watch();
    /* A node that has just been killed is named: the signal of its closed pipe would end this
     * process without a word. */
    void (*const usual)(int) = signal(SIGPIPE, SIG_IGN);
    for (size_t node = 1; node < chosen.nodes; node++) {
        if (write(pipes[node][1], &order, sizeof order) != sizeof order) {
            companions_watch_dying();
            refuse("node %zu takes no orders; start again", node);
        }
    }
    signal(SIGPIPE, usual);
    worst = (struct verdict){0};
    differing_copies = 0;
    repetitions = 0;
    begin();
    return (struct bench_task){
        .timed = ordered()->timed,
        .series = run_series,
        .crowded = chosen.is_crowded,
    };
}

static uint64_t sum_counts(enum sharing_count count) {
    uint64_t sum = 0;
    for (size_t node = 0; node < chosen.nodes; node++) {
        sum += left[node].record.counts[count];
    }
    return sum / repetitions;
}

static uint64_t sum_part(enum sharing_part part) {
    uint64_t sum_ns = 0;
    for (size_t node = 0; node < chosen.nodes; node++) {
        sum_ns += left[node].record.part_ns[part];
    }
    return sum_ns;
}

static void observe_parts(struct bench_report *report) {
    static const char *const names[SHARING_PARTS] = {
        [SHARING_SYNC] = "sync_fraction",         [SHARING_WRITING] = "writing_fraction",
        [SHARING_FAULTING] = "faulting_fraction", [SHARING_MESSAGES] = "messages_fraction",
        [SHARING_TASK] = "task_fraction",
    };
    const bool has_all = sharing_fault_way() != NULL;
    uint64_t all_ns = 0;
    for (size_t part = 0; part < SHARING_PARTS; part++) {
        all_ns += sum_part((enum sharing_part)part);
    }
    for (size_t part = 0; part < SHARING_PARTS; part++) {
        if (part == SHARING_SYNC || has_all) {
            bench_observe_share(report, names[part], sum_part((enum sharing_part)part), all_ns);
        } else {
            bench_observe_absent(report, names[part]);
        }
    }
}

static void observe_pages(struct bench_report *report) {
    const uint64_t faults = sum_counts(SHARING_FAULTS);
    if (!sharing_fault_way()) {
        bench_observe_absent(report, "page_faults_caught");
        bench_observe_absent(report, "pages_fetched");
        bench_observe_absent(report, "twins");
        bench_observe_absent(report, "diffs");
        bench_observe_absent(report, "pages_written_by_several");
        bench_observe_absent(report, "fault_ns");
        return;
    }
    bench_observe_count(report, "page_faults_caught", faults);
    bench_observe_count(report, "pages_fetched", sum_counts(SHARING_FETCHES));
    bench_observe_count(report, "twins", sum_counts(SHARING_TWINS));
    bench_observe_count(report, "diffs", sum_counts(SHARING_DIFFS));
    bench_observe_count(report, "pages_written_by_several", sum_counts(SHARING_SEVERAL));
    bench_observe_text(report, "fault_way", sharing_fault_way());
    if (faults > 0) {
        bench_observe_real(report, "fault_ns",
                           (double)sum_part(SHARING_FAULTING) / (double)(faults * repetitions));
    } else {
        bench_observe_absent(report, "fault_ns");
    }
}

static void check(const struct bench_point *point, struct bench_report *report) {
    (void)point;
    if (worst.compared == 0) {
        bench_fail(report, "nothing of %s was verified", ordered()->name);
    } else if (worst.wrong > 0) {
        bench_fail(report, "%" PRIu64 " of %" PRIu64 " values of %s are not those of one process",
                   worst.wrong, worst.compared, ordered()->name);
    }
    if (differing_copies > 0) {
        bench_fail(report, "%zu copies of the result are not that of node 0", differing_copies);
    }
    bench_observe_count(report, "values_verified", worst.compared - worst.wrong);
    bench_observe_count(report, "values_wrong", worst.wrong);
    bench_observe_real(report, "verification_error", worst.worst_error);
    bench_observe_count(report, "consistency_codes", sum_counts(SHARING_CODES));
    bench_observe_count(report, "packets", sum_counts(SHARING_PACKETS));
    bench_observe_count(report, "packet_bytes", sum_counts(SHARING_BYTES));
    bench_observe_count(report, "frames_sent_again", sum_counts(SHARING_RESENT));
    observe_parts(report);
    observe_pages(report);
    if (ordered() == &dsm_words) {
        bench_observe_count(report, "apart_bytes", order.size);
    } else {
        bench_observe_absent(report, "apart_bytes");
    }
    bench_observe_count(report, "node_count", chosen.nodes);
    bench_observe_count(report, "node_cpus", cpu_count);
}

/* --- The other nodes. */

static void open_node(size_t node, sharing_watch *watch) {
    struct sharing_setup setup = {
        .node = node,
        .nodes = chosen.nodes,
        .has_mprotect_only = chosen.has_mprotect_only,
        .is_crowded = chosen.is_crowded,
        .watch = watch,
    };
    mesh_keep(&mesh, node);
    memcpy(setup.carriers, mesh.carriers[node], sizeof setup.carriers);
    sharing_open(&setup);
}

static void be_node(const void *argument) {
    const size_t node = *(const size_t *)argument;
    close(pipes[node][1]);
    open_node(node, NULL);
    companion_ready(0);
    while (read(pipes[node][0], &order, sizeof order) == sizeof order) {
        begin();
        for (uint64_t i = 0; i < order.repetitions; i++) {
            uint64_t start_ns;
            (void)repeat(&start_ns);
            sharing_barrier();
            sharing_barrier();
        }
    }
}

static struct bench_buffers open_nodes(const struct bench_settings *settings) {
    int cpus[SHARING_NODES_MOST];
    (void)settings;
    cpu_count = cpus_find(cpus, chosen.nodes);
    if (cpu_count < chosen.nodes && !chosen.is_crowded) {
        cannot_run(
            "this process may use %zu CPU%s, and each of %zu nodes polls all the time; give it "
            "one CPU for each",
            cpu_count, cpu_count == 1 ? "" : "s", chosen.nodes);
    }
    left = crew_share(chosen.nodes * sizeof *left, "nodes");
    mesh_open(&mesh, chosen.carrier, chosen.nodes);
    for (size_t node = 1; node < chosen.nodes; node++) {
        static const char *const names[SHARING_NODES_MOST] = {
            "node 0", "node 1", "node 2", "node 3", "node 4", "node 5", "node 6", "node 7",
        };
        if (pipe(pipes[node]) != 0) {
            cannot_run("no pipe to node %zu; raise the limit of open files", node);
        }
        companion_start(names[node], cpus[node % cpu_count], be_node, &node);
        close(pipes[node][0]);
    }
    open_node(NEAR_NODE, companions_watch);
    cpus_pin(cpus[0]);
    return (struct bench_buffers){0};
}

static void close_nodes(void) {
    companions_end();
    sharing_close();
}

/* --- Options. */

static const struct argp_option options[] = {
    {.name = "nodes", .key = OPTION_NODES, .arg = "N", .doc = "Processes that share memory (2)"},
    {.name = "carrier",
     .key = OPTION_CARRIER,
     .arg = "WORD",
     .doc = "What carries messages: memory, or udp over loopback (memory if not given)"},
    {.name = "mprotect",
     .key = OPTION_MPROTECT,
     .doc = "Faults are caught by mprotect, where userfaultfd is allowed as well"},
    {.name = "crowded",
     .key = OPTION_CROWDED,
     .doc = "There may be more nodes than CPUs; what is timed then is their waiting too"},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state) {
    (void)state;
    switch (key) {
    case OPTION_NODES:
        chosen.nodes = parse_number("--nodes ", text, strlen(text), 1, SHARING_NODES_MOST);
        return 0;
    case OPTION_CARRIER:
        chosen.carrier = strcmp(text, "udp") == 0 ? MESH_UDP : MESH_MEMORY;
        if (chosen.carrier == MESH_MEMORY && strcmp(text, "memory") != 0) {
            refuse("--carrier '%s' is neither memory nor udp; give one of them", text);
        }
        return 0;
    case OPTION_MPROTECT:
        chosen.has_mprotect_only = true;
        return 0;
    case OPTION_CROWDED:
        chosen.is_crowded = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {.options = options, .parser = parse_option};

const struct bench_kernel bench_kernel = {
    .name = "dsm",
    .question = "How long do programs take on memory that processes share by messages alone?",
    .argp = &argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_nodes,
    .prepare = prepare,
    .check = check,
    .close = close_nodes,
};
