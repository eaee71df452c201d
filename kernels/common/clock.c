#define _GNU_SOURCE
#include "clock.h"

#include "order.h"

enum { STEPS = 4096, BATCHES = 21, BATCH = 500 };

/* Steps between successive readings. Some are zero: the clock ticks slower than it is read, and
 * the smallest step is the tick. None is zero: the tick hides below the cost of a reading, but
 * two steps of unlike length differ by at least one tick. */
static uint64_t resolution_ns(void) {
    static uint64_t step[STEPS];
    uint64_t before = clock_now();
    for (int i = 0; i < STEPS; i++) {
        const uint64_t now = clock_now();
        step[i] = now - before;
        before = now;
    }
    sort(step, STEPS);

    int first = 0;
    while (first < STEPS && step[first] == 0) {
        first++;
    }
    if (first == STEPS) {
        return (uint64_t)1000000000; /* it did not move at all: no tick shorter than a second */
    }
    uint64_t smallest = step[first];
    for (int i = 1; i < STEPS && first == 0; i++) {
        const uint64_t difference = step[i] - step[i - 1];
        if (difference > 0 && difference < smallest) {
            smallest = difference;
        }
    }
    return smallest;
}

/* The median over batches, so that one interruption does not count. */
static double cost_ns(void) {
    uint64_t batch_ns[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++) {
        const uint64_t start = clock_now();
        for (int i = 0; i < BATCH; i++) {
            (void)clock_now();
        }
        batch_ns[batch] = clock_now() - start;
    }
    return median(batch_ns, BATCHES) / (BATCH + 1);
}

struct clock_quality clock_measure(void) {
    return (struct clock_quality){.resolution_ns = resolution_ns(), .cost_ns = cost_ns()};
}
