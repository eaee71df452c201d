/* Sums over static arrays of which compilers may make nothing: the result is not used, or it is
 * known beforehand because nothing in this file ever writes to the array. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "bench.h"
#include "pattern.h"

#ifndef SUMS_CAPACITY_BYTES
#define SUMS_CAPACITY_BYTES (UINT64_C(64) << 20)
#endif

enum { LINE_BYTES = 64, WORD_BYTES = 8, PAGE_MOST = 1 << 16 };
enum { USED, UNUSED, CONSTANT };

struct work {
    size_t words;
    uint64_t *sum;
};

static uint64_t filled[SUMS_CAPACITY_BYTES / WORD_BYTES] __attribute__((aligned(PAGE_MOST)));
static uint64_t never_written[SUMS_CAPACITY_BYTES / WORD_BYTES]; /* its address goes nowhere */

static uint64_t bytes;
static struct pattern pattern;
static struct work current;
static uint64_t sum;
static uint64_t expected_sum;

BENCH_TIMED static void timed_used(const void *state) {
    const struct work *work = state;
    uint64_t total = 0;
    for (size_t i = 0; i < work->words; i++) {
        total += filled[i];
    }
    *work->sum = total;
}

BENCH_TIMED static void timed_unused(const void *state) {
    const struct work *work = state;
    uint64_t total = 0;
    for (size_t i = 0; i < work->words; i++) {
        total += filled[i];
    }
    (void)total;
}

BENCH_TIMED static void timed_constant(const void *state) {
    const struct work *work = state;
    uint64_t total = 0;
    for (size_t i = 0; i < work->words; i++) {
        total += never_written[i];
    }
    *work->sum = total;
}

static bench_timed *const timed[] = {
    [USED] = timed_used,
    [UNUSED] = timed_unused,
    [CONSTANT] = timed_constant,
};

static const struct bench_method methods[] = {
    [USED] = {.name = "used"},
    [UNUSED] = {.name = "unused"},
    [CONSTANT] = {.name = "constant"},
    {0},
};

static struct bench_buffers open_arrays(const struct bench_settings *settings) {
    if (bytes > sizeof filled) {
        cannot_run("the static arrays hold at most %zu bytes; ask for fewer", sizeof filled);
    }
    pattern = pattern_make(settings->seed);
    return (struct bench_buffers){.source = filled, .destination = filled, .fixed = true};
}

/* Its pages are given back where it is not summed, so that resident memory is that of this point
 * and of none before it. */
static struct bench_range fill(bool is_summed) {
    if (!is_summed) {
        (void)madvise(filled, sizeof filled, MADV_DONTNEED);
        return (struct bench_range){0};
    }
    pattern_fill(pattern, filled, bytes / WORD_BYTES);
    for (size_t i = 0; i < bytes / WORD_BYTES; i++) {
        expected_sum += filled[i];
    }
    return (struct bench_range){filled, bytes};
}

static struct bench_task prepare(const struct bench_point *point) {
    expected_sum = 0;
    const struct bench_range array = fill(point->method != CONSTANT);
    sum = ~expected_sum;
    current = (struct work){.words = bytes / WORD_BYTES, .sum = &sum};
    return (struct bench_task){
        .timed = timed[point->method],
        .state = &current,
        .bytes_declared = bytes,
        .buffers = {array},
    };
}

/* A sum that is not used has no result to check. */
static void check(const struct bench_point *point, struct bench_report *report) {
    const size_t words = bytes / WORD_BYTES;
    if (point->method != CONSTANT && pattern_match(pattern, filled, words, 0) < words) {
        bench_fail(report, "the array was written to");
    }
    if (point->method == UNUSED) {
        bench_observe_absent(report, "result_is_right");
        return;
    }
    if (sum != expected_sum) {
        bench_fail(report, "the sum over the array is wrong");
    }
    bench_observe_count(report, "result_is_right", sum == expected_sum);
}

const struct bench_kernel bench_kernel = {
    .name = "sums",
    .question = "How fast is an array summed if the sum is not used, or known in advance?",
    .size = {.bytes = &bytes, .of = "the array", .multiple = LINE_BYTES, .most = INT64_MAX},
    .methods = methods,
    .open = open_arrays,
    .prepare = prepare,
    .check = check,
};
