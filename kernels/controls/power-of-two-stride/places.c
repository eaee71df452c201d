/* Two loops whose speed depends on where their data stand: a walk down a column of a matrix, and
 * sums of neighbours whose source and destination share the lower bits of their addresses. */
#define _GNU_SOURCE
#include <inttypes.h>

#include "bench.h"
#include "buffer.h"
#include "pattern.h"
#include "start.h"

enum { WORD_BYTES = 8, LINE_BYTES = 64, PAGE_BYTES = 4096 };
enum { KEY_STRIDE_BYTES, KEY_APART_BYTES };
enum { COLUMN, NEIGHBOURS };

struct work {
    const uint64_t *source;
    uint64_t *destination;
    size_t stride; /* words */
    size_t count;  /* words read, or written */
    uint64_t *sum;
};

static uint64_t bytes;
static struct pattern pattern;
static uint64_t *source;
static uint64_t *destination; /* with room for a page more */
static uint64_t sum;
static struct work current;

BENCH_TIMED static void timed_column(const void *state) {
    const struct work *work = state;
    const uint64_t *word = work->source;
    uint64_t total = 0;
    for (size_t i = 0; i < work->count; i++) {
        total += *word;
        word += work->stride;
    }
    *work->sum = total;
}

/* The next words are looked for only when a sum is known: then its store is still under way, and a
 * load that has to wait for it holds up all that follows. Some processors let a load wait for any
 * store under way, others only for one whose address became known at the same moment; so each sum
 * is stored once when it is known, and once more beside the loads that follow. */
BENCH_TIMED static void timed_neighbours(const void *state) {
    const struct work *work = state;
    const uint64_t *from = work->source + 1;
    const uint64_t *const end = from + work->count;
    uint64_t *to = work->destination + 1;
    uint64_t both = 0;
    uint64_t none = 0;
    __asm__("" : "+r"(none)); /* the compiler may not know it */
    while (from < end) {
        to[-1] = both;
        uint64_t here = from[0];
        uint64_t before = from[-1];
        __asm__("" : "+r"(here), "+r"(before)); /* neither vectors nor one load for two */
        both = here + before;
        to[0] = both;
        const uint64_t step = 1 + (both & none);
        from += step;
        to += step;
    }
}

static const struct bench_key keys[] = {
    [KEY_STRIDE_BYTES] = {.name = "stride_bytes"},
    [KEY_APART_BYTES] = {.name = "apart_bytes"},
    {0},
};

static const struct bench_method methods[] = {
    [COLUMN] = {.name = "column", .keys = 1 << KEY_STRIDE_BYTES},
    [NEIGHBOURS] = {.name = "neighbours", .keys = 1 << KEY_APART_BYTES},
    {0},
};

static void accept_point(const struct bench_point *point) {
    const uint64_t stride = point->values[KEY_STRIDE_BYTES];
    const uint64_t apart = point->values[KEY_APART_BYTES];
    if (point->method == COLUMN && (stride < LINE_BYTES || stride % WORD_BYTES || stride > bytes)) {
        refuse("stride_bytes=%" PRIu64 " is not a multiple of %d from %d to --bytes %" PRIu64
               "; give one that is",
               stride, WORD_BYTES, LINE_BYTES, bytes);
    }
    if (point->method == NEIGHBOURS && (apart % WORD_BYTES || apart >= PAGE_BYTES)) {
        refuse("apart_bytes=%" PRIu64 " is not a multiple of %d below %d; give one that is", apart,
               WORD_BYTES, PAGE_BYTES);
    }
}

static struct bench_buffers open_buffers(const struct bench_settings *settings) {
    pattern = pattern_make(settings->seed);
    source = buffer_allocate(bytes, settings->source_offset);
    destination = buffer_allocate(bytes + PAGE_BYTES, settings->destination_offset);
    start_ask_for_pages(source, bytes);
    pattern_fill(pattern, source, bytes / WORD_BYTES);
    start_look_at_pages(source, bytes);
    start_bind();
    return (struct bench_buffers){.source = source, .destination = destination};
}

/* The first word from the destination on that stands `apart` bytes behind the source, but for
 * whole pages. */
static uint64_t *apart_from_source(uint64_t apart) {
    const uintptr_t wanted = (uintptr_t)source + apart - (uintptr_t)destination;
    return destination + wanted % PAGE_BYTES / WORD_BYTES;
}

static struct bench_task prepare(const struct bench_point *point) {
    if (point->method == COLUMN) {
        const size_t stride = point->values[KEY_STRIDE_BYTES];
        current = (struct work){source, NULL, stride / WORD_BYTES, bytes / stride, &sum};
        return (struct bench_task){
            .timed = timed_column,
            .state = &current,
            .bytes_declared = current.count * WORD_BYTES,
            .buffers = {{source, bytes}},
        };
    }
#ifndef __x86_64__
    cannot_run("only of x86-64 is it known that it compares the lower bits of addresses first");
#endif
    uint64_t *to = apart_from_source(point->values[KEY_APART_BYTES]);
    const size_t words = bytes / WORD_BYTES;
    current = (struct work){source, to, 0, words - 1, NULL};
    pattern_poison(pattern, to, words);
    return (struct bench_task){
        .timed = timed_neighbours,
        .state = &current,
        .bytes_declared = 2 * current.count * WORD_BYTES, /* each word in, and out */
        .buffers = {{source, bytes}, {to, bytes}},
    };
}

static void check_column(struct bench_report *report) {
    uint64_t expected = 0;
    for (size_t i = 0; i < current.count; i++) {
        expected += source[i * current.stride];
    }
    if (sum != expected) {
        bench_fail(report, "the sum is not that of the words");
    }
    bench_observe_share(report, "work_done_fraction", sum == expected, 1);
    bench_observe_count(report, "lines_touched", current.count);
}

static void check_neighbours(struct bench_report *report) {
    const uint64_t *to = current.destination;
    size_t right = 0;
    for (size_t i = 1; i <= current.count; i++) {
        right += to[i] == source[i] + source[i - 1];
    }
    if (right < current.count) {
        bench_fail(report, "%zu of %zu sums are wrong", current.count - right, current.count);
    }
    bench_observe_share(report, "work_done_fraction", right, current.count);
    bench_observe_count(report, "destination_minus_source_mod_4096",
                        ((uintptr_t)to - (uintptr_t)source) % PAGE_BYTES);
}

static void check(const struct bench_point *point, struct bench_report *report) {
    const size_t words = bytes / WORD_BYTES;
    if (pattern_match(pattern, source, words, 0) < words) {
        bench_fail(report, "the source was written to");
        pattern_fill(pattern, source, words); /* the next point starts from a good one */
    }
    if (point->method == COLUMN) {
        check_column(report);
    } else {
        check_neighbours(report);
    }
    const uint64_t cpus = start_affinity();
    if (cpus > 0) {
        bench_observe_count(report, "affinity_cpus", cpus);
    } else {
        bench_observe_absent(report, "affinity_cpus");
    }
}

const struct bench_kernel bench_kernel = {
    .name = "places",
    .question = "What do addresses, pages and the binding to a CPU change?",
    .size = {.bytes = &bytes,
             .of = "the memory that is walked through",
             .multiple = PAGE_BYTES,
             .most = INT64_MAX / 2},
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_buffers,
    .prepare = prepare,
    .check = check,
    .close = start_unbind,
};
