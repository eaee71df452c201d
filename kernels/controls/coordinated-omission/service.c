/* A service in this process that answers each request, and stands still in some. Requests are due
 * at fixed intervals, and only one is under way: while the service stalls, the others wait. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sched.h>

#include "bench.h"
#include "clock.h"
#include "measure.h"

enum { ROUNDS = 400, STALL_OF = 200 };
enum { KEY_GAP, KEY_STALL };
enum { FROM_SEND, FROM_INTENDED };

#define LONGEST_NS UINT64_C(1000000000)
#define BEGIN_NS UINT64_C(10000) /* from now to the first request */

struct load {
    uint64_t gap_ns;
    uint64_t stall_ns;
    bool from_intended;
};

static struct load load;
static uint64_t seed;
static uint64_t number;  /* of the next request */
static uint64_t answers; /* the sum of all */
static uint64_t sent;    /* in the last series */
static uint64_t sent_late;
static uint64_t late_ns;

/* Any bit of the input changes about half of the output's. */
static uint64_t mixed(uint64_t value) {
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return value ^ value >> 32;
}

static uint64_t answer_to(uint64_t request) {
    uint64_t answer = seed + request;
    for (int round = 0; round < ROUNDS; round++) {
        answer = mixed(answer + (uint64_t)round);
    }
    return answer;
}

/* One of each STALL_OF requests, drawn. */
static bool is_stalled(uint64_t request) {
    return request % STALL_OF == mixed(seed ^ request / STALL_OF) % STALL_OF;
}

static void wait_until(uint64_t until_ns) {
    while (clock_now() < until_ns) {
    }
}

BENCH_TIMED static void timed_service(const void *state) {
    const struct load *own = state;
    const uint64_t request = number++;
    answers += answer_to(request);
    if (own->stall_ns > 0 && is_stalled(request)) {
        wait_until(clock_now() + own->stall_ns);
    }
}

static void keep_schedule(const void *state, struct sample *samples, size_t count) {
    const struct load *own = state;
    uint64_t due_ns = clock_now() + BEGIN_NS;
    sent = count;
    sent_late = 0;
    late_ns = 0;
    for (size_t i = 0; i < count; i++, due_ns += own->gap_ns) {
        wait_until(due_ns);
        samples[i].cpu = sched_getcpu();
        const uint64_t send_ns = clock_now();
        timed_service(own);
        samples[i].start_ns = own->from_intended ? due_ns : send_ns;
        samples[i].time_ns = clock_now() - samples[i].start_ns;
        sent_late += send_ns >= due_ns + own->gap_ns; /* when the next one was due */
        late_ns += send_ns - due_ns;
    }
}

static const struct bench_key keys[] = {
    [KEY_GAP] = {.name = "gap_ns"},
    [KEY_STALL] = {.name = "stall_ns"},
    {0},
};

static const struct bench_method methods[] = {
    [FROM_SEND] = {.name = "from-send", .keys = 1 << KEY_GAP | 1 << KEY_STALL},
    [FROM_INTENDED] = {.name = "from-intended", .keys = 1 << KEY_GAP | 1 << KEY_STALL},
    {0},
};

static void accept_point(const struct bench_point *point) {
    const uint64_t gap_ns = point->values[KEY_GAP];
    const uint64_t stall_ns = point->values[KEY_STALL];
    if (gap_ns == 0 || gap_ns > LONGEST_NS || stall_ns > LONGEST_NS) {
        refuse("gap_ns=%" PRIu64 " or stall_ns=%" PRIu64 " is none that can be kept; give from 1 "
               "and from 0 to %" PRIu64,
               gap_ns, stall_ns, LONGEST_NS);
    }
    if (point->loops != 1) {
        refuse("loops=%" PRIu64 " is not 1, and each request is a sample; give loops=1",
               point->loops);
    }
}

static struct bench_buffers open_service(const struct bench_settings *settings) {
    seed = settings->seed;
    return (struct bench_buffers){0};
}

static struct bench_task prepare(const struct bench_point *point) {
    number = 0;
    answers = 0;
    load = (struct load){
        .gap_ns = point->values[KEY_GAP],
        .stall_ns = point->values[KEY_STALL],
        .from_intended = point->method == FROM_INTENDED,
    };
    return (struct bench_task){.state = &load, .series = keep_schedule};
}

static void check(const struct bench_point *point, struct bench_report *report) {
    const uint64_t requests = point->warm_up + point->samples;
    uint64_t expected = 0;
    for (uint64_t request = 0; request < requests; request++) {
        expected += answer_to(request);
    }
    if (number != requests || answers != expected) {
        bench_fail(report,
                   "%" PRIu64 " answers have the sum %" PRIu64 ", where %" PRIu64 " have %" PRIu64,
                   number, answers, requests, expected);
    }
    bench_observe_count(report, "requests_sent", sent);
    bench_observe_count(report, "sends_late", sent_late);
    bench_observe_real(report, "lateness_ns", (double)late_ns / (double)sent);
    bench_observe_count(report, "timed_from_intended", load.from_intended);
}

const struct bench_kernel bench_kernel = {
    .name = "service",
    .question = "How long does a request take to a service that stalls at times?",
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_service,
    .prepare = prepare,
    .check = check,
};
