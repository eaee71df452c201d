/* What an endpoint keeps; for the files that make it up (endpoint.c and its siblings). */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include <signal.h>
#include <stdatomic.h>

#include "frame.h"
#include "messages.h"
#include "targets.h"

enum { FAILURE_BYTES = 160, POLLS_PER_LOOK = 256 };

/* A message that may have to be sent again. */
struct sent_frame {
    _Alignas(64) struct frame_header header;
    unsigned char payload[MESSAGES_BYTES_MOST];
};

/* Numbers of messages go around; only their differences count. */
struct endpoint {
    struct carrier *carrier;
    struct endpoint_options options;
    struct targets targets;
    struct messages_counts counts;
    char failure[FAILURE_BYTES];
    unsigned polls; /* since the last look at the clock */

    /* An interrupt that comes while the endpoint is at work is made up for at the end of that. */
    volatile sig_atomic_t depth;
    volatile sig_atomic_t is_missed;

    /* Sending: acknowledged <= unsent, highest <= next. */
    struct sent_frame *frames; /* by number, as many as the window */
    uint32_t next;             /* message */
    uint32_t unsent;           /* the first that goes to the carrier now */
    uint32_t highest;          /* the first that never went there */
    uint32_t acknowledged;     /* all before it have arrived */
    uint32_t gap;              /* the number for which a gap was answered last, less 1 */
    bool is_timed;             /* resend_at_ns holds */
    uint64_t resend_at_ns;
    uint64_t resend_after_ns;

    /* Receiving. */
    uint32_t expected; /* message */
    uint32_t owed;     /* frames taken in that nothing sent since has acknowledged */
    bool has_gap;      /* which the peer was told */
    bool is_delivering;

    /* Silence. */
    bool has_heard; /* since the last look at the clock */
    uint64_t looked_ns;
    uint64_t heard_ns;
    uint64_t asked_ns;
};

/* sending.c, which also has endpoint_room */
struct sent_frame *sending_next(const struct endpoint *endpoint); /* where there is room */
void sending_commit(struct endpoint *endpoint);
void sending_continue(struct endpoint *endpoint);
void sending_take_acknowledgement(struct endpoint *endpoint, uint32_t acknowledged);
void sending_answer_gap(struct endpoint *endpoint, bool always);
void sending_look(struct endpoint *endpoint, uint64_t now_ns);
bool sending_is_done(const struct endpoint *endpoint);

/* receiving.c */
void receiving_take(struct endpoint *endpoint, const unsigned char *frame, size_t bytes);

/* control.c: frames without a message. */
void control_send(struct endpoint *endpoint, enum frame_kind kind);

/* polling.c; the two below stand around all that changes an endpoint. */
void interrupts_make_up(struct endpoint *endpoint);

static inline void endpoint_enter(struct endpoint *endpoint) {
    endpoint->depth++;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void endpoint_leave(struct endpoint *endpoint) {
    atomic_signal_fence(memory_order_seq_cst);
    if (--endpoint->depth == 0 && endpoint->is_missed) {
        interrupts_make_up(endpoint);
    }
}

/* silence.c */
void silence_look(struct endpoint *endpoint, uint64_t now_ns);

/* state.c, which also has endpoint_failure and endpoint_counts: the first failure is kept. */
void endpoint_fail(struct endpoint *endpoint, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
