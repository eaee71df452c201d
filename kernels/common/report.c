#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

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

/* Tested and divided here and not in the kernel, where -Ofast takes every number for finite and
 * divides by multiplying. */
void bench_observe_real(struct bench_report *report, const char *name, double value) {
    if (!isfinite(value)) {
        bench_fail(report, "%s is not a finite number", name);
    }
    add(report, (struct observation){.name = name, .kind = OBSERVED_REAL, .real = value});
}

void bench_observe_share(struct bench_report *report, const char *name, uint64_t part,
                         uint64_t whole) {
    bench_observe_real(report, name, (double)part / (double)whole);
}

void bench_observe_absent(struct bench_report *report, const char *name) {
    add(report, (struct observation){.name = name, .kind = OBSERVED_ABSENT});
}

void report_emit_observations(const struct bench_report *report) {
    emit_open_object("observations");
    for (size_t i = 0; i < report->observation_count; i++) {
        const struct observation *seen = &report->observations[i];
        switch (seen->kind) {
        case OBSERVED_COUNT:
            emit_integer(seen->name, seen->count);
            break;
        case OBSERVED_REAL:
            emit_real(seen->name, seen->real);
            break;
        case OBSERVED_ABSENT:
            emit_null(seen->name);
            break;
        }
    }
    emit_close_object();
}
