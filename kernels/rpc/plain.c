/* The near side of as many bytes as a call and its answer have. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "clock.h"
#include "methods.h"
#include "near_transport.h"
#include "transport.h"

enum { MISSES = 1 << 14 }; /* a side that spins looks at the clock after so many */
#define NS_PER_S UINT64_C(1000000000)

static unsigned char came[MESSAGE_BYTES_MOST]; /* room for a datagram that is too long */
static ssize_t length;
static int error;

static int limit_s(const struct trip *trip) {
    return trip->protocol == PROTOCOL_TCP ? STREAM_LIMIT_S : DATAGRAM_LIMIT_S;
}

static void open_socket(struct trip *trip) {
    const struct timeval limit = {.tv_sec = limit_s(trip)};
    if (protocol_has_messages(trip->protocol)) {
        return;
    }
    trip->socket = trip_connect(trip);
    if (setsockopt(trip->socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0) {
        refuse("a socket takes no limit of time (%s); check the network between", strerror(errno));
    }
}

/* The whole answer; below 0 with EAGAIN where the limit passed. */
static inline ssize_t take_asleep(const struct trip *trip) {
    const size_t room = trip->protocol == PROTOCOL_TCP ? trip->answer_bytes : sizeof came;
    return recv(trip->socket, came, room, MSG_WAITALL);
}

/* Calls nothing but the receive, again and again. */
static inline ssize_t take_spinning(const struct trip *trip) {
    const bool is_stream = trip->protocol == PROTOCOL_TCP;
    size_t done = 0;
    uint64_t until_ns = 0;
    for (unsigned misses = 0;;) {
        const size_t room = is_stream ? trip->answer_bytes - done : sizeof came;
        const ssize_t got = recv(trip->socket, came + done, room, MSG_DONTWAIT);
        if (got > 0) {
            done += (size_t)got;
            if (!is_stream || done == trip->answer_bytes) {
                return (ssize_t)done;
            }
        } else if (got == 0 || errno != EAGAIN) {
            return got;
        } else if (++misses % MISSES == 0) {
            const uint64_t now_ns = clock_now();
            if (until_ns == 0) {
                until_ns = now_ns + (uint64_t)limit_s(trip) * NS_PER_S;
            } else if (now_ns > until_ns) {
                return got;
            }
        }
    }
}

BENCH_TIMED static void timed_exchange(const void *state) {
    const struct trip *trip = state;
    if (trip->is_given_up) {
        return;
    }
    if (protocol_has_messages(trip->protocol)) {
        length =
            near_transport_exchange(trip, trip->request, trip->request_bytes, came, sizeof came);
        return;
    }
    length = send(trip->socket, trip->request, trip->request_bytes, MSG_NOSIGNAL);
    if (length == (ssize_t)trip->request_bytes) {
        length = trip->spins ? take_spinning(trip) : take_asleep(trip);
    } else if (length >= 0) {
        length = -1;
        errno = EMSGSIZE;
    }
    error = errno;
}

static void look(struct trip *trip) {
    memcpy(&trip->answer, came, sizeof trip->answer);
    if (length == (ssize_t)trip->answer_bytes) {
        trip->end = TRIP_ANSWERED;
        return;
    }
    if (protocol_has_messages(trip->protocol)) {
        trip->end = TRIP_BROKEN;
        trip->why = transport_failure() ? transport_failure() : "the answer has another length";
        return;
    }
    trip->end = length < 0 && error == EAGAIN ? TRIP_LOST : TRIP_BROKEN;
    trip->why = length == 0  ? "the connection was closed"
                : length > 0 ? "the answer has another length"
                             : strerror(error);
}

static void close_socket(struct trip *trip) {
    if (protocol_has_messages(trip->protocol)) {
        transport_acknowledge();
        return;
    }
    close(trip->socket);
}

const struct trip_method exchange_method = {
    .open = open_socket,
    .timed = timed_exchange,
    .look = look,
    .close = close_socket,
};
