#define _GNU_SOURCE
#include "flows.h"

#include <sched.h>

#include "clock.h"
#include "measure.h"

size_t flow_messages(const struct flow *flow) {
    switch (flow->pattern) {
    case HALF_DUPLEX:
    case FULL_DUPLEX:
        return WINDOW_MESSAGES;
    default:
        return flow->loops;
    }
}

/* A connection that has failed is seen after the sample. */
static inline void go_round(struct channel *channel) {
    if (channel_send(channel, channel_next(channel))) {
        (void)channel_await(channel, channel->sent);
    }
}

BENCH_TIMED static void timed_round_trip(const void *state) {
    const struct flow *flow = state;
    go_round(flow->channel);
}

BENCH_TIMED static void timed_half_duplex(const void *state) {
    const struct flow *flow = state;
    struct channel *channel = flow->channel;
    const uint64_t answer = channel->arrived + 1;
    for (size_t message = 0; message < WINDOW_MESSAGES; message++) {
        if (!channel_send(channel, channel_next(channel))) {
            return;
        }
    }
    (void)channel_await(channel, answer);
}

/* The far side answers when it has all. */
BENCH_TIMED static void timed_full_duplex(const void *state) {
    const struct flow *flow = state;
    struct channel *channel = flow->channel;
    const uint64_t window = channel->arrived + WINDOW_MESSAGES;
    if (channel_exchange(channel, channel->sent + WINDOW_MESSAGES, window)) {
        (void)channel_await(channel, window + 1);
    }
}

static void look(struct flow *flow, size_t count) {
    flow->wrong += channel_count_wrong(flow->channel, count);
    flow->looked_at += count;
}

/* Between two samples. */
static void finish(const void *state) {
    struct flow *flow = (struct flow *)(uintptr_t)state;
    const char *why = channel_failure(flow->channel);
    if (why) {
        far_give_up(why);
    }
    switch (flow->pattern) {
    case HALF_DUPLEX:
        look(flow, 1);
        break;
    case FULL_DUPLEX:
        look(flow, WINDOW_MESSAGES); /* the answer, and all before it but the first one */
        break;
    default:
        look(flow, flow->loops);
        break;
    }
    if (flow->pattern == HALF_DUPLEX || flow->pattern == FULL_DUPLEX) {
        far_await_windows(++flow->windows);
    }
    channel_make(flow->channel, flow_messages(flow));
}

/* Both ends have one clock: the sample lasts until the far side has the message. */
static void fill_one_way(const void *state, struct sample *samples, size_t count) {
    const struct flow *flow = state;
    for (size_t i = 0; i < count; i++) {
        samples[i].cpu = sched_getcpu();
        samples[i].start_ns = clock_now();
        go_round(flow->channel);
        samples[i].time_ns = far_arrived_ns() - samples[i].start_ns;
        finish(state);
    }
}

void flow_begin(struct flow *flow, struct bench_task *task) {
    task->state = flow;
    channel_make(flow->channel, flow_messages(flow));
    switch (flow->pattern) {
    case ONE_WAY:
        task->series = fill_one_way;
        return;
    case ROUND_TRIP:
        task->timed = timed_round_trip;
        break;
    case HALF_DUPLEX:
        task->timed = timed_half_duplex;
        break;
    case FULL_DUPLEX:
        task->timed = timed_full_duplex;
        break;
    }
    task->between = finish;
}
