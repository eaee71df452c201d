/* What a check found out about one point. */
#ifndef REPORT_H
#define REPORT_H

#include "bench.h"

enum observation_kind { OBSERVED_COUNT, OBSERVED_REAL, OBSERVED_ABSENT };

struct observation {
    const char *name;
    enum observation_kind kind;
    uint64_t count;
    double real;
};

struct bench_report {
    bool failed;
    char reason[256];
    size_t observation_count;
    struct observation observations[BENCH_OBSERVATIONS_MAX];
};

void report_emit_observations(const struct bench_report *report);

#endif
