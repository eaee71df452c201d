/* Round trips one after the other: each datagram leaves when the one before it was answered. */
#ifndef TRIPS_H
#define TRIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench.h"
#include "exchange.h"

struct trips {
    struct exchange *exchange;
    bool socket_each; /* opened, bound and closed in each round trip */
    int far;          /* the far side's socket, where this thread plays it too, or -1 */
    uint64_t gap_ns;  /* asleep between a round trip and the next */
};

/* Sets what the task does, for this point. */
void trips_begin(const struct trips *trips, struct bench_task *task);

/* After the last one. */
void trips_end(void);

#endif
