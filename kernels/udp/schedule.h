/* Datagrams that leave when a clock says so, whether the earlier ones were answered or not. */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "bench.h"
#include "exchange.h"

struct schedule {
    struct exchange *exchange;
    uint64_t interval_ns;
    bool from_send; /* time counts from when it was sent, else from when it was to be sent */
};

/* Sets what the task does, for this point: one datagram for each sample. The time of a lost one is
 * how long it was waited for. */
void schedule_begin(const struct schedule *schedule, struct bench_task *task);

/* Afterwards: how well the last series kept it. Late is what left after the next one was due. */
void schedule_observe(struct bench_report *report);

#endif
