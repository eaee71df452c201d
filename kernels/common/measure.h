/* The timed region of one point. */
#ifndef MEASURE_H
#define MEASURE_H

#include "bench.h"
#include "usage.h"

struct sample {
    uint64_t start_ns;
    uint64_t time_ns; /* the cost of reading the clock is in it */
    int cpu;
};

/* The point's warm-ups and then its samples, all kept; a crew that works together meets before
 * each. The usage is that of the samples alone, with what the task does between them, and so is the
 * marker region of the `index`-th point. */
struct usage measure(const struct bench_task *task, const struct bench_point *point, size_t index,
                     struct sample *warm_ups, struct sample *samples);

/* How often a sample ran on another core than the one before it. */
uint64_t count_migrations(const struct sample *samples, size_t count);

#endif
