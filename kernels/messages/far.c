#define _GNU_SOURCE
#include "far.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"
#include "companion.h"
#include "crew.h"

enum { LOOKS_PER_WATCH = 1 << 20, POLLS_PER_WATCH = 1 << 14 };

struct shared {
    _Atomic uint32_t ordered; /* points; what the far side sleeps on between them */
    _Alignas(128) _Atomic uint32_t begun;
    _Atomic uint32_t ended;
    _Alignas(128) atomic_bool is_last; /* the next message ends the point */
    _Alignas(128) _Atomic uint64_t arrived_ns;
    _Alignas(128) _Atomic uint64_t windows;
    struct order order;
    struct far_seen seen;
};

struct argument {
    struct ends *ends;
    const struct network *network;
    const struct far_options *options;
};

static struct shared *shared;

static void call_futex(int operation, uint32_t value) {
    (void)syscall(SYS_futex, &shared->ordered, operation, value, NULL, NULL, 0);
}

/* --- The far side. */

static void look(struct channel *channel) {
    shared->seen.wrong += channel_count_wrong(channel, WINDOW_MESSAGES);
    shared->seen.looked_at += WINDOW_MESSAGES;
}

/* What came goes back: the near side looks whether it is what it sent. */
static void serve_trips(struct channel *channel, bool stamps) {
    for (uint64_t trip = 1; channel_await(channel, trip); trip++) {
        if (stamps) {
            atomic_store_explicit(&shared->arrived_ns, clock_now(), memory_order_release);
        }
        if (atomic_load_explicit(&shared->is_last, memory_order_relaxed) ||
            !channel_send(channel, channel_last(channel))) {
            return;
        }
    }
}

static void serve_windows(struct channel *channel, bool answers_each) {
    channel_make(channel, answers_each ? WINDOW_MESSAGES : 1);
    for (uint64_t window = WINDOW_MESSAGES;; window += WINDOW_MESSAGES) {
        if (!channel_await(channel, window - WINDOW_MESSAGES + 1) ||
            atomic_load(&shared->is_last)) {
            return;
        }
        if (answers_each ? !channel_exchange(channel, channel->sent + WINDOW_MESSAGES, window)
                         : !channel_await(channel, window)) {
            return;
        }
        if (answers_each) {
            channel_make(channel, 1);
        }
        if (!channel_send(channel, channel_next(channel))) {
            return;
        }
        look(channel);
        channel_make(channel, answers_each ? WINDOW_MESSAGES : 1);
        atomic_fetch_add(&shared->windows, 1);
    }
}

static void serve(struct channel *channel) {
    const struct order *order = &shared->order;
    const uint64_t began_ns = clock_now();
    if (!channel_begin(channel, order->primitive, order->bytes, order->first_out,
                       order->first_in)) {
        cannot_run("this carrier has nothing that interrupts a process; take another primitive");
    }
    shared->seen.wrong = shared->seen.looked_at = 0;
    atomic_store(&shared->windows, 0);
    atomic_store(&shared->is_last, false);
    atomic_store(&shared->begun, atomic_load(&shared->ordered));
    if (order->pattern == ROUND_TRIP || order->pattern == ONE_WAY) {
        serve_trips(channel, order->pattern == ONE_WAY);
    } else {
        serve_windows(channel, order->pattern == FULL_DUPLEX);
    }
    shared->seen.served_ns = clock_now() - began_ns;
    channel_end(channel);
    if (channel_failure(channel)) {
        refuse("it could not go on: %s", channel_failure(channel));
    }
    if (channel->endpoint) {
        shared->seen.counts = *endpoint_counts(channel->endpoint);
        shared->seen.dropped = endpoint_dropped(channel->endpoint);
    }
}

static void be_far_side(const void *place) {
    const struct argument *argument = place;
    struct channel *channel = aligned_alloc(64, sizeof *channel);
    if (!channel) {
        cannot_run("there is no memory for messages; free some");
    }
    *channel =
        (struct channel){.seed = argument->options->seed, .pause_ns = argument->options->pause_ns};
    end_let_go(&argument->ends->near);
    end_open_channel(&argument->ends->far, argument->ends->connection, argument->network->spins,
                     "the near side", false, channel);
    companion_ready(0);
    for (uint32_t point = 1;; point++) {
        while (atomic_load(&shared->ordered) < point) {
            call_futex(FUTEX_WAIT, point - 1);
        }
        serve(channel);
        atomic_store(&shared->ended, point);
    }
}

/* --- The near side. */

void far_start(struct ends *ends, const struct network *network, const struct far_options *options,
               int cpu) {
    const struct argument argument = {.ends = ends, .network = network, .options = options};
    shared = crew_share(sizeof *shared, "the far side");
    companion_start("the far side", cpu, be_far_side, &argument);
    end_let_go(&ends->far);
}

static void await(const _Atomic uint32_t *word, uint32_t value) {
    for (unsigned looks = 1; atomic_load(word) != value; looks++) {
        if (looks % LOOKS_PER_WATCH == 0) {
            companions_watch();
        }
    }
}

void far_begin(const struct order *order) {
    shared->order = *order;
    atomic_fetch_add(&shared->ordered, 1);
    call_futex(FUTEX_WAKE, 1);
    await(&shared->begun, atomic_load(&shared->ordered));
}

uint64_t far_arrived_ns(void) {
    return atomic_load_explicit(&shared->arrived_ns, memory_order_acquire);
}

void far_await_windows(uint64_t windows) {
    for (unsigned looks = 1; atomic_load(&shared->windows) < windows; looks++) {
        if (looks % LOOKS_PER_WATCH == 0) {
            companions_watch();
        }
    }
}

void far_call_end(void) {
    atomic_store(&shared->is_last, true);
}

/* The last message may have been lost, and only who polls sends it again. */
struct far_seen far_end(struct channel *channel) {
    const uint32_t point = atomic_load(&shared->ordered);
    for (unsigned looks = 1; atomic_load(&shared->ended) != point; looks++) {
        if (channel->endpoint) {
            endpoint_poll(channel->endpoint);
        }
        if (looks % POLLS_PER_WATCH == 0) {
            companions_watch();
        }
    }
    return shared->seen;
}

_Noreturn void far_give_up(const char *why) {
    companions_watch_dying();
    refuse("no message comes or goes any more (%s); check the network between the sides", why);
}
