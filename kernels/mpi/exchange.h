/* Messages between two ranks: what goes to and fro at one point, timed at the near one. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "bench.h"

enum exchange_pattern { ROUND_TRIP, ONE_WAY, BOTH_WAYS };

enum { WINDOW_MESSAGES = 64, WINDOW_BYTES = 1 << 20, WINDOW_LEAST_MESSAGES = 4 };

/* Plain numbers, because the near rank sends it to the far one as it is. */
struct order {
    uint64_t pattern;
    uint64_t bytes;          /* of a message */
    uint64_t rotation_bytes; /* over which the buffers of messages rotate; 0: the same again */
    uint64_t samples;        /* with the warm-ups */
    uint64_t loops;
    uint64_t seed;
};

/* What both found at the end. */
struct exchanged {
    uint64_t messages; /* that came to either side */
    uint64_t wrong;    /* of those that were looked at */
    uint64_t looked_at;
    uint64_t buffers;          /* in rotation at each side, for one direction */
    uint64_t buffer_bytes;     /* all of them, at one side */
    bool sent_before_received; /* a message left before its receiver was ready for it */
};

/* How many go before an answer; 1 of a round trip. */
uint64_t exchange_window(const struct order *order);

/* Near rank: the task of a point, whose far side is ready when it returns. */
struct bench_task exchange_begin(const struct order *order);

/* Near rank, after all samples. */
struct exchanged exchange_end(void);

/* Far rank: obeys until it is ended. */
_Noreturn void exchange_obey(void);

#endif
