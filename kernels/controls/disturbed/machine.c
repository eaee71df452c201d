/* The same work on a machine that is left alone, that is shared with somebody else, and that
 * becomes slower as time goes by. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "buffer.h"
#include "pattern.h"

enum { LINE_BYTES = 64, WORD_BYTES = 8, PASSES = 2 };
enum { ALONE, BESIDE, SLOWING };
enum { KEY_TURN };

/* From the run's beginning on the work grows so many times in each second: much more than the
 * machine varies. It ends where calls would get long. */
static const double growth_per_s = 4;
static const double most_s = 4;
static const struct timespec rest_time = {
    .tv_nsec = 10000000}; /* as if the program took longer to start */

struct pass {
    const uint64_t *words;
    size_t count;
    uint64_t passes;
    size_t rest; /* words of one pass more */
    uint64_t *sum;
};

static uint64_t bytes;
static int64_t began_ns;
static struct pattern pattern;
static uint64_t *buffer;
static uint64_t sum;
static struct pass current;
static pid_t competitor;
static cpu_set_t cpus_before;

BENCH_TIMED static void timed_sum(const void *state) {
    const struct pass *pass = state;
    uint64_t total = 0;
    for (uint64_t i = 0; i < pass->passes; i++) {
        for (size_t word = 0; word < pass->count; word++) {
            total += pass->words[word];
        }
        bench_barrier(pass->words);
    }
    for (size_t word = 0; word < pass->rest; word++) {
        total += pass->words[word];
    }
    *pass->sum = total;
}

/* Tells nothing to the kernel: points of one name more, for the same work. */
static const struct bench_key keys[] = {
    [KEY_TURN] = {.name = "turn"},
    {0},
};

static const struct bench_method methods[] = {
    [ALONE] = {.name = "alone"},
    [BESIDE] = {.name = "beside"},
    [SLOWING] = {.name = "slowing", .keys = 1 << KEY_TURN},
    {0},
};

static struct bench_buffers open_buffer(const struct bench_settings *settings) {
    pattern = pattern_make(settings->seed);
    buffer = buffer_allocate(bytes, settings->source_offset);
    pattern_fill(pattern, buffer, bytes / WORD_BYTES);
    return (struct bench_buffers){.source = buffer, .destination = buffer};
}

/* In the child. It ends with its parent, whatever becomes of that one. */
_Noreturn static void compete(pid_t parent, atomic_bool *begun) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
        _exit(1);
    }
    atomic_store(begun, true);
    for (;;) {
        bench_barrier(NULL);
    }
}

/* Both on one core, and the competitor at work before the first sample. */
static void start_competitor(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    atomic_bool *begun =
        mmap(NULL, sizeof *begun, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (begun == MAP_FAILED || sched_getaffinity(0, sizeof cpus_before, &cpus_before) != 0 ||
        sched_setaffinity(0, sizeof one, &one) != 0) {
        cannot_run("no core to share with a competitor (%s)", strerror(errno));
    }
    const pid_t parent = getpid();
    competitor = fork();
    if (competitor == 0) {
        compete(parent, begun);
    }
    if (competitor < 0) {
        cannot_run("no competitor could be started (%s)", strerror(errno));
    }
    while (!atomic_load(begun)) {
        if (waitpid(competitor, NULL, WNOHANG) != 0) {
            cannot_run("the competitor ended before it began");
        }
        sched_yield();
    }
    munmap(begun, sizeof *begun);
}

static void end_competitor(void) {
    kill(competitor, SIGKILL);
    waitpid(competitor, NULL, 0);
    sched_setaffinity(0, sizeof cpus_before, &cpus_before);
}

static double slower_passes(void) {
    nanosleep(&rest_time, NULL);
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    const int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    const double seconds = 1e-9 * (double)(now_ns - began_ns);
    return PASSES * pow(growth_per_s, fmin(fmax(seconds, 0), most_s));
}

static struct bench_task prepare(const struct bench_point *point) {
    const double passes = point->method == SLOWING ? slower_passes() : PASSES;
    const size_t count = bytes / WORD_BYTES;
    sum = 0;
    current = (struct pass){
        .words = buffer,
        .count = count,
        .passes = (uint64_t)passes,
        .rest = (size_t)((passes - floor(passes)) * (double)count),
        .sum = &sum,
    };
    if (point->method == BESIDE) {
        start_competitor();
    }
    return (struct bench_task){
        .timed = timed_sum,
        .state = &current,
        .bytes_declared = bytes * PASSES,
        .buffers = {{buffer, bytes}},
    };
}

static uint64_t sum_of(size_t words) {
    uint64_t total = 0;
    for (size_t word = 0; word < words; word++) {
        total += buffer[word];
    }
    return total;
}

static void check(const struct bench_point *point, struct bench_report *report) {
    if (point->method == BESIDE) {
        end_competitor();
    }
    const uint64_t expected = current.passes * sum_of(current.count) + sum_of(current.rest);
    if (sum != expected) {
        bench_fail(report, "the sum is %" PRIu64 " instead of %" PRIu64, sum, expected);
    }
}

static const struct argp_option options[] = {
    {.name = "began-ns",
     .key = 'b',
     .arg = "NS",
     .doc = "When the run began, on the raw monotonic clock"},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    if (key != 'b') {
        return ARGP_ERR_UNKNOWN;
    }
    char *end = NULL;
    errno = 0;
    began_ns = strtoll(argument, &end, 10);
    if (errno != 0 || end == argument || *end != '\0') {
        argp_error(state, "--began-ns=%s is no time in ns", argument);
    }
    return 0;
}

static const struct argp argp = {.options = options, .parser = parse_option};

const struct bench_kernel bench_kernel = {
    .name = "machine",
    .question = "Does a figure show that its machine was shared, or became slower?",
    .size = {.bytes = &bytes, .of = "the buffer", .multiple = LINE_BYTES, .most = INT64_MAX},
    .argp = &argp,
    .keys = keys,
    .methods = methods,
    .open = open_buffer,
    .prepare = prepare,
    .check = check,
};
