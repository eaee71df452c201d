/* What it costs to ask the system who one is, and what time it is: through the processor's
 * instruction, through the C library, and through the page that the system shares with programs
 * (vDSO). The empty loop is what all others have in common with it. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>

#include "bench.h"
#include "clock.h"
#include "cycles.h"
#include "enter.h"

enum { KEY_CALL };
enum { BATCH, SINGLE };
enum { READINGS = 16 };
enum { LOOP, GETPID_INSTRUCTION, GETPID_LIBC, GETPPID_LIBC, CLOCK_VDSO, CLOCK_CALL, CALLS };
#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define NS_PER_S UINT64_C(1000000000)
#define RATE_LEAST_NS UINT64_C(2000000) /* one reading of two clocks is some 50 ns of it */
#define NO_IDENTITY INT64_MIN

/* The last answer; every call stores one, the empty loop too. */
struct answer {
    int64_t identity;
    struct timespec time;
};

struct instant {
    uint64_t ns;
    uint64_t cycles;
};

static const char *const calls[] = {
    [LOOP] = "loop",
    [GETPID_INSTRUCTION] = "getpid-instruction",
    [GETPID_LIBC] = "getpid-libc",
    [GETPPID_LIBC] = "getppid-libc",
    [CLOCK_VDSO] = "clock-vdso",
    [CLOCK_CALL] = "clock-call",
    NULL,
};

static const struct bench_key keys[] = {[KEY_CALL] = {.name = "call", .words = calls}, {0}};

static const struct bench_method methods[] = {
    [BATCH] = {.name = "batch", .keys = 1 << KEY_CALL},
    [SINGLE] = {.name = "single", .keys = 1 << KEY_CALL},
    {0},
};

static struct answer answer;
static struct answer *const where = &answer; /* the state that timed functions get */
static uint64_t call;
static uint64_t samples_wrong;
static struct timespec last_time;
static struct instant opened;
static bool has_cycles;

BENCH_TIMED static void timed_loop(const void *state) {
    struct answer *own = *(struct answer *const *)state;
    own->identity = 0;
}

BENCH_TIMED static void timed_getpid_instruction(const void *state) {
    struct answer *own = *(struct answer *const *)state;
    own->identity = enter(SYS_getpid, 0, 0);
}

BENCH_TIMED static void timed_getpid_libc(const void *state) {
    struct answer *own = *(struct answer *const *)state;
    own->identity = getpid();
}

BENCH_TIMED static void timed_getppid_libc(const void *state) {
    struct answer *own = *(struct answer *const *)state;
    own->identity = getppid();
}

BENCH_TIMED static void timed_clock_vdso(const void *state) {
    struct answer *own = *(struct answer *const *)state;
    own->identity = clock_gettime(CLOCK_MONOTONIC, &own->time);
}

BENCH_TIMED static void timed_clock_call(const void *state) {
    struct answer *own = *(struct answer *const *)state;
    own->identity = enter(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&own->time);
}

static bench_timed *const timed[CALLS] = {
    [LOOP] = timed_loop,
    [GETPID_INSTRUCTION] = timed_getpid_instruction,
    [GETPID_LIBC] = timed_getpid_libc,
    [GETPPID_LIBC] = timed_getppid_libc,
    [CLOCK_VDSO] = timed_clock_vdso,
    [CLOCK_CALL] = timed_clock_call,
};

static void accept_point(const struct bench_point *point) {
    if (point->method == SINGLE && point->loops != 1) {
        refuse("loops=%" PRIu64 " is not 1, and method single times each call alone; give "
               "loops=1, or method=batch",
               point->loops);
    }
}

/* Both clocks at once: of several readings the one in which least time passed, because a program
 * may be held up between them for milliseconds. */
static struct instant now(void) {
    struct instant best = {0};
    uint64_t least_ns = UINT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        struct instant instant;
        const uint64_t before_ns = clock_now();
        has_cycles = cycles_now(&instant.cycles);
        instant.ns = clock_now();
        if (instant.ns - before_ns < least_ns) {
            least_ns = instant.ns - before_ns;
            best = instant;
        }
    }
    return best;
}

static struct bench_buffers open_clocks(const struct bench_settings *settings) {
    (void)settings;
    opened = now();
    return (struct bench_buffers){0};
}

static int64_t expected(void) {
    switch (call) {
    case GETPID_INSTRUCTION:
    case GETPID_LIBC:
        return getpid();
    case GETPPID_LIBC:
        return getppid();
    default:
        return 0; /* of a clock: no error */
    }
}

static bool asks_clock(void) {
    return call == CLOCK_VDSO || call == CLOCK_CALL;
}

static bool is_before(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

static struct timespec time_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time;
}

/* So that what an earlier call left behind is no answer. */
static void forget(void) {
    answer = (struct answer){.identity = NO_IDENTITY, .time = {.tv_sec = -1}};
    last_time = time_now();
}

/* Each sample's last answer: asked again, and of a clock between the readings around it. */
static void look(const void *state) {
    (void)state;
    const struct timespec after = time_now();
    bool is_wrong = answer.identity != expected();
    if (asks_clock()) {
        is_wrong =
            is_wrong || is_before(&answer.time, &last_time) || is_before(&after, &answer.time);
    }
    samples_wrong += is_wrong;
    forget();
}

static struct bench_task prepare(const struct bench_point *point) {
    call = point->values[KEY_CALL];
    samples_wrong = 0;
    forget();
    return (struct bench_task){.timed = timed[call], .state = &where, .between = look};
}

/* Of the reference clock; over less than RATE_LEAST_NS it would be known too badly. */
static double cycles_per_ns(void) {
    struct instant instant;
    do {
        instant = now();
    } while (instant.ns - opened.ns < RATE_LEAST_NS);
    return (double)(instant.cycles - opened.cycles) / (double)(instant.ns - opened.ns);
}

/* Where the system's clock cannot be read in a program, what is called vDSO is a call as well. */
static void observe_clock(struct bench_report *report) {
    char name[64] = "";
    FILE *file = fopen(CLOCK_SOURCE, "re");
    if (file && fgets(name, sizeof name, file)) {
        name[strcspn(name, "\n")] = '\0';
        bench_observe_text(report, "clock_source", name);
    } else {
        bench_observe_absent(report, "clock_source");
    }
    if (file) {
        fclose(file);
    }
    bench_observe_count(report, "has_vdso", getauxval(AT_SYSINFO_EHDR) != 0);
}

static void check(const struct bench_point *point, struct bench_report *report) {
    if (samples_wrong > 0) {
        bench_fail(report, "%" PRIu64 " of %" PRIu64 " samples ended with a wrong answer of %s",
                   samples_wrong, point->warm_up + point->samples, calls[call]);
    }
    if (has_cycles) {
        bench_observe_real(report, "reference_cycles_per_ns", cycles_per_ns());
    } else {
        bench_observe_absent(report, "reference_cycles_per_ns");
    }
    bench_observe_text(report, "enters_by", ENTERS_BY);
    if (asks_clock()) {
        observe_clock(report);
    }
}

const struct bench_kernel bench_kernel = {
    .name = "syscall",
    .question = "What does it cost to ask the system for the process id and for the time?",
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_clocks,
    .prepare = prepare,
    .check = check,
};
