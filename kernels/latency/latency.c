/* How long a load takes whose address is the result of the load before it: a walk along a random
 * cycle through a working set, one pointer in each cache line. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "ring.h"

enum { KEY_BYTES };
enum { CHASE };
enum { OPTION_PAGES = 0x100 };
enum { LOADS = 1024, HUGE_BYTES = 2 << 20 };

enum pages { PAGES_NONE, PAGES_SMALL, PAGES_HUGE };

/* What the timed function sees. */
struct chase {
    const struct line *at;
};

static enum pages pages;
static uint64_t most_bytes; /* of all points */
static uint64_t line_bytes; /* of this machine, RING_LINE_BYTES or a multiple */
static uint64_t seed;
static uint32_t *order;
static struct ring ring;
static struct chase chase;
static struct chase *const walker = &chase; /* the state that the timed function gets */
static uint64_t first_rank;

static const struct bench_key keys[] = {
    [KEY_BYTES] = {.name = "bytes"},
    {0},
};

static const struct bench_method methods[] = {
    [CHASE] = {.name = "chase", .keys = 1 << KEY_BYTES},
    {0},
};

BENCH_TIMED static void timed_chase(const void *state) {
    struct chase *own = *(struct chase *const *)state;
    const struct line *at = own->at;
    for (unsigned left = LOADS; left > 0; left--) {
        at = at->next;
    }
    own->at = at; /* where the check looks for it */
}

static uint64_t find_line_bytes(void) {
    const long said = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
    return said > RING_LINE_BYTES && said % RING_LINE_BYTES == 0 ? (uint64_t)said : RING_LINE_BYTES;
}

static void accept_point(const struct bench_point *point) {
    line_bytes = find_line_bytes();
    const uint64_t bytes = point->values[KEY_BYTES];
    if (bytes == 0 || bytes % line_bytes != 0) {
        refuse("bytes=%" PRIu64 " is not a multiple of %" PRIu64 " above 0, the bytes of a cache "
               "line; give whole lines",
               bytes, line_bytes);
    }
    if (bytes / line_bytes > UINT32_MAX) {
        refuse("bytes=%" PRIu64 " has more than %" PRIu32 " cache lines; give fewer", bytes,
               UINT32_MAX);
    }
    most_bytes = bytes > most_bytes ? bytes : most_bytes;
}

/* Begins where a huge page can; not yet touched. */
static void *map(uint64_t bytes) {
    void *room = MAP_FAILED;
    size_t all;
    errno = ENOMEM;
    if (!__builtin_add_overflow(bytes, HUGE_BYTES, &all)) {
        room = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (room == MAP_FAILED) {
        cannot_run("a working set of %" PRIu64
                   " bytes cannot be allocated (%s); ask for a smaller one",
                   most_bytes, strerror(errno));
    }
    const uintptr_t past = (uintptr_t)room % HUGE_BYTES;
    return (unsigned char *)room + (past ? HUGE_BYTES - past : 0);
}

static struct bench_buffers open_ring(const struct bench_settings *settings) {
    seed = settings->seed;
    const uint64_t lines = most_bytes / line_bytes;
    ring = (struct ring){.first = map(most_bytes), .stride = line_bytes / RING_LINE_BYTES};
    order = map(lines * sizeof *order);
    /* Shuffled as fast as can be, wherever the lines lie. */
    (void)madvise(order, lines * sizeof *order, MADV_HUGEPAGE);
    const int advice = pages == PAGES_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
    if (madvise(ring.first, most_bytes, advice) != 0 && pages == PAGES_HUGE) {
        cannot_run("this system does not take a request for huge pages (%s); give --pages small",
                   strerror(errno));
    }
    memset(ring.first, 0, most_bytes); /* in order: faults of a random walk take longer */
    return (struct bench_buffers){.fixed = true};
}

static struct bench_task prepare(const struct bench_point *point) {
    const uint64_t bytes = point->values[KEY_BYTES];
    ring.lines = bytes / line_bytes;
    chase.at = ring_make(&ring, order, ++seed);
    first_rank = chase.at->rank;
    return (struct bench_task){
        .timed = timed_chase,
        .state = &walker,
        .buffers = {{ring.first, bytes}},
    };
}

/* The walk ended where so many steps lead: none was left out. */
static void look_at_end(uint64_t loads, struct bench_report *report) {
    const uint64_t rank = (first_rank + loads % ring.lines) % ring.lines;
    if (chase.at->rank != rank) {
        bench_fail(report,
                   "%" PRIu64 " loads ended at line %" PRIu64 " of the cycle instead of %" PRIu64,
                   loads, chase.at->rank, rank);
    }
}

static void check(const struct bench_point *point, struct bench_report *report) {
    const uint64_t loads = (point->warm_up + point->samples) * point->loops * LOADS;
    const uint64_t broken = ring_broken(&ring);
    if (broken < ring.lines) {
        bench_fail(report,
                   "line %" PRIu64 " of %" PRIu64 " leads to no next one: the pointers are not one "
                   "cycle through all lines",
                   broken, ring.lines);
    } else {
        look_at_end(loads, report);
        bench_observe_count(report, "lines_in_cycle", ring.lines);
    }
    bench_observe_count(report, "dependent_loads_per_call", LOADS);
    bench_observe_real(report, "turns", (double)loads / (double)ring.lines);
    bench_observe_count(report, "line_bytes", line_bytes);
    bench_observe_text(report, "huge_pages_asked", pages == PAGES_HUGE ? "advised" : "forbidden");
}

static const struct argp_option options[] = {
    {.name = "pages",
     .key = OPTION_PAGES,
     .arg = "small|huge",
     .doc = "Pages that the working set is asked to lie in"},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state) {
    (void)state;
    switch (key) {
    case OPTION_PAGES:
        pages = strcmp(text, "small") == 0  ? PAGES_SMALL
                : strcmp(text, "huge") == 0 ? PAGES_HUGE
                                            : PAGES_NONE;
        if (pages == PAGES_NONE) {
            refuse("--pages '%s' is neither small nor huge; give one of them", text);
        }
        return 0;
    case ARGP_KEY_END:
        if (pages == PAGES_NONE) {
            refuse("--pages is missing; give small or huge");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {.options = options, .parser = parse_option};

const struct bench_kernel bench_kernel = {
    .name = "latency",
    .question = "How long does a load take that waits for the one before it, by working set?",
    .argp = &argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_ring,
    .prepare = prepare,
    .check = check,
};
