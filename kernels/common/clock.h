/* The one clock of all kernels: never set, never slewed. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NAME "CLOCK_MONOTONIC_RAW"

static inline uint64_t clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct clock_quality {
    uint64_t resolution_ns; /* an upper bound, from readings */
    double cost_ns;         /* of one reading */
};

struct clock_quality clock_measure(void);

#endif
