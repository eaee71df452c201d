/* Threads that count, each in a word of its own, with the words as far apart as the point says. The
 * first thread is timed, and the others count all the while. No word is shared, but a line may be.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "cpus.h"

enum { WORD_BYTES = 8, APART_MOST = 4096, COUNTS = 1000, THREADS_MOST = 16, LINE_BYTES = 64 };
enum { LOOKS_MOST = 1 << 24 };
enum { KEY_APART };
enum { OPTION_THREADS = 0x100 };

struct neighbour {
    _Alignas(256) pthread_t thread;
    atomic_uint_fast64_t *word;
    int cpu;
};

static size_t threads = 1;
static int cpus[THREADS_MOST];
static size_t line_bytes;
static unsigned char *memory;
static struct neighbour neighbours[THREADS_MOST];
static _Alignas(256) atomic_bool ends;
static _Alignas(256) atomic_size_t started;

static atomic_uint_fast64_t *word_of(size_t thread, uint64_t apart_bytes) {
    return (atomic_uint_fast64_t *)(void *)(memory + thread * apart_bytes);
}

BENCH_TIMED static void timed_count(const void *state) {
    atomic_uint_fast64_t *word = *(atomic_uint_fast64_t *const *)state;
    for (size_t i = 0; i < COUNTS; i++) {
        atomic_fetch_add_explicit(word, 1, memory_order_relaxed);
    }
}

static void *count(void *place) {
    struct neighbour *own = place;
    cpus_pin(own->cpu);
    atomic_fetch_add(&started, 1);
    while (!atomic_load_explicit(&ends, memory_order_relaxed)) {
        timed_count(&own->word);
    }
    return NULL;
}

/* Between samples: the next one begins while the other threads run. Who has lost its CPU to another
 * program would leave the line alone. */
static void await_others(const void *state) {
    (void)state;
    for (size_t thread = 1; thread < threads; thread++) {
        atomic_uint_fast64_t *word = neighbours[thread].word;
        const uint64_t before = atomic_load(word);
        for (size_t looks = 0; looks < LOOKS_MOST && atomic_load(word) == before; looks++) {
        }
    }
}

static void accept_point(const struct bench_point *point) {
    const uint64_t apart = point->values[KEY_APART];
    if (apart < WORD_BYTES || apart % WORD_BYTES || apart > APART_MOST) {
        refuse("apart_bytes=%" PRIu64 " is not a multiple of %d from %d to %d; give one that is",
               apart, WORD_BYTES, WORD_BYTES, APART_MOST);
    }
}

static struct bench_buffers open_words(const struct bench_settings *settings) {
    const long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
    (void)settings;
    if (cpus_find(cpus, threads) < threads) {
        cannot_run("this process may use fewer than %zu CPUs, and each thread needs one; give it "
                   "more",
                   threads);
    }
    line_bytes = line > 0 ? (size_t)line : LINE_BYTES;
    memory = aligned_alloc(APART_MOST, THREADS_MOST * APART_MOST);
    if (!memory) {
        cannot_run("there is no memory for words; free some");
    }
    cpus_pin(cpus[0]);
    return (struct bench_buffers){0};
}

static struct bench_task prepare(const struct bench_point *point) {
    static atomic_uint_fast64_t *own;
    const uint64_t apart = point->values[KEY_APART];
    memset(memory, 0, THREADS_MOST * APART_MOST);
    own = word_of(0, apart);
    atomic_store(&ends, false);
    atomic_store(&started, 1);
    for (size_t thread = 1; thread < threads; thread++) {
        struct neighbour *neighbour = &neighbours[thread];
        neighbour->word = word_of(thread, apart);
        neighbour->cpu = cpus[thread];
        if (pthread_create(&neighbour->thread, NULL, count, neighbour) != 0) {
            cannot_run("thread %zu cannot be started; allow more of them", thread);
        }
    }
    while (atomic_load(&started) < threads) {
        usleep(100);
    }
    await_others(NULL);
    return (struct bench_task){
        .timed = timed_count,
        .state = &own,
        .bytes_declared = COUNTS * WORD_BYTES,
        .between = await_others,
    };
}

static void check(const struct bench_point *point, struct bench_report *report) {
    const uint64_t apart = point->values[KEY_APART];
    const uint64_t counted = atomic_load(word_of(0, apart));
    const uint64_t least = (point->samples + point->warm_up) * point->loops * COUNTS;
    uint64_t of_others = 0;
    size_t on_line = 0;
    atomic_store(&ends, true);
    for (size_t thread = 0; thread < threads; thread++) {
        if (thread > 0) {
            pthread_join(neighbours[thread].thread, NULL);
            of_others += atomic_load(neighbours[thread].word);
        }
        on_line += thread * apart / line_bytes == 0;
    }
    if (counted < least || counted % COUNTS != 0) {
        bench_fail(report, "%" PRIu64 " counts stand in the word after at least %" PRIu64, counted,
                   least);
    }
    if (threads > 1 && of_others == 0) {
        bench_fail(report, "the other threads did not count; free their CPUs");
    }
    bench_observe_share(report, "work_done_fraction", counted >= least, 1);
    bench_observe_count(report, "line_bytes", line_bytes);
    bench_observe_count(report, "threads_writing", threads);
    bench_observe_count(report, "threads_writing_the_line", on_line);
    bench_observe_events(report, "counts_of_others", of_others);
}

static const struct bench_key keys[] = {[KEY_APART] = {.name = "apart_bytes"}, {0}};

static const struct bench_method methods[] = {{.name = "count", .keys = 1 << KEY_APART}, {0}};

static const struct argp_option options[] = {
    {.name = "threads", .key = OPTION_THREADS, .arg = "N", .doc = "Threads that count (1)"},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state) {
    (void)state;
    if (key != OPTION_THREADS) {
        return ARGP_ERR_UNKNOWN;
    }
    threads = parse_number("--threads ", text, strlen(text), 1, THREADS_MOST);
    return 0;
}

static const struct argp argp = {.options = options, .parser = parse_option};

const struct bench_kernel bench_kernel = {
    .name = "words",
    .question = "How long does a thread count in its word while others count close by?",
    .argp = &argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_words,
    .prepare = prepare,
    .check = check,
};
