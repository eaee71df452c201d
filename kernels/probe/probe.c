/* The machine's own state in a few milliseconds: how fast a core works, how near two cores are to
 * each other, and how fast cores copy memory together. */
#define _GNU_SOURCE
#include <argp.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cannot_run.h"
#include "clock.h"
#include "emit.h"
#include "order.h"
#include "refuse.h"
#include "sink.h"
#include "team.h"

enum { WORK_BATCH = 1000, PAIR_BATCH = 32, VALUES_MOST = 1 << 14, PAGE_BYTES = 4096 };
#define STEP_NS_MOST UINT64_C(60000000000)
#define BYTES_MOST (UINT64_C(1) << 40)

struct step {
    void (*run)(struct step *step);
    uint64_t *cpus;
    size_t cpu_count;
    uint64_t amount; /* ns, or the anchor's bytes */
    uint64_t samples;

    uint64_t start_ns;
    uint64_t time_ns;
    uint64_t count; /* iterations, or round trips */
    size_t value_count;
    unsigned char *buffers; /* the anchor's: for each member a source and a destination */
    atomic_bool wrong;
};

static struct step *steps;
static size_t step_count;

static uint64_t values_ns[VALUES_MOST]; /* of each batch or sample of the step that runs */
static struct shared_word ball;         /* what a pair throws */

/* Batch by batch, for a median: a core that was away for a moment is no slower core. */
static void work(struct member *self, void *shared) {
    (void)self;
    struct step *step = shared;
    uint64_t value = 1;
    uint64_t batches = 0;
    const uint64_t start = clock_now();
    uint64_t now = start;
    while (now - start < step->amount) {
        const uint64_t batch_start = now;
        for (int i = 0; i < WORK_BATCH; i++) {
            value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            bench_sink(value); /* each one is wanted, so that none is skipped */
        }
        now = clock_now();
        values_ns[batches++ % VALUES_MOST] = now - batch_start;
    }
    step->start_ns = start;
    step->time_ns = now - start;
    step->count = batches * WORK_BATCH;
    step->value_count = batches < VALUES_MOST ? batches : VALUES_MOST;
}

static void run_work(struct step *step) {
    team_run(step->cpus, step->cpu_count, work, step);
    emit_open_line("work");
    emit_integer("cpu", step->cpus[0]);
    emit_integer("t_start_ns", step->start_ns);
    emit_integer("iterations", step->count);
    emit_integer("time_ns", step->time_ns);
    emit_real("ns_per_iteration", median(values_ns, step->value_count) / WORK_BATCH);
    emit_close_line();
}

/* Answers every odd ball with the next even one, until told to end. */
static void follow(uint64_t deadline_ns) {
    for (uint64_t number = 1; spin_until(&ball, number, deadline_ns); number += 2) {
        if (atomic_load_explicit(&ball.value, memory_order_relaxed) == UINT64_MAX) {
            return;
        }
        atomic_store_explicit(&ball.value, number + 1, memory_order_release);
    }
}

static bool throw_ball(uint64_t *number, uint64_t deadline_ns) {
    atomic_store_explicit(&ball.value, *number + 1, memory_order_release);
    const bool answered = spin_until(&ball, *number + 2, deadline_ns);
    *number += answered ? 2 : 0;
    return answered;
}

/* The first throw is not timed: it waits until the follower really runs. Ends early where the
 * room for batches is full, which is enough for a median. */
static void lead(struct step *step) {
    uint64_t number = 0;
    bool answered = throw_ball(&number, clock_now() + step->amount);
    const uint64_t first = number;
    uint64_t now = step->start_ns = clock_now();
    const uint64_t deadline_ns = now + step->amount;
    while (answered && now < deadline_ns && step->value_count < VALUES_MOST) {
        const uint64_t batch_start = now;
        for (int i = 0; i < PAIR_BATCH && answered; i++) {
            answered = throw_ball(&number, deadline_ns);
        }
        now = clock_now();
        if (answered) {
            values_ns[step->value_count++] = now - batch_start;
        }
    }
    atomic_store_explicit(&ball.value, UINT64_MAX, memory_order_release);
    step->time_ns = now - step->start_ns;
    step->count = (number - first) / 2;
}

static void pair(struct member *self, void *shared) {
    struct step *step = shared;
    if (!team_meet(self, NULL)) {
        return;
    }
    if (self->index == 0) {
        lead(step);
    } else {
        follow(clock_now() + 2 * step->amount);
    }
}

static void run_pair(struct step *step) {
    atomic_store(&ball.value, 0);
    team_run(step->cpus, step->cpu_count, pair, step);
    const bool has_batch = step->value_count > 0;
    emit_open_line("pair");
    emit_integer("a", step->cpus[0]);
    emit_integer("b", step->cpus[1]);
    emit_integer("t_start_ns", step->start_ns);
    emit_integer("round_trips", step->count);
    emit_integer("time_ns", step->time_ns);
    emit_real("round_trip_ns", has_batch ? median(values_ns, step->value_count) / PAIR_BATCH : NAN);
    emit_close_line();
}

static uint64_t whole_pages(uint64_t bytes) {
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static void anchor(struct member *self, void *shared) {
    struct step *step = shared;
    const uint64_t bytes = step->amount;
    unsigned char *source = step->buffers + 2 * whole_pages(bytes) * self->index;
    unsigned char *destination = source + whole_pages(bytes);
    const bool leads = self->index == 0;
    memset(source, 1, bytes); /* by the thread that uses it, so that it is near */
    memset(destination, 0, bytes);
    for (uint64_t repetition = 0; repetition <= step->samples; repetition++) {
        uint64_t start_ns = 0;
        if (!team_meet(self, leads ? &start_ns : NULL)) {
            return;
        }
        memcpy(destination, source, bytes);
        bench_barrier(destination);
        if (!team_meet(self, NULL)) {
            return;
        }
        if (leads && repetition > 0) { /* the first was a warm-up */
            values_ns[step->value_count++] = clock_now() - start_ns;
            step->start_ns = repetition == 1 ? start_ns : step->start_ns;
        }
    }
    if (memcmp(destination, source, bytes) != 0) {
        step->wrong = true;
    }
}

static void run_anchor(struct step *step) {
    step->buffers = aligned_alloc(PAGE_BYTES, 2 * whole_pages(step->amount) * step->cpu_count);
    if (!step->buffers) {
        cannot_run("no memory for anchors of %" PRIu64 " bytes; ask for fewer", step->amount);
    }
    team_run(step->cpus, step->cpu_count, anchor, step);
    if (step->wrong) {
        refuse("what the anchor copied did not arrive; trust no number of this machine");
    }
    emit_open_line("anchor");
    emit_integers("cpus", step->cpus, step->cpu_count);
    emit_integer("bytes", step->amount);
    emit_integers("samples_ns", values_ns, step->value_count);
    emit_integer("t_start_ns", step->start_ns);
    emit_real("median_ns", median(values_ns, step->value_count));
    emit_close_line();
    free(step->buffers);
}

enum { STEP_WORK, STEP_PAIR, STEP_ANCHOR, STEP_KINDS };
enum { OPTION_STEP = 0x100, OPTION_HELP = OPTION_STEP + STEP_KINDS };

static const struct argp_option options[] = {
    [STEP_WORK] = {.name = "work",
                   .key = OPTION_STEP + STEP_WORK,
                   .arg = "CPU:NS",
                   .doc = "Fixed integer arithmetic on one CPU, for NS nanoseconds"},
    [STEP_PAIR] = {.name = "pair",
                   .key = OPTION_STEP + STEP_PAIR,
                   .arg = "A:B:NS",
                   .doc = "Two CPUs pass a cache line back and forth, for at most NS nanoseconds"},
    [STEP_ANCHOR] = {.name = "anchor",
                     .key = OPTION_STEP + STEP_ANCHOR,
                     .arg = "CPUS:BYTES:SAMPLES",
                     .doc = "CPUs (like 0+1) copy BYTES each, all at the same time"},
    {.name = "help", .key = OPTION_HELP, .doc = "Print this text"},
    {0},
};

/* The number up to `separator` ('\0': up to the end), and past it. */
static uint64_t take_number(int kind, const char **rest, char separator, uint64_t least,
                            uint64_t most) {
    char label[64];
    snprintf(label, sizeof label, "--%s %s: ", options[kind].name, options[kind].arg);
    const size_t length = (size_t)(strchrnul(*rest, separator) - *rest);
    const uint64_t number = parse_number(label, *rest, length, least, most);
    *rest += length + ((*rest)[length] != '\0');
    return number;
}

static void take_cpu(int kind, const char **rest, char separator, struct step *step) {
    const uint64_t cpu = take_number(kind, rest, separator, 0, CPU_SETSIZE - 1);
    for (size_t i = 0; i < step->cpu_count; i++) {
        if (step->cpus[i] == cpu) {
            refuse("--%s has CPU %" PRIu64 " twice; name different ones", options[kind].name, cpu);
        }
    }
    step->cpus[step->cpu_count++] = cpu;
}

static void add_step(int kind, const char *rest) {
    static void (*const runs[STEP_KINDS])(struct step *) = {run_work, run_pair, run_anchor};
    struct step *step = &steps[step_count++];
    step->run = runs[kind];
    step->cpus = calloc(strlen(rest) + 1, sizeof *step->cpus); /* more than it can name */
    if (!step->cpus) {
        cannot_run("no memory for a step; ask for fewer");
    }
    while (kind == STEP_ANCHOR && memchr(rest, '+', strcspn(rest, ":"))) {
        take_cpu(kind, &rest, '+', step);
    }
    take_cpu(kind, &rest, ':', step);
    if (kind == STEP_PAIR) {
        take_cpu(kind, &rest, ':', step);
    }
    if (kind == STEP_ANCHOR) {
        step->amount = take_number(kind, &rest, ':', 1, BYTES_MOST);
        step->samples = take_number(kind, &rest, '\0', 1, VALUES_MOST);
    } else {
        step->amount = take_number(kind, &rest, '\0', 1, STEP_NS_MOST);
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    if (key >= OPTION_STEP && key < OPTION_STEP + STEP_KINDS) {
        add_step(key - OPTION_STEP, argument);
        return 0;
    }
    if (key == OPTION_HELP) {
        argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP, state->name);
        exit(EXIT_OK);
    }
    return refuse_other(key, argument, state);
}

int main(int argc, char **argv) {
    const uint64_t start = clock_now();
    const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .doc = "In which state is this machine? The steps run in the order given.",
    };
    steps = calloc((size_t)argc, sizeof *steps);
    if (!steps) {
        cannot_run("no memory for %d steps; ask for fewer", argc);
    }
    argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, NULL);
    if (step_count == 0) {
        refuse("there is nothing to do; give a --work, --pair or --anchor");
    }
    memset(values_ns, 0xff, sizeof values_ns); /* so that no page faults while time runs */
    for (size_t i = 0; i < step_count; i++) {
        steps[i].run(&steps[i]);
        emit_flush();
    }
    emit_open_line("end");
    emit_integer("status", EXIT_OK);
    emit_integer("wall_ns", clock_now() - start);
    emit_close_line();
    emit_flush();
    return EXIT_OK;
}
