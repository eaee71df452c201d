#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emit.h"

/* The first reason stays: later ones often only follow from it. */
void bench_fail(struct bench_report *report, const char *format, ...) {
    if (report->failed) {
        return;
    }
    report->failed = true;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->reason, sizeof report->reason, format, arguments);
    va_end(arguments);
}

static void add(struct bench_report *report, struct observation observation) {
    if (report->observation_count == BENCH_OBSERVATIONS_MAX) {
        bench_fail(report, "the kernel observes more than %d things", BENCH_OBSERVATIONS_MAX);
        return;
    }
    report->observations[report->observation_count++] = observation;
}

void bench_observe_count(struct bench_report *report, const char *name, uint64_t value) {
    add(report, (struct observation){.name = name, .kind = OBSERVED_COUNT, .count = value});
}

void bench_observe_events(struct bench_report *report, const char *name, uint64_t value) {
    add(report, (struct observation){.name = name, .kind = OBSERVED_EVENTS, .count = value});
}

/* Tested and divided here and not in the kernel, where -Ofast takes every number for finite and
 * divides by multiplying. */
static void add_real(struct bench_report *report, struct observation observation) {
    if (!isfinite(observation.real)) {
        bench_fail(report, "%s is not a finite number", observation.name);
    }
    add(report, observation);
}

void bench_observe_real(struct bench_report *report, const char *name, double value) {
    add_real(report, (struct observation){.name = name, .kind = OBSERVED_REAL, .real = value});
}

void bench_observe_share(struct bench_report *report, const char *name, uint64_t part,
                         uint64_t whole) {
    const double share = (double)part / (double)whole;
    add_real(report, (struct observation){.name = name, .kind = OBSERVED_SHARE, .real = share});
}

void bench_observe_text(struct bench_report *report, const char *name, const char *text) {
    struct observation observation = {.name = name, .kind = OBSERVED_TEXT};
    snprintf(observation.text, sizeof observation.text, "%s", text);
    add(report, observation);
}

void bench_observe_absent(struct bench_report *report, const char *name) {
    add(report, (struct observation){.name = name, .kind = OBSERVED_ABSENT});
}

/* Of two shares; whether both are shares. */
static bool keep_smaller(struct observation *seen, const struct observation *theirs) {
    const bool both = seen->kind == OBSERVED_SHARE && theirs->kind == OBSERVED_SHARE;
    if (both && theirs->real < seen->real) {
        seen->real = theirs->real;
    }
    return both;
}

void report_join(struct bench_report *report, const struct bench_report *other, size_t process) {
    if (other->failed) {
        bench_fail(report, "process %zu: %s", process, other->reason);
    }
    for (size_t i = 0; i < report->observation_count && i < other->observation_count; i++) {
        struct observation *seen = &report->observations[i];
        const struct observation *theirs = &other->observations[i];
        keep_smaller(seen, theirs);
    }
}

/* An early end may have left some out of either. */
static struct observation *find(struct bench_report *report, const char *name) {
    for (size_t i = 0; i < report->observation_count; i++) {
        if (strcmp(report->observations[i].name, name) == 0) {
            return &report->observations[i];
        }
    }
    return NULL;
}

void report_join_later(struct bench_report *report, const struct bench_report *later) {
    if (later->failed) {
        bench_fail(report, "%s", later->reason);
    }
    for (size_t i = 0; i < later->observation_count; i++) {
        const struct observation *theirs = &later->observations[i];
        struct observation *seen = find(report, theirs->name);
        if (!seen) {
            add(report, *theirs);
        } else if (seen->kind == OBSERVED_EVENTS && theirs->kind == OBSERVED_EVENTS) {
            seen->count += theirs->count;
        } else if (seen->kind == OBSERVED_REAL && theirs->kind == OBSERVED_REAL) {
            seen->parts++;
            seen->real += (theirs->real - seen->real) / (double)(seen->parts + 1);
        } else if (!keep_smaller(seen, theirs)) {
            *seen = *theirs;
        }
    }
}

void report_emit_observations(const struct bench_report *report) {
    for (size_t i = 0; i < report->observation_count; i++) {
        const struct observation *seen = &report->observations[i];
        switch (seen->kind) {
        case OBSERVED_COUNT:
        case OBSERVED_EVENTS:
            emit_integer(seen->name, seen->count);
            break;
        case OBSERVED_REAL:
        case OBSERVED_SHARE:
            emit_real(seen->name, seen->real);
            break;
        case OBSERVED_TEXT:
            emit_text(seen->name, seen->text);
            break;
        case OBSERVED_ABSENT:
            emit_null(seen->name);
            break;
        }
    }
}
