#define _GNU_SOURCE
#include "schedule.h"

#include <inttypes.h>
#include <poll.h>
#include <sched.h>

#include "clock.h"
#include "companion.h"
#include "measure.h"

#define NS_PER_S UINT64_C(1000000000)
#define LOST_NS UINT64_C(1000000000) /* after the last one was sent */
#define BEGIN_NS UINT64_C(1000000)   /* from now to the first datagram */
#define NOT_ANSWERED UINT64_MAX

struct course {
    struct sample *samples;
    size_t count;
    size_t sent;
    size_t answered;
    uint64_t late;
    uint64_t late_ns; /* of all that were sent */
    uint32_t first;   /* number of the first datagram */
    uint64_t begin_ns;
    uint64_t last_send_ns;
    struct payload next;
    struct payload received;
    struct payload expected;
};

static struct schedule schedule;
static struct exchange *exchange;
static struct course course;

static uint64_t due_ns(size_t index) {
    return course.begin_ns + index * schedule.interval_ns;
}

static void make_next(void) {
    exchange_make(exchange, course.first + (uint32_t)course.sent, &course.next);
}

/* A datagram that no queue takes is one that will not be answered. */
static void send_one(void) {
    struct sample *sample = &course.samples[course.sent];
    sample->cpu = sched_getcpu();
    course.last_send_ns = clock_now();
    (void)sendto(exchange->socket, course.next.bytes, exchange->bytes, MSG_DONTWAIT,
                 (const struct sockaddr *)&exchange->there, sizeof exchange->there);
    sample->start_ns = schedule.from_send ? course.last_send_ns : due_ns(course.sent);
    sample->time_ns = NOT_ANSWERED;
    course.late_ns += course.last_send_ns - due_ns(course.sent);
    course.sent++;
    course.late += course.last_send_ns >= due_ns(course.sent);
    make_next();
}

static void take(ssize_t length, uint64_t now_ns) {
    const uint32_t number = exchange_number(exchange, &course.received);
    const uint32_t index = number - course.first;
    if (length < PAYLOAD_LEAST_BYTES || (number >= course.first && index >= course.sent)) {
        exchange_take_wrong(exchange, "an answer of %zd bytes is to no datagram that was sent",
                            length);
        return;
    }
    if (number < course.first) {
        return; /* to one of an earlier series, in which it was lost */
    }
    struct sample *sample = &course.samples[index];
    if (sample->time_ns != NOT_ANSWERED) {
        exchange_take_wrong(exchange, "datagram %" PRIu32 " was answered twice", number);
        return;
    }
    sample->time_ns = now_ns - sample->start_ns;
    course.answered++;
    exchange_make(exchange, number, &course.expected);
    exchange_take(exchange, number, &course.expected, &course.received, length);
}

/* Who blocks sleeps until a datagram comes or the next one is due. */
static void sleep_until(uint64_t until_ns) {
    const uint64_t now_ns = clock_now();
    const uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    const struct timespec left = {.tv_sec = (time_t)(left_ns / NS_PER_S),
                                  .tv_nsec = (long)(left_ns % NS_PER_S)};
    struct pollfd readable = {.fd = exchange->socket, .events = POLLIN};
    (void)ppoll(&readable, 1, &left, NULL);
}

static void receive_one(void) {
    const ssize_t length =
        recv(exchange->socket, course.received.bytes, sizeof course.received.bytes, MSG_DONTWAIT);
    const uint64_t now_ns = clock_now();
    if (length >= 0) {
        take(length, now_ns);
    }
}

static void give_up_the_rest(void) {
    const uint64_t now_ns = clock_now();
    for (size_t i = 0; i < course.count; i++) {
        if (course.samples[i].time_ns == NOT_ANSWERED) {
            course.samples[i].time_ns = now_ns - course.samples[i].start_ns;
            exchange_lose(exchange);
        }
    }
}

static void keep(const void *state, struct sample *samples, size_t count) {
    (void)state;
    course = (struct course){
        .samples = samples,
        .count = count,
        .first = exchange->number,
        .begin_ns = clock_now() + BEGIN_NS,
    };
    make_next();
    while (course.answered < count) {
        const bool all_sent = course.sent == count;
        const uint64_t until_ns = all_sent ? course.last_send_ns + LOST_NS : due_ns(course.sent);
        const bool is_time = clock_now() >= until_ns;
        if (is_time && all_sent) {
            break;
        }
        if (is_time) {
            send_one();
        }
        if (!exchange->spins) {
            sleep_until(until_ns);
        }
        receive_one();
    }
    give_up_the_rest();
    companions_watch();
    exchange->number += (uint32_t)count;
}

void schedule_begin(const struct schedule *asked, struct bench_task *task) {
    schedule = *asked;
    exchange = schedule.exchange;
    exchange_renew(exchange);
    task->series = keep;
}

void schedule_observe(struct bench_report *report) {
    bench_observe_count(report, "timed_from_intended", !schedule.from_send);
    bench_observe_events(report, "requests_sent", course.sent);
    bench_observe_events(report, "sends_late", course.late);
    bench_observe_real(report, "lateness_ns", (double)course.late_ns / (double)course.sent);
}
