#define _GNU_SOURCE
#include "exchange.h"

#include <string.h>

#include "clock.h"
#include "mpi_calls.h"
#include "slots.h"
#include "world.h"

enum { TAG_ORDER = 1, TAG_MESSAGE, TAG_ANSWER, TAG_FOUND, TAG_EARLY, TAG_GO };

/* How long a message may take to leave while the other rank does not receive it. */
#define EARLY_LIMIT_NS UINT64_C(1000000)

static struct order order;
static int peer; /* rank */
static uint64_t window;
static struct slots sent;
static struct slots received;
static uint64_t serial; /* of the sample */
static MPI_Request requests[2 * WINDOW_MESSAGES];
static MPI_Status statuses[2 * WINDOW_MESSAGES];

uint64_t exchange_window(const struct order *of) {
    if (of->pattern == ROUND_TRIP) {
        return 1;
    }
    const uint64_t fitting = of->bytes ? WINDOW_BYTES / of->bytes : WINDOW_MESSAGES;
    return fitting > WINDOW_MESSAGES         ? WINDOW_MESSAGES
           : fitting < WINDOW_LEAST_MESSAGES ? WINDOW_LEAST_MESSAGES
                                             : fitting;
}

static inline void send(const void *bytes, uint64_t count, int tag) {
    MPI_Send(bytes, (int)count, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
}

static inline void receive(void *bytes, uint64_t count, int tag) {
    MPI_Recv(bytes, (int)count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static inline void start_sends(MPI_Request *started) {
    for (uint64_t i = 0; i < window; i++) {
        MPI_Isend(slots_next(&sent), (int)order.bytes, MPI_BYTE, peer, TAG_MESSAGE, MPI_COMM_WORLD,
                  &started[i]);
    }
}

static inline void start_receives(MPI_Request *started) {
    for (uint64_t i = 0; i < window; i++) {
        MPI_Irecv(slots_next(&received), (int)order.bytes, MPI_BYTE, peer, TAG_MESSAGE,
                  MPI_COMM_WORLD, &started[i]);
    }
}

BENCH_TIMED static void timed_round_trip(const void *state) {
    (void)state;
    send(slots_next(&sent), order.bytes, TAG_MESSAGE);
    receive(slots_next(&received), order.bytes, TAG_MESSAGE);
}

/* An empty message says that all have arrived. */
BENCH_TIMED static void timed_one_way(const void *state) {
    (void)state;
    start_sends(requests);
    MPI_Waitall((int)window, requests, statuses);
    receive(NULL, 0, TAG_ANSWER);
}

BENCH_TIMED static void timed_both_ways(const void *state) {
    (void)state;
    start_receives(requests);
    start_sends(requests + window);
    MPI_Waitall((int)(2 * window), requests, statuses);
    receive(NULL, 0, TAG_ANSWER);
}

/* What the far rank does meanwhile. */
static void play_along(void) {
    if (order.pattern == ROUND_TRIP) {
        void *const slot = slots_next(&received);
        receive(slot, order.bytes, TAG_MESSAGE);
        send(slot, order.bytes, TAG_MESSAGE);
        return;
    }
    start_receives(requests);
    if (order.pattern == BOTH_WAYS) {
        start_sends(requests + window);
    }
    const uint64_t count = order.pattern == BOTH_WAYS ? 2 * window : window;
    MPI_Waitall((int)count, requests, statuses);
    send(NULL, 0, TAG_ANSWER);
}

/* Both at once, after each sample: look at what came, make the next messages, and be ready. The far
 * rank only gives back what came in a round trip. */
static void turn_over(void) {
    const bool receives = !(peer == FAR_RANK && order.pattern == ONE_WAY);
    if (receives) {
        slots_look(&received, window, order.rotation_bytes ? 0 : serial);
    }
    serial++;
    if (!order.rotation_bytes) {
        slots_stamp(&sent, serial);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void between(const void *state) {
    (void)state;
    turn_over();
}

static void be_ready(void) {
    window = exchange_window(&order);
    serial = 0;
    /* A message is as good as the place that it is from: both ranks know what stands there. */
    slots_make(&sent, order.bytes, window, order.rotation_bytes, order.seed);
    slots_make(&received, order.bytes, window, order.rotation_bytes, order.seed);
    slots_stamp(&sent, serial);
    slots_poison(&received);
    MPI_Barrier(MPI_COMM_WORLD);
}

struct bench_task exchange_begin(const struct order *wanted) {
    static bench_timed *const timed[] = {
        [ROUND_TRIP] = timed_round_trip, [ONE_WAY] = timed_one_way, [BOTH_WAYS] = timed_both_ways};
    order = *wanted;
    peer = FAR_RANK;
    send(&order, sizeof order, TAG_ORDER);
    be_ready();
    const uint64_t directions = order.pattern == ONE_WAY ? 1 : 2;
    return (struct bench_task){
        .timed = timed[order.pattern],
        .bytes_declared = directions * window * order.bytes,
        .between = between,
    };
}

/* Whether a message leaves this rank though the other one waits for something else: only such a one
 * that is sent ahead does. Where it does not, the library asks first. */
static bool leaves_early(void) {
    MPI_Request request;
    int is_gone = 0;
    MPI_Isend(sent.first, (int)order.bytes, MPI_BYTE, peer, TAG_EARLY, MPI_COMM_WORLD, &request);
    const uint64_t start_ns = clock_now();
    while (!is_gone && clock_now() - start_ns < EARLY_LIMIT_NS) {
        MPI_Test(&request, &is_gone, MPI_STATUS_IGNORE);
    }
    send(NULL, 0, TAG_GO);
    if (!is_gone) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return is_gone;
}

struct exchanged exchange_end(void) {
    struct exchanged far;
    const bool is_early = leaves_early();
    receive(&far, sizeof far, TAG_FOUND);
    return (struct exchanged){
        .messages = received.count + far.messages,
        .wrong = received.wrong + far.wrong,
        .looked_at = received.looked_at + far.looked_at,
        .buffers = sent.count_of_slots,
        .buffer_bytes = sent.bytes,
        .sent_before_received = is_early,
    };
}

void exchange_obey(void) {
    peer = NEAR_RANK;
    for (;;) {
        receive(&order, sizeof order, TAG_ORDER);
        be_ready();
        for (uint64_t sample = 0; sample < order.samples; sample++) {
            for (uint64_t loop = 0; loop < order.loops; loop++) {
                play_along();
            }
            turn_over();
        }
        receive(NULL, 0, TAG_GO);
        receive(received.first, order.bytes, TAG_EARLY);
        const struct exchanged exchanged = {
            .messages = received.count,
            .wrong = received.wrong,
            .looked_at = received.looked_at,
        };
        send(&exchanged, sizeof exchanged, TAG_FOUND);
    }
}
