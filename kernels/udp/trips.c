#define _GNU_SOURCE
#include "trips.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "companion.h"
#include "echo.h"

/* A datagram is lost where two ticks of a timer pass without its answer, after 0.5 to 1 s. The
 * ticks cost a round trip no system call of its own, as a time-out would. */
enum { TICK_US = 500000, TICKS_LOST = 2 };

#define NS_PER_S UINT64_C(1000000000)

struct round_trip {
    struct exchange *exchange;
    int far;
    int flags; /* of each receive */
    struct payload sent;
    struct payload received;
    ssize_t length; /* of the answer; below 0: there is none yet */
    int error;      /* of what failed; 0: nothing did */
};

static struct round_trip current;
static uint64_t gap_ns;
static volatile sig_atomic_t ticks;

static void tick(int signal) {
    (void)signal;
    ticks++;
}

/* A tick ends a receive that blocks. */
static void set_ticks(suseconds_t every_us) {
    const struct timeval every = {.tv_usec = every_us};
    const struct itimerval timer = {.it_interval = every, .it_value = every};
    const struct sigaction action = {.sa_handler = tick};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    ticks = 0;
}

/* Who answered is nobody's question here: the payload tells. A variant beside a program that asks
 * for it does so too (UDP_TAKE_SENDER), for copying an address out of the kernel takes its time. */
static inline ssize_t take(int near, int flags) {
    struct payload *received = &current.received;
#ifdef UDP_TAKE_SENDER
    struct sockaddr_in sender;
    socklen_t room = sizeof sender;
    return recvfrom(near, received->bytes, sizeof received->bytes, flags,
                    (struct sockaddr *)&sender, &room);
#else
    return recv(near, received->bytes, sizeof received->bytes, flags);
#endif
}

/* Who spins calls nothing but the receive, again and again. Once the point has failed, nothing is
 * sent any more. */
static inline void go_round(const struct round_trip *trip, int near) {
    const struct exchange *exchange = trip->exchange;
    if (ticks >= TICKS_LOST) {
        return;
    }
    if (sendto(near, trip->sent.bytes, exchange->bytes, 0,
               (const struct sockaddr *)&exchange->there, sizeof exchange->there) < 0) {
        current.error = errno;
        return;
    }
    while (trip->far >= 0 && ticks < TICKS_LOST && !echo_answer(trip->far, trip->flags)) {
    }
    ssize_t length = -1;
    while (ticks < TICKS_LOST && length < 0) {
        length = take(near, trip->flags);
    }
    current.length = length;
}

BENCH_TIMED static void timed_one_socket(const void *state) {
    const struct round_trip *trip = state;
    go_round(trip, trip->exchange->socket);
}

BENCH_TIMED static void timed_socket_each(const void *state) {
    const struct round_trip *trip = state;
    const int near = exchange_socket(trip->exchange);
    if (near < 0) {
        current.error = errno;
        return;
    }
    go_round(trip, near);
    close(near);
}

static void make_ready(void) {
    exchange_make(current.exchange, current.exchange->number++, &current.sent);
    current.length = -1;
    current.error = 0;
}

static void pause_for(uint64_t pause_ns) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const uint64_t until_ns = (uint64_t)until.tv_nsec + pause_ns;
    until.tv_sec += (time_t)(until_ns / NS_PER_S);
    until.tv_nsec = (long)(until_ns % NS_PER_S);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

/* A full queue and a signal lose a datagram; with any other error there is nothing to measure. */
static bool is_loss(int error) {
    return error == 0 || error == ENOBUFS || error == EAGAIN || error == EINTR;
}

static void lose(struct exchange *exchange) {
    exchange_lose(exchange);
    companions_watch();
    while (current.far >= 0 && echo_answer(current.far, MSG_DONTWAIT)) {
    }
    if (exchange->socket >= 0) {
        exchange_renew(exchange);
    }
}

/* Between two round trips, untimed. */
static void finish(const void *state) {
    (void)state;
    struct exchange *exchange = current.exchange;
    if (exchange_has_failed(exchange)) {
        return;
    }
    if (!is_loss(current.error)) {
        refuse("a datagram of %zu bytes could not be sent (%s); check addresses, MTU and limits",
               exchange->bytes, strerror(current.error));
    }
    exchange->sockets += exchange->socket < 0;
    if (current.length >= 0) {
        exchange_take(exchange, exchange->number - 1, &current.sent, &current.received,
                      current.length);
    } else {
        lose(exchange);
    }
    make_ready();
    if (exchange_has_failed(exchange)) {
        ticks = TICKS_LOST;
        return;
    }
    if (gap_ns > 0) {
        pause_for(gap_ns);
    }
    ticks = 0;
}

void trips_begin(const struct trips *trips, struct bench_task *task) {
    struct exchange *exchange = trips->exchange;
    gap_ns = trips->gap_ns;
    current = (struct round_trip){
        .exchange = exchange,
        .far = trips->far,
        .flags = exchange->spins ? MSG_DONTWAIT : 0,
    };
    if (!trips->socket_each) {
        exchange_renew(exchange);
    }
    make_ready();
    task->timed = trips->socket_each ? timed_socket_each : timed_one_socket;
    task->state = &current;
    task->between = finish;
    set_ticks(TICK_US);
}

void trips_end(void) {
    set_ticks(0);
}
