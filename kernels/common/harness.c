/* main() of every kernel: the order of things, in one process or in several. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "bench.h"
#include "clock.h"
#include "crew.h"
#include "emit.h"
#include "markers.h"
#include "outcome.h"
#include "turns.h"
#include "usage.h"

enum { ADDRESS_MODULUS = 4096 };

/* How far a process has come. */
struct place {
    struct bench_buffers buffers;
    int cpu;
    atomic_size_t steps; /* done: the buffers, and then each point */
};

static struct arguments arguments;
static struct clock_quality quality;
static struct place *places;
static struct outcome *outcomes; /* those of the first point, by process; then of the next */
static size_t reported;          /* steps */
static bool all_good = true;
static struct sample *later_warm_ups; /* of all turns but a point's first; not kept */

static struct outcome *outcome_of(size_t point, size_t process) {
    return &outcomes[point * arguments.processes + process];
}

static size_t repetitions(const struct bench_point *point) {
    return point->warm_up + point->samples;
}

static void share_memory(void) {
    size_t all = 0;
    for (size_t i = 0; i < arguments.point_count; i++) {
        all += repetitions(&arguments.points[i]);
    }
    const size_t processes = arguments.processes;
    places = crew_share(processes * sizeof *places, "processes");
    outcomes = crew_share(processes * arguments.point_count * sizeof *outcomes, "processes");
    struct sample *samples = crew_share(processes * all * sizeof *samples, "samples");
    for (size_t process = 0; process < processes; process++) {
        for (size_t i = 0; i < arguments.point_count; i++) {
            outcome_of(i, process)->samples = samples;
            samples += repetitions(&arguments.points[i]);
        }
    }
    if (arguments.turns > 1) {
        later_warm_ups = crew_share(all * sizeof *later_warm_ups, "samples");
    }
}

/* Other data in each process: none can be right with what another one copied. */
static struct bench_buffers open_kernel(size_t process) {
    struct bench_settings settings = arguments.settings;
    settings.seed += process;
    const struct bench_buffers none = {0};
    const struct bench_buffers buffers = bench_kernel.open ? bench_kernel.open(&settings) : none;
    const bool lacks_one = (settings.source_offset && !buffers.source) ||
                           (settings.destination_offset && !buffers.destination);
    if (lacks_one && !buffers.fixed) {
        refuse("%s has no buffer that the given offset could move; leave the offset out",
               bench_kernel.name);
    }
    return buffers;
}

static void emit_start(const struct place *first) {
    emit_open_line("start");
    emit_text("kernel", bench_kernel.name);
    emit_text("clock", CLOCK_NAME);
    emit_integer("clock_resolution_ns", quality.resolution_ns);
    emit_real("clock_cost_ns", quality.cost_ns);
    emit_integer("page_bytes", (uint64_t)sysconf(_SC_PAGESIZE));
    emit_integer("pid", (uint64_t)getpid());
    emit_integer("processes", arguments.processes);
    emit_integer("cpu", (uint64_t)first->cpu);
    emit_known("source_address_mod_4096", first->buffers.source,
               (uintptr_t)first->buffers.source % ADDRESS_MODULUS);
    emit_known("destination_address_mod_4096", first->buffers.destination,
               (uintptr_t)first->buffers.destination % ADDRESS_MODULUS);
    emit_text("layout", first->buffers.fixed ? "fixed" : "random");
    emit_close_line();
    emit_flush();
}

/* Prints the steps that all processes have done by now. */
static void report(void) {
    size_t done = SIZE_MAX;
    for (size_t process = 0; process < arguments.processes; process++) {
        const size_t steps = atomic_load(&places[process].steps);
        done = steps < done ? steps : done;
    }
    for (; reported < done; reported++) {
        const size_t point = reported - 1;
        if (reported == 0) {
            emit_start(places);
        } else if (!outcome_emit(point, &arguments.points[point], outcome_of(point, 0),
                                 arguments.processes, arguments.together)) {
            all_good = false;
        }
    }
}

static void step(struct place *place) {
    atomic_fetch_add(&place->steps, 1);
    if (arguments.processes == 1) {
        report();
    }
}

static void run_part(size_t index, const struct part *part, struct outcome *outcome) {
    const struct bench_point *point = &part->point;
    const bool is_checked = part->ends || !bench_kernel.prepare_again;
    const bool is_ready = !part->begins && !is_checked;
    const struct bench_task task =
        is_ready ? bench_kernel.prepare_again(point) : bench_kernel.prepare(point);
    uint64_t of_all;
    if (task.series && point->loops != 1) {
        refuse("loops=%llu is not 1, and this method times its samples itself; give loops=1",
               (unsigned long long)point->loops);
    }
    if (__builtin_mul_overflow(task.bytes_declared, point->loops, &outcome->bytes_declared) ||
        __builtin_mul_overflow(outcome->bytes_declared, arguments.processes, &of_all)) {
        refuse("loops=%llu declares more bytes than can be counted; give fewer",
               (unsigned long long)point->loops);
    }
    struct sample *samples = outcome->samples + arguments.points[index].warm_up + part->first;
    struct usage usage =
        measure(&task, point, index, part->begins ? outcome->samples : later_warm_ups, samples);
    usage.has_run_delay = usage.has_run_delay && !task.crowded;
    if (!part->begins) {
        usage_add(&usage, &outcome->usage);
    }
    outcome->usage = usage;
    if (part->ends) {
        /* Before the check touches them. */
        outcome->mapped = mappings_find(task.brought ? task.brought : task.buffers);
    }
    if (is_checked) {
        struct bench_report report = {0};
        bench_kernel.check(point, &report);
        report_join_later(&outcome->report, &report);
    }
}

/* In several turns, all points are done at the end. */
static void run_points(struct place *place, size_t process) {
    size_t order[POINTS_MAX];
    size_t done = 0;
    for (size_t i = 0; i < arguments.point_count; i++) {
        order[i] = i;
    }
    for (size_t turn = 0; turn < arguments.turns; turn++) {
        if (arguments.turns > 1) {
            turns_order(order, arguments.point_count, arguments.settings.seed, turn);
        }
        for (size_t i = 0; i < arguments.point_count; i++) {
            const struct bench_point *point = &arguments.points[order[i]];
            if (turn >= turns_taken(point, arguments.turns)) {
                continue;
            }
            if (arguments.turns > 1 || arguments.pauses) {
                turns_wait(order[i], arguments.pauses);
            }
            const struct part part = turns_part(point, arguments.turns, turn, arguments.cold);
            run_part(order[i], &part, outcome_of(order[i], process));
            if (arguments.turns == 1) {
                done++;
                step(place);
            }
        }
    }
    for (; done < arguments.point_count; done++) {
        step(place);
    }
}

static void work(size_t process) {
    struct place *place = &places[process];
    for (size_t i = 0; i < arguments.point_count; i++) {
        /* Written to, so that no page of it is faulted in between samples. */
        memset(outcome_of(i, process)->samples, 0xff,
               repetitions(&arguments.points[i]) * sizeof(struct sample));
    }
    place->buffers = open_kernel(process);
    place->cpu = sched_getcpu();
    usage_open();
    markers_open(arguments.processes);
    step(place);
    run_points(place, process);
    markers_close();
    if (bench_kernel.close) {
        bench_kernel.close();
    }
}

int main(int argc, char **argv) {
    arguments_parse(&bench_kernel, argc, argv, &arguments);
    share_memory();
    quality = clock_measure();
    if (arguments.processes == 1) {
        work(0);
    } else {
        crew_run(arguments.processes, arguments.together, work, report);
    }
    report();
    const int status = all_good ? EXIT_OK : EXIT_FAILED;
    emit_open_line("end");
    emit_integer("status", (uint64_t)status);
    emit_close_line();
    emit_flush();
    return status;
}
