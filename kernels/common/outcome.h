/* What each process found at one point, and the lines that say it. */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench.h"
#include "mappings.h"
#include "measure.h"
#include "report.h"
#include "usage.h"

struct outcome {
    struct sample *samples; /* warm-ups first */
    uint64_t bytes_declared;
    struct usage usage;
    struct mapped mapped; /* at the end of the samples */
    struct bench_report report;
};

/* Prints the samples and the point; false if a process failed its check. One row for each sample
 * of each process (with the bytes of one); or, where they worked together, one row for all, from
 * the first start to the last end (with the bytes of all). The usage is the sum, but for the wall
 * time, which is the longest. Observed beside it: how many processes; together, by how much the
 * last one started late; apart, the share of the whole time in which all were at work. */
bool outcome_emit(size_t index, const struct bench_point *point, const struct outcome *outcomes,
                  size_t processes, bool together);

#endif
