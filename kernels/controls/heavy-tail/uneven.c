/* Arithmetic on a small buffer, as much in each call or more in some: which calls these are is
 * drawn, and the buffer tells afterwards that all of it was done. */
#define _GNU_SOURCE
#include <inttypes.h>

#include "bench.h"
#include "buffer.h"

enum { LINE_BYTES = 64, WORD_BYTES = 8 };
enum { KEY_PASSES, KEY_MORE };
enum { EVEN, SELDOM, OFTEN };
enum { SELDOM_OF = 100, SELDOM_TIMES = 100, OFTEN_OF = 5, OFTEN_CALLS = 3 };

/* A word becomes word * FACTOR + SUMMAND in each pass. */
static const uint64_t FACTOR = UINT64_C(6364136223846793005);
static const uint64_t SUMMAND = UINT64_C(1442695040888963407);

struct work {
    uint64_t *words;
    size_t count;
    uint64_t passes;
    uint64_t more; /* passes, in the calls that do more */
    uint64_t seed;
    uint64_t *calls;
    uint64_t *done; /* passes of all calls */
};

static uint64_t bytes;
static uint64_t seed;
static uint64_t *buffer;
static struct work current;
static uint64_t calls;
static uint64_t done;

/* Any bit of the input changes about half of the output's. */
static uint64_t mixed(uint64_t value) {
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return value ^ value >> 32;
}

static inline void go_through(const struct work *work, uint64_t passes) {
    for (uint64_t pass = 0; pass < passes; pass++) {
        for (size_t i = 0; i < work->count; i++) {
            work->words[i] = work->words[i] * FACTOR + SUMMAND;
        }
        bench_barrier(work->words);
    }
    *work->done += passes;
}

BENCH_TIMED static void timed_even(const void *state) {
    const struct work *work = state;
    go_through(work, work->passes);
}

BENCH_TIMED static void timed_seldom(const void *state) {
    const struct work *work = state;
    const uint64_t call = (*work->calls)++;
    const uint64_t drawn = mixed(work->seed + call / SELDOM_OF) % SELDOM_OF;
    go_through(work, call % SELDOM_OF == drawn ? SELDOM_TIMES * work->passes : work->passes);
}

BENCH_TIMED static void timed_often(const void *state) {
    const struct work *work = state;
    const uint64_t call = (*work->calls)++;
    const uint64_t drawn = mixed(work->seed + call / OFTEN_OF);
    const bool is_more = (call + drawn) % OFTEN_OF < OFTEN_CALLS;
    go_through(work, is_more ? work->passes + work->more : work->passes);
}

static bench_timed *const timed[] = {
    [EVEN] = timed_even,
    [SELDOM] = timed_seldom,
    [OFTEN] = timed_often,
};

static const struct bench_key keys[] = {
    [KEY_PASSES] = {.name = "passes"},
    [KEY_MORE] = {.name = "more_percent"},
    {0},
};

static const struct bench_method methods[] = {
    [EVEN] = {.name = "even", .keys = 1 << KEY_PASSES},
    [SELDOM] = {.name = "seldom", .keys = 1 << KEY_PASSES},
    [OFTEN] = {.name = "often", .keys = 1 << KEY_PASSES | 1 << KEY_MORE},
    {0},
};

static void accept_point(const struct bench_point *point) {
    const uint64_t passes = point->values[KEY_PASSES];
    if (passes == 0 || passes > UINT32_MAX || point->values[KEY_MORE] > UINT32_MAX) {
        refuse("passes=%" PRIu64 " or more_percent=%" PRIu64 " is none that can be done; give less",
               passes, point->values[KEY_MORE]);
    }
}

static struct bench_buffers open_buffer(const struct bench_settings *settings) {
    seed = settings->seed;
    buffer = buffer_allocate(bytes, settings->source_offset);
    /* A destination that is the source: any offset asked for is the source's. */
    return (struct bench_buffers){.source = buffer, .destination = buffer};
}

static struct bench_task prepare(const struct bench_point *point) {
    for (size_t i = 0; i < bytes / WORD_BYTES; i++) {
        buffer[i] = seed + i;
    }
    calls = 0;
    done = 0;
    current = (struct work){
        .words = buffer,
        .count = bytes / WORD_BYTES,
        .passes = point->values[KEY_PASSES],
        .more = point->values[KEY_PASSES] * point->values[KEY_MORE] / 100,
        .seed = seed,
        .calls = &calls,
        .done = &done,
    };
    return (struct bench_task){
        .timed = timed[point->method],
        .state = &current,
        .bytes_declared = bytes,
        .buffers = {{buffer, bytes}},
    };
}

/* What `passes` of them make of a word, as one multiplication and one addition: by doubling. */
static uint64_t expected(uint64_t word, uint64_t passes) {
    uint64_t factor = FACTOR;
    uint64_t summand = SUMMAND;
    for (; passes > 0; passes >>= 1) {
        if (passes & 1) {
            word = word * factor + summand;
        }
        summand += summand * factor;
        factor *= factor;
    }
    return word;
}

static void check(const struct bench_point *point, struct bench_report *report) {
    (void)point;
    const size_t count = bytes / WORD_BYTES;
    size_t good = 0;
    while (good < count && buffer[good] == expected(seed + good, done)) {
        good++;
    }
    if (good < count) {
        bench_fail(report, "word %zu is not what %" PRIu64 " passes make of it", good, done);
    }
    bench_observe_share(report, "work_done_fraction", good, count);
}

const struct bench_kernel bench_kernel = {
    .name = "uneven",
    .question = "What do samples look like when some calls do more than others?",
    .size = {.bytes = &bytes, .of = "the buffer", .multiple = LINE_BYTES, .most = INT64_MAX},
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_buffer,
    .prepare = prepare,
    .check = check,
};
