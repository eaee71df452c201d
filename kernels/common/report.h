/* What a check found out about one point, in one process. */
#ifndef REPORT_H
#define REPORT_H

#include "bench.h"

enum observation_kind {
    OBSERVED_COUNT,
    OBSERVED_EVENTS,
    OBSERVED_REAL,
    OBSERVED_SHARE,
    OBSERVED_TEXT,
    OBSERVED_ABSENT
};
enum { OBSERVED_TEXT_BYTES = 128 };

struct observation {
    const char *name;
    enum observation_kind kind;
    uint64_t count;
    double real;
    uint64_t parts;                 /* over which `real` is the mean, less one */
    char text[OBSERVED_TEXT_BYTES]; /* as much of it as goes in */
};

struct bench_report {
    bool failed;
    char reason[256];
    size_t observation_count;
    struct observation observations[BENCH_OBSERVATIONS_MAX];
};

/* Takes in what another process found at the same point: the first failure, and the smallest of
 * each share, because a point is as good as its worst process. All else stays. */
void report_join(struct bench_report *report, const struct bench_report *other, size_t process);

/* Takes in what a later part of the same point found: the first failure, all events, the smallest
 * of each share, and else what was seen last. */
void report_join_later(struct bench_report *report, const struct bench_report *later);

/* Values of an object that is open. */
void report_emit_observations(const struct bench_report *report);

#endif
