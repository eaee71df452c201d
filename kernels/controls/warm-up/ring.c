/* Writes the pieces of a ring in turn, one in each call. The first time round, the pages of a new
 * ring have to be found; so the first calls are slow and all later ones are not. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"

enum { PAGE_BYTES = 4096, WORD_BYTES = 8, PIECES_MOST = 64 };
enum { KEY_PIECES };
enum { UNTOUCHED, TOUCHED };

struct ring {
    uint64_t *words;
    size_t piece_words;
    uint64_t pieces;
    uint64_t seed;
    uint64_t *calls;
};

static uint64_t bytes; /* of a piece */
static uint64_t seed;
static uint64_t *buffer;
static uint64_t calls;
static struct ring current;

static size_t room(void) {
    return (size_t)(bytes * PIECES_MOST);
}

static inline void write_next(const struct ring *ring) {
    const uint64_t call = (*ring->calls)++;
    uint64_t *piece = ring->words + call % ring->pieces * ring->piece_words;
    for (size_t i = 0; i < ring->piece_words; i++) {
        piece[i] = ring->seed + call;
    }
    bench_barrier(piece);
}

/* The same twice, so that the two have names of their own. */
BENCH_TIMED static void timed_untouched(const void *state) {
    write_next(state);
}

BENCH_TIMED static void timed_touched(const void *state) {
    write_next(state);
}

static bench_timed *const timed[] = {
    [UNTOUCHED] = timed_untouched,
    [TOUCHED] = timed_touched,
};

static const struct bench_key keys[] = {
    [KEY_PIECES] = {.name = "pieces"},
    {0},
};

static const struct bench_method methods[] = {
    [UNTOUCHED] = {.name = "untouched", .keys = 1 << KEY_PIECES},
    [TOUCHED] = {.name = "touched", .keys = 1 << KEY_PIECES},
    {0},
};

static void accept_point(const struct bench_point *point) {
    const uint64_t pieces = point->values[KEY_PIECES];
    if (pieces == 0 || pieces > PIECES_MOST) {
        refuse("pieces=%" PRIu64 " is not from 1 to %d; give one that is", pieces, PIECES_MOST);
    }
}

/* Small pages, whatever the system prefers: with one huge page only the first call would be slow.
 * They begin where the system puts them, so that no offset decides how many a piece has. */
static struct bench_buffers open_buffer(const struct bench_settings *settings) {
    seed = settings->seed;
    void *pages = mmap(NULL, room(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        cannot_run("a ring of %zu bytes cannot be allocated (%s); ask for smaller pieces", room(),
                   strerror(errno));
    }
    (void)madvise(pages, room(), MADV_NOHUGEPAGE); /* a system without any has none to leave */
    buffer = pages;
    return (struct bench_buffers){.source = buffer, .destination = buffer, .fixed = true};
}

static struct bench_task prepare(const struct bench_point *point) {
    if (madvise(buffer, room(), MADV_DONTNEED) != 0) {
        cannot_run("pages cannot be given back here (%s)", strerror(errno));
    }
    calls = 0;
    current = (struct ring){
        .words = buffer,
        .piece_words = bytes / WORD_BYTES,
        .pieces = point->values[KEY_PIECES],
        .seed = seed,
        .calls = &calls,
    };
    if (point->method == TOUCHED) {
        memset(buffer, 0xff, bytes * current.pieces);
    }
    return (struct bench_task){
        .timed = timed[point->method],
        .state = &current,
        .bytes_declared = bytes,
        .buffers = {{buffer, bytes * current.pieces}},
    };
}

static void check(const struct bench_point *point, struct bench_report *report) {
    (void)point;
    const uint64_t written = calls < current.pieces ? calls : current.pieces;
    uint64_t good = 0;
    for (uint64_t call = calls - written; call < calls; call++) {
        const uint64_t *piece = buffer + call % current.pieces * current.piece_words;
        size_t i = 0;
        while (i < current.piece_words && piece[i] == seed + call) {
            i++;
        }
        if (i < current.piece_words) {
            bench_fail(report, "piece %" PRIu64 " is not what call %" PRIu64 " wrote",
                       call % current.pieces, call);
            return;
        }
        good++;
    }
    bench_observe_share(report, "work_done_fraction", good, written);
}

const struct bench_kernel bench_kernel = {
    .name = "ring",
    .question = "How fast is a ring written that is new, or was written before?",
    .size = {.bytes = &bytes,
             .of = "a piece",
             .multiple = PAGE_BYTES,
             .most = INT64_MAX / PIECES_MOST},
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_buffer,
    .prepare = prepare,
    .check = check,
};
