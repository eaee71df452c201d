#define _GNU_SOURCE
#include "schedule.h"

#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include "clock.h"

#define NS_PER_S UINT64_C(1000000000)
#define BEGIN_NS UINT64_C(1000000) /* from now to the first datagram */
#define NOT_ANSWERED UINT64_MAX

struct course {
    const struct schedule *schedule;
    struct sample *samples;
    size_t count;
    size_t sent;
    size_t answered;
    uint32_t first; /* number of the first datagram */
    uint64_t begin_ns;
    uint64_t last_send_ns;
    struct payload next;
    struct payload received;
    struct payload expected;
};

static struct course course;

static uint64_t due_ns(size_t index) {
    return course.begin_ns + index * course.schedule->interval_ns;
}

static void make_next(void) {
    payload_make(&course.next, course.schedule->bytes, course.schedule->seed,
                 course.first + (uint32_t)course.sent);
}

/* A datagram that no queue takes is one that will not be answered. */
static void send_one(void) {
    const struct schedule *schedule = course.schedule;
    struct sample *sample = &course.samples[course.sent];
    sample->cpu = sched_getcpu();
    course.last_send_ns = clock_now();
    (void)sendto(schedule->socket, course.next.bytes, schedule->bytes, MSG_DONTWAIT,
                 (const struct sockaddr *)&schedule->there, sizeof schedule->there);
    sample->start_ns = schedule->from_send ? course.last_send_ns : due_ns(course.sent);
    sample->time_ns = NOT_ANSWERED;
    course.sent++;
    make_next();
}

static void take(ssize_t length, uint64_t now_ns) {
    const struct schedule *schedule = course.schedule;
    const uint32_t number = payload_number(&course.received, schedule->seed);
    const uint32_t index = number - course.first;
    if (length < PAYLOAD_LEAST_BYTES || (index >= course.sent && number > course.first)) {
        tally_wrong(schedule->tally, "an answer of %zd bytes is to no datagram that was sent",
                    length);
        return;
    }
    if (index >= course.sent) {
        return; /* of an earlier series, in which it was lost */
    }
    struct sample *sample = &course.samples[index];
    if (sample->time_ns != NOT_ANSWERED) {
        tally_wrong(schedule->tally, "datagram %" PRIu32 " was answered twice", number);
        return;
    }
    sample->time_ns = now_ns - sample->start_ns;
    course.answered++;
    payload_make(&course.expected, schedule->bytes, schedule->seed, number);
    tally_answer(schedule->tally, number, &course.expected, schedule->bytes, &course.received,
                 length);
}

/* Who blocks sleeps until a datagram comes or the next one is due. */
static void sleep_until(uint64_t until_ns) {
    const uint64_t now_ns = clock_now();
    const uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    const struct timespec left = {.tv_sec = (time_t)(left_ns / NS_PER_S),
                                  .tv_nsec = (long)(left_ns % NS_PER_S)};
    struct pollfd readable = {.fd = course.schedule->socket, .events = POLLIN};
    (void)ppoll(&readable, 1, &left, NULL);
}

static void receive_one(void) {
    const ssize_t length = recv(course.schedule->socket, course.received.bytes,
                                sizeof course.received.bytes, MSG_DONTWAIT);
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
            course.schedule->tally->lost++;
        }
    }
}

void schedule_run(const struct schedule *schedule, struct sample *samples, size_t count) {
    course = (struct course){
        .schedule = schedule,
        .samples = samples,
        .count = count,
        .first = *schedule->number,
        .begin_ns = clock_now() + BEGIN_NS,
    };
    make_next();
    while (course.answered < count) {
        const bool all_sent = course.sent == count;
        const uint64_t until_ns =
            all_sent ? course.last_send_ns + schedule->lost_ns : due_ns(course.sent);
        const bool is_time = clock_now() >= until_ns;
        if (is_time && all_sent) {
            break;
        }
        if (is_time) {
            send_one();
        }
        if (!schedule->spins) {
            sleep_until(until_ns);
        }
        receive_one();
    }
    give_up_the_rest();
    *schedule->number += (uint32_t)count;
}
