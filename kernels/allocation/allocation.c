/* What it costs to get memory from the system and to give it back: the two calls timed apart, each
 * of them a sample, with the pages touched or not, small or huge; or in turn, as often as the clock
 * needs. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"
#include "measure.h"
#include "ways.h"

enum { KEY_TOUCH, KEY_HUGE };
enum { GET, GIVE, PAIR };
enum { OPTION_WAY = 0x100, SIZE_STEP = 4096 };

static const struct way *way;
static uint64_t bytes;
static uint64_t page_bytes;
static const unsigned char *heap_end; /* where it has to be when all was given back */

static struct piece piece;
static struct piece *const where = &piece; /* the state that timed functions get */
static bool is_held;
static struct bench_range held[BENCH_RANGES_MAX]; /* after the samples */
static uint64_t faults;                           /* in the samples alone */
static uint64_t pieces_wrong;
static bool has_no_huge;

static const struct bench_key keys[] = {
    [KEY_TOUCH] = {.name = "touch"},
    [KEY_HUGE] = {.name = "huge"},
    {0},
};

static const struct bench_method methods[] = {
    [GET] = {.name = "get", .keys = 1 << KEY_TOUCH | 1 << KEY_HUGE},
    [GIVE] = {.name = "give", .keys = 1 << KEY_TOUCH | 1 << KEY_HUGE},
    [PAIR] = {.name = "pair", .keys = 1 << KEY_TOUCH | 1 << KEY_HUGE},
    {0},
};

static void accept_point(const struct bench_point *point) {
    for (size_t key = KEY_TOUCH; key <= KEY_HUGE; key++) {
        if (point->values[key] > 1) {
            refuse("%s=%" PRIu64 " is neither 0 nor 1; give one of them", keys[key].name,
                   point->values[key]);
        }
    }
    if (point->values[KEY_HUGE] && !way->takes_huge) {
        refuse("huge=1 with --way %s: its pages may be there before anybody could ask for huge "
               "ones; give huge=0, or --way mmap or sbrk",
               way->name);
    }
}

static struct bench_buffers open_way(const struct bench_settings *settings) {
    (void)settings;
    page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    ways_open(way, page_bytes);
    heap_end = ways_break();
    return (struct bench_buffers){.fixed = true};
}

static uint64_t pages(void) {
    return (bytes + page_bytes - 1) / page_bytes;
}

static void must_have_worked(const char *what) {
    if (piece.failed) {
        cannot_run("%" PRIu64 " bytes could not be %s by %s (%s); ask for fewer, or raise the "
                   "limits of memory and address space",
                   bytes, what, way->name, strerror(errno));
    }
}

static void get(void) {
    way->get(&where);
    must_have_worked("had");
    is_held = true;
}

static void give(void) {
    if (is_held) {
        way->give(&where);
        must_have_worked("given back");
        is_held = false;
    }
}

static uint64_t faults_now(void) {
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_minflt;
}

/* Each page that was to be touched has its mark; the others are only known after a look. */
static bool is_right(void) {
    if (!piece.touches) {
        return true;
    }
    for (uint64_t at = 0; at < bytes; at += page_bytes) {
        if (piece.first[at] != WAY_MARK) {
            return false;
        }
    }
    return true;
}

static void time_one(struct sample *sample, bench_timed *timed) {
    sample->cpu = sched_getcpu();
    const uint64_t before = faults_now();
    sample->start_ns = clock_now();
    timed(&where);
    sample->time_ns = clock_now() - sample->start_ns;
    faults += faults_now() - before;
}

/* What the timed call needs before it, or leaves behind, is done and undone between the clock's
 * readings. */
static void get_each(const void *state, struct sample *samples, size_t count) {
    (void)state;
    faults = 0;
    for (size_t i = 0; i < count; i++) {
        give();
        time_one(&samples[i], way->get);
        must_have_worked("had");
        is_held = true;
        pieces_wrong += !is_right();
    }
    held[0] = (struct bench_range){piece.first, bytes};
}

static void give_each(const void *state, struct sample *samples, size_t count) {
    (void)state;
    faults = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_held) {
            get();
        }
        pieces_wrong += !is_right();
        time_one(&samples[i], way->give);
        must_have_worked("given back");
        is_held = false;
    }
    get(); /* so that the pages of one can be looked at */
    held[0] = (struct bench_range){piece.first, bytes};
}

static void look_at_pair(const void *state) {
    (void)state;
    must_have_worked("had and given back");
}

/* Whether this system has huge pages that can be asked for. */
static bool can_advise(void) {
    void *page = mmap(NULL, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool can = page != MAP_FAILED && madvise(page, page_bytes, MADV_HUGEPAGE) == 0;
    if (page != MAP_FAILED) {
        munmap(page, page_bytes);
    }
    return can;
}

static struct bench_task prepare(const struct bench_point *point) {
    if (point->values[KEY_HUGE] && !can_advise()) {
        cannot_run("this system does not take a request for huge pages (%s); give huge=0",
                   strerror(errno));
    }
    piece = (struct piece){
        .bytes = bytes,
        .page_bytes = page_bytes,
        .touches = point->values[KEY_TOUCH],
        .advises = point->values[KEY_HUGE],
    };
    pieces_wrong = 0;
    errno = 0;
    /* The system decides; older systems take no advice. */
    has_no_huge = prctl(PR_SET_THP_DISABLE, !piece.advises, 0, 0, 0) == 0 && !piece.advises;
    struct bench_task task = {.state = &where, .brought = held};
    switch (point->method) {
    case GET:
        task.series = get_each;
        break;
    case GIVE:
        task.series = give_each;
        break;
    default:
        task.timed = way->pair;
        task.between = look_at_pair;
    }
    return task;
}

/* The check gets one in the same way as the samples got theirs. */
static void hold_one(void) {
    if (!is_held) {
        get();
    }
}

/* That it can be used up to its last byte; fresh memory holds zeros, or the marks of our own. */
static void look_at_piece(struct bench_report *report) {
    const uint64_t ends[] = {0, bytes - 1};
    for (size_t i = 0; i < 2; i++) {
        volatile unsigned char *byte = piece.first + ends[i];
        const bool is_marked = piece.touches && ends[i] % page_bytes == 0;
        if (way->is_fresh && *byte != (is_marked ? WAY_MARK : 0)) {
            bench_fail(report, "byte %" PRIu64 " of fresh memory is %u instead of %u", ends[i],
                       *byte, is_marked ? WAY_MARK : 0);
        }
        *byte = (unsigned char)~WAY_MARK;
    }
}

static void look_at_rest(struct bench_report *report) {
    unsigned char resident = 0;
    if ((way == &ways[WAY_MMAP] || way == &ways[WAY_POPULATE]) &&
        (mincore(piece.first, page_bytes, &resident) == 0 || errno != ENOMEM)) {
        bench_fail(report, "memory that was given back is still there");
    }
    if (way == &ways[WAY_SBRK] && ways_break() != heap_end) {
        bench_fail(
            report,
            "the heap ends %td bytes from where it began: another part of the program moved it",
            ways_break() - heap_end);
    }
}

/* Of a pair nothing is between the samples that would have to be told apart. */
static void observe_faults(const struct bench_point *point, struct bench_report *report) {
    if (point->method == PAIR) {
        return;
    }
    const double per_call = (double)faults / (double)point->samples;
    bench_observe_events(report, "timed_minor_faults", faults);
    bench_observe_real(report, "minor_faults_per_call", per_call);
    bench_observe_real(report, "minor_faults_per_page", per_call / (double)pages());
}

static void check(const struct bench_point *point, struct bench_report *report) {
    hold_one();
    look_at_piece(report);
    give();
    look_at_rest(report);
    held[0] = (struct bench_range){0};
    if (pieces_wrong > 0) {
        bench_fail(report, "%" PRIu64 " pieces of memory lack the marks that were written",
                   pieces_wrong);
    }
    const bool writes = piece.touches && point->method != GIVE;
    bench_observe_count(report, "pages_written", writes ? pages() : 0);
    observe_faults(point, report);
    bench_observe_text(report, "huge_pages_asked",
                       piece.advises ? "advised"
                       : has_no_huge ? "forbidden"
                                     : "not forbidden");
}

static const struct argp_option options[] = {
    {.name = "way",
     .key = OPTION_WAY,
     .arg = "mmap|populate|sbrk|malloc",
     .doc = "How a program gets memory from the system"},
    {0},
};

static const struct way *way_of(const char *name) {
    for (const struct way *one = ways; one->name; one++) {
        if (strcmp(name, one->name) == 0) {
            return one;
        }
    }
    refuse("--way '%s' is none of mmap, populate, sbrk and malloc; give one of them", name);
}

static error_t parse_option(int key, char *text, struct argp_state *state) {
    (void)state;
    switch (key) {
    case OPTION_WAY:
        way = way_of(text);
        return 0;
    case ARGP_KEY_END:
        if (!way) {
            refuse("--way is missing; give mmap, populate, sbrk or malloc");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {.options = options, .parser = parse_option};

const struct bench_kernel bench_kernel = {
    .name = "allocation",
    .question = "What does it cost to get memory from the system and to give it back?",
    .size = {.bytes = &bytes, .of = "what is had", .multiple = SIZE_STEP, .most = INT64_MAX / 2},
    .argp = &argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_way,
    .prepare = prepare,
    .check = check,
};
