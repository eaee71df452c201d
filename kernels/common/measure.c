#define _GNU_SOURCE
#include "measure.h"

#include <sched.h>

#include "clock.h"
#include "crew.h"
#include "markers.h"

static void repeat(const struct bench_task *task, uint64_t loops, struct sample *samples,
                   size_t count) {
    if (task->series) {
        if (count > 0) {
            task->series(task->state, samples, count);
        }
        return;
    }
    bench_timed *const timed = task->timed;
    const void *const state = task->state;
    for (size_t i = 0; i < count; i++) {
        samples[i].cpu = sched_getcpu();
        crew_meet();
        const uint64_t start = clock_now();
        for (uint64_t loop = 0; loop < loops; loop++) {
            timed(state);
        }
        samples[i].time_ns = clock_now() - start;
        samples[i].start_ns = start;
        if (task->between) {
            task->between(state);
        }
    }
}

struct usage measure(const struct bench_task *task, const struct bench_point *point, size_t index,
                     struct sample *warm_ups, struct sample *samples) {
    repeat(task, point->loops, warm_ups, point->warm_up);
    const struct usage begin = usage_begin();
    markers_start(index);
    repeat(task, point->loops, samples, point->samples);
    markers_stop(index);
    return usage_end(&begin);
}

uint64_t count_migrations(const struct sample *samples, size_t count) {
    uint64_t migrations = 0;
    for (size_t i = 1; i < count; i++) {
        migrations += samples[i].cpu != samples[i - 1].cpu;
    }
    return migrations;
}
