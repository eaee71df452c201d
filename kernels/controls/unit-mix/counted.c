/* One copy, and several ways in which people count its bytes. */

#include "bench.h"
#include "buffer.h"
#include "pattern.h"

enum { LINE_BYTES = 64, WORD_BYTES = 8 };
enum { MEBIBYTE = 1 << 20, MEGABYTE = 1000000 };
enum { KEY_COUNTED };
enum { ONCE, TWICE, THRICE, MEGABYTES, BITS };

struct copy {
    uint64_t *to;
    const uint64_t *from;
    size_t words;
};

static uint64_t bytes;
static struct pattern pattern;
static uint64_t *source;
static uint64_t *destination;
static struct copy current;

/* Without restrict, so that it remains a loop. */
BENCH_TIMED static void timed_copy(const void *state) {
    const struct copy *copy = state;
    uint64_t *to = copy->to;
    const uint64_t *from = copy->from;
    const size_t words = copy->words;
    for (size_t i = 0; i < words; i++) {
        to[i] = from[i];
    }
}

static const char *const counted[] = {
    [ONCE] = "once",           /* as mbw does: what is copied */
    [TWICE] = "twice",         /* as STREAM does: what is read and what is written */
    [THRICE] = "thrice",       /* and what is read because it is to be written */
    [MEGABYTES] = "megabytes", /* once, each MiB taken for a MB */
    [BITS] = "bits",           /* once, taken for bytes */
    NULL,
};

static const struct bench_key keys[] = {
    [KEY_COUNTED] = {.name = "counted", .words = counted},
    {0},
};

static const struct bench_method methods[] = {
    {.name = "copy", .keys = 1 << KEY_COUNTED},
    {0},
};

static uint64_t count(uint64_t way) {
    switch (way) {
    case TWICE:
        return 2 * bytes;
    case THRICE:
        return 3 * bytes;
    case MEGABYTES:
        return (uint64_t)((double)bytes / MEBIBYTE * MEGABYTE);
    case BITS:
        return 8 * bytes;
    default:
        return bytes;
    }
}

static struct bench_buffers open_buffers(const struct bench_settings *settings) {
    pattern = pattern_make(settings->seed);
    source = buffer_allocate(bytes, settings->source_offset);
    destination = buffer_allocate(bytes, settings->destination_offset);
    pattern_fill(pattern, source, bytes / WORD_BYTES);
    return (struct bench_buffers){.source = source, .destination = destination};
}

static struct bench_task prepare(const struct bench_point *point) {
    pattern_poison(pattern, destination, bytes / WORD_BYTES);
    current = (struct copy){.to = destination, .from = source, .words = bytes / WORD_BYTES};
    return (struct bench_task){
        .timed = timed_copy,
        .state = &current,
        .bytes_declared = count(point->values[KEY_COUNTED]),
        .buffers = {{source, bytes}, {destination, bytes}},
    };
}

static void check(const struct bench_point *point, struct bench_report *report) {
    (void)point;
    const size_t words = bytes / WORD_BYTES;
    const size_t good = pattern_match(pattern, destination, words, 0);
    if (good < words) {
        bench_fail(report, "the destination is not the source from byte %zu on", good * WORD_BYTES);
    }
    bench_observe_share(report, "work_done_fraction", good, words);
}

const struct bench_kernel bench_kernel = {
    .name = "counted",
    .question = "How fast does one and the same copy look when its bytes are counted differently?",
    .size = {.bytes = &bytes, .of = "each buffer", .multiple = LINE_BYTES, .most = INT64_MAX / 8},
    .keys = keys,
    .methods = methods,
    .open = open_buffers,
    .prepare = prepare,
    .check = check,
};
