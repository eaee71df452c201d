/* A copy and a sum over memory whose pages were written before, were never written, or are new
 * each time. What is copied and summed is right in every case; only where it comes from differs. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "pattern.h"

enum { LINE_BYTES = 64, WORD_BYTES = 8, OFFSET_ROOM = 4096 };
enum { KEY_SOURCE_PAGES, KEY_DESTINATION_PAGES };
enum { WRITTEN, UNWRITTEN };
enum { TOUCHED, UNTOUCHED, RENEWED };
enum { COPY, SUM };

struct pages {
    unsigned char *first;
    size_t room;
    uint64_t *words; /* from the offset asked for on */
};

struct work {
    const uint64_t *source;
    uint64_t *destination;
    size_t bytes;
    uint64_t *sum;
    struct pages renewed; /* without room: none */
};

static uint64_t bytes;
static struct pattern pattern;
static struct pages source;
static struct pages destination;
static struct work current;
static uint64_t sum;
static uint64_t expected_sum;

/* Giving pages back is part of what is timed, as it is in a program that takes a fresh buffer for
 * each repetition. */
BENCH_TIMED static void timed_copy(const void *state) {
    const struct work *work = state;
    if (work->renewed.room > 0) {
        madvise(work->renewed.first, work->renewed.room, MADV_DONTNEED);
    }
    memcpy(work->destination, work->source, work->bytes);
}

BENCH_TIMED static void timed_sum(const void *state) {
    const struct work *work = state;
    uint64_t total = 0;
    for (size_t i = 0; i < work->bytes / WORD_BYTES; i++) {
        total += work->source[i];
    }
    *work->sum = total;
}

static const char *const source_pages[] = {
    [WRITTEN] = "written",
    [UNWRITTEN] = "unwritten",
    NULL,
};

static const char *const destination_pages[] = {
    [TOUCHED] = "touched",
    [UNTOUCHED] = "untouched",
    [RENEWED] = "renewed",
    NULL,
};

static const struct bench_key keys[] = {
    [KEY_SOURCE_PAGES] = {.name = "source_pages", .words = source_pages},
    [KEY_DESTINATION_PAGES] = {.name = "destination_pages", .words = destination_pages},
    {0},
};

static const struct bench_method methods[] = {
    [COPY] = {.name = "copy", .keys = 1 << KEY_SOURCE_PAGES | 1 << KEY_DESTINATION_PAGES},
    [SUM] = {.name = "sum", .keys = 1 << KEY_SOURCE_PAGES},
    {0},
};

static bool is_unwritten(const struct bench_point *point) {
    return point->values[KEY_SOURCE_PAGES] == UNWRITTEN;
}

/* Zeros copied to fresh zeros would look right without having been copied. */
static void accept_point(const struct bench_point *point) {
    if (point->method == COPY && is_unwritten(point) &&
        point->values[KEY_DESTINATION_PAGES] != TOUCHED) {
        refuse("what an unwritten source gives to a fresh destination cannot be checked; give "
               "destination_pages=touched");
    }
}

/* Small pages, whatever the system prefers: one fault is one page of the same size everywhere, and
 * no neighbour shares the mapping. */
static struct pages take(uint64_t offset) {
    struct pages pages = {.room = bytes + OFFSET_ROOM};
    void *first =
        mmap(NULL, pages.room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (first == MAP_FAILED) {
        cannot_run("a buffer of %" PRIu64 " bytes cannot be allocated (%s); ask for a smaller one",
                   bytes, strerror(errno));
    }
    (void)madvise(first, pages.room, MADV_NOHUGEPAGE); /* a system without any has none to leave */
    pages.first = first;
    pages.words = (uint64_t *)first + offset / WORD_BYTES;
    return pages;
}

static void give_back(const struct pages *pages) {
    if (madvise(pages->first, pages->room, MADV_DONTNEED) != 0) {
        cannot_run("pages cannot be given back here (%s)", strerror(errno));
    }
}

static struct bench_buffers open_buffers(const struct bench_settings *settings) {
    pattern = pattern_make(settings->seed);
    source = take(settings->source_offset);
    destination = take(settings->destination_offset);
    return (struct bench_buffers){.source = source.words, .destination = destination.words};
}

static uint64_t sum_of(const uint64_t *words, size_t count) {
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += words[i];
    }
    return total;
}

static struct bench_task prepare(const struct bench_point *point) {
    const size_t words = bytes / WORD_BYTES;
    const bool copies = point->method == COPY;
    const uint64_t fate = copies ? point->values[KEY_DESTINATION_PAGES] : UNTOUCHED;
    give_back(&source);
    give_back(&destination);
    expected_sum = 0;
    if (!is_unwritten(point)) {
        pattern_fill(pattern, source.words, words);
        expected_sum = sum_of(source.words, words);
    }
    if (fate == TOUCHED) {
        pattern_poison(pattern, destination.words, words);
    }
    sum = ~expected_sum;
    current = (struct work){
        .source = source.words,
        .destination = destination.words,
        .bytes = bytes,
        .sum = &sum,
        .renewed = fate == RENEWED ? destination : (struct pages){0},
    };
    return (struct bench_task){
        .timed = copies ? timed_copy : timed_sum,
        .state = &current,
        .bytes_declared = bytes,
        .buffers = {{source.words, bytes}, {destination.words, copies ? bytes : 0}},
    };
}

static size_t zeros(const uint64_t *words, size_t count) {
    size_t i = 0;
    while (i < count && words[i] == 0) {
        i++;
    }
    return i;
}

/* How many words from the first on are as the source was made. */
static size_t right_words(const struct bench_point *point, const uint64_t *words) {
    const size_t count = bytes / WORD_BYTES;
    return is_unwritten(point) ? zeros(words, count) : pattern_match(pattern, words, count, 0);
}

static void check(const struct bench_point *point, struct bench_report *report) {
    const size_t words = bytes / WORD_BYTES;
    if (right_words(point, source.words) < words) {
        bench_fail(report, "the source was written to");
    }
    if (point->method == SUM) {
        if (sum != expected_sum) {
            bench_fail(report, "the sum over the source is wrong");
        }
        bench_observe_count(report, "result_is_right", sum == expected_sum);
        return;
    }
    const size_t right = right_words(point, destination.words);
    if (right < words) {
        bench_fail(report, "the destination is not the source from byte %zu on",
                   right * WORD_BYTES);
    }
    bench_observe_share(report, "work_done_fraction", right, words);
}

const struct bench_kernel bench_kernel = {
    .name = "pages",
    .question = "How fast is memory copied and read whose pages were never written, or are new?",
    .size = {.bytes = &bytes, .of = "each buffer", .multiple = LINE_BYTES, .most = INT64_MAX / 2},
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_buffers,
    .prepare = prepare,
    .check = check,
};
