#define _GNU_SOURCE
#include "measure.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "clock.h"

struct sample *samples_allocate(size_t count) {
    const size_t bytes = count * sizeof(struct sample);
    void *samples = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (samples == MAP_FAILED) {
        cannot_run("no memory for %zu samples (%s): ask for fewer", count, strerror(errno));
    }
    memset(samples, 0xff, bytes); /* MAP_POPULATE alone may fail in silence */
    return samples;
}

static void repeat(const struct bench_task *task, uint64_t loops, struct sample *samples,
                   size_t count) {
    bench_timed *const timed = task->timed;
    const void *const state = task->state;
    for (size_t i = 0; i < count; i++) {
        samples[i].cpu = sched_getcpu();
        const uint64_t start = clock_now();
        for (uint64_t loop = 0; loop < loops; loop++) {
            timed(state);
        }
        samples[i].time_ns = clock_now() - start;
        samples[i].start_ns = start;
    }
}

struct usage measure(const struct bench_task *task, const struct bench_point *point,
                     struct sample *samples) {
    repeat(task, point->loops, samples, point->warm_up);
    const struct usage begin = usage_begin();
    repeat(task, point->loops, samples + point->warm_up, point->samples);
    return usage_end(&begin);
}

uint64_t count_migrations(const struct sample *samples, size_t count) {
    uint64_t migrations = 0;
    for (size_t i = 1; i < count; i++) {
        migrations += samples[i].cpu != samples[i - 1].cpu;
    }
    return migrations;
}
