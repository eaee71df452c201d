/* Messages written straight into another process's memory: this header is the manual.
 *
 * A connection has two ends, each in a process of its own. Each end registers memory under keys
 * that both agree on, and the other end then
 *
 *   writes      bytes into a region:      endpoint_write,  which no call there receives
 *   appends     a message to a queue:     endpoint_append, and endpoint_front there reads it
 *   signals     a handler with a message: endpoint_signal, and the handler runs there
 *
 * Each message arrives once, whole, and in the order in which it was sent, all three kinds in one
 * order, although the carrier below (carrier.h) may lose, repeat, reorder and damage frames. What a
 * key, a length or an offset does not allow is refused at the receiving end, counted, and touches
 * nothing. A peer that dies is noticed while this end polls or waits, and named.
 *
 * Work is done by whoever polls: nothing arrives, and nothing is sent again, at an end that calls
 * neither endpoint_poll nor endpoint_wait nor a primitive. An end that stays away for longer than
 * `silent_ns` counts as dead. Nothing is allocated, printed or locked but in endpoint_open,
 * endpoint_register… and endpoint_close. An endpoint is for one thread. Both ends have the same
 * order of bytes in a word.
 *
 * A ping, and its answer:
 *
 *   struct endpoint *end = endpoint_open(udp_carrier_join(socket, &there), &options);
 *   endpoint_register(end, KEY, inbox, sizeof inbox);
 *   endpoint_write(end, KEY, 0, "ping", 4);
 *   while (inbox[0] == 0 && !endpoint_failure(end)) {
 *       endpoint_poll(end);
 *   }
 *
 * What is left out: no more than two ends a connection, no memory read at the other end, no
 * encryption: `connection` keeps strangers out who cannot see the frames, and nobody else. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carrier.h"

enum {
    MESSAGES_BYTES_MOST =
        1408,             /* of a message appended or signalled, and of each frame's payload */
    MESSAGES_WINDOW = 64, /* frames on their way, where the options name no other number */
    MESSAGES_WINDOW_MOST = 256,
    MESSAGES_TARGETS_MOST = 64, /* regions, queues and handlers of an end */
};

struct endpoint;

struct endpoint_options {
    const char *peer;    /* the other end's name, for sentences; must outlive the endpoint */
    uint64_t connection; /* a random number that both ends have, and no other connection */
    bool sleeps;         /* where an end must wait, it sleeps; else it polls again and again */
    size_t window;       /* frames on their way at most; both ends the same; 0: MESSAGES_WINDOW */
    uint64_t resend_ns;  /* first time-out, doubled each time; 0: MESSAGES_RESEND_NS */
    uint64_t silent_ns;  /* a peer that is asked and silent so long is dead; 0: 1.5 s */
};

#define MESSAGES_RESEND_NS UINT64_C(2000000)

/* Never takes a silent peer for dead, as a server whose parent ends it. */
#define MESSAGES_SILENT_EVER UINT64_MAX

/* Events at this end since it was opened. */
struct messages_counts {
    uint64_t sent;             /* messages in frames, each counted once */
    uint64_t resent;           /* frames sent again */
    uint64_t resends_by_clock; /* times that a time-out passed, of which each resends a window */
    uint64_t window_waits;     /* messages that waited, for as many as may be were on their way */
    uint64_t delivered;        /* messages that arrived, in order, and were taken in */
    uint64_t refused;          /* in order, but with a wrong key, kind, length or offset */
    uint64_t repeated;         /* frames that had arrived before */
    uint64_t ahead;            /* frames that came before an earlier one */
    uint64_t queue_full;       /* frames for a queue without room; they come again */
    uint64_t damaged;          /* frames with a wrong checksum */
    uint64_t strange;          /* frames that are too short, or of no such connection */
    uint64_t acknowledgements; /* frames that carried nothing else */
    uint64_t polls;            /* times that this end looked for a frame */
};

/* NULL where there is no memory. The carrier is the endpoint's from then on, and is closed with
 * it. */
struct endpoint *endpoint_open(struct carrier *carrier, const struct endpoint_options *options);

/* Tells the peer, and frees all. What has not arrived by then may never do. NULL: does nothing. */
void endpoint_close(struct endpoint *endpoint);

/* --- What the other end may reach. False where the key's place (key % MESSAGES_TARGETS_MOST) is
 * taken, or there is no memory. */

bool endpoint_register(struct endpoint *endpoint, uint32_t key, void *memory, size_t bytes);

/* A queue with room for messages of so many bytes together, 16 bytes more for each. */
bool endpoint_register_queue(struct endpoint *endpoint, uint32_t key, size_t bytes);

/* Called in endpoint_poll, while the payload is still where the carrier has it. It may send, but a
 * primitive returns false there instead of waiting; it must neither poll nor wait. */
typedef void messages_handler(void *context, const void *payload, size_t bytes);
bool endpoint_register_handler(struct endpoint *endpoint, uint32_t key, messages_handler *handler,
                               void *context);

/* Nothing is under this key any more: what arrives for it is refused. */
void endpoint_withdraw(struct endpoint *endpoint, uint32_t key);

/* --- The primitives. They return when the message is on its way, and wait where too many are.
 * False where the connection has failed, or a message is too long: only a write may have more than
 * MESSAGES_BYTES_MOST, and then goes in several frames, the first bytes first. */

bool endpoint_write(struct endpoint *endpoint, uint32_t key, uint32_t offset, const void *payload,
                    size_t bytes);
bool endpoint_append(struct endpoint *endpoint, uint32_t key, const void *payload, size_t bytes);
bool endpoint_signal(struct endpoint *endpoint, uint32_t key, const void *payload, size_t bytes);

/* How many messages can be sent now without waiting for the peer. */
size_t endpoint_room(const struct endpoint *endpoint);

/* --- Receiving. */

/* From now on the system interrupts this process (SIGIO) when something arrives, and it is taken in
 * at once, whatever this process does: handlers run in the interrupt, and writes appear. Whoever
 * only waits for them still polls once in a while: time-outs need it. One endpoint of a process;
 * false where its carrier has nothing that interrupts. */
bool endpoint_interrupt(struct endpoint *endpoint, bool on);

/* Takes in a frame, if one is there; says whether one was. */
bool endpoint_poll(struct endpoint *endpoint);

/* Does now what endpoint_poll does once in 256 times: acknowledges, sends again what time is up
 * for, and looks whether the peer is silent. For a caller whose polls are far apart, because it
 * lets other processes run between them. */
void endpoint_look_at_clock(struct endpoint *endpoint);

/* Polls; where nothing is there, waits until something is, or so long. Says whether something
 * came. */
bool endpoint_wait(struct endpoint *endpoint, uint64_t limit_ns);

/* Only sleeps, until something may have come, or so long; takes nothing in. For an end that sleeps.
 */
void endpoint_sleep(struct endpoint *endpoint, uint64_t limit_ns);

/* Waits until everything sent has arrived; false where the connection failed before. */
bool endpoint_drain(struct endpoint *endpoint);

/* The oldest message in a queue, or NULL; it stays there until endpoint_pop. */
const void *endpoint_front(struct endpoint *endpoint, uint32_t key, size_t *bytes);
void endpoint_pop(struct endpoint *endpoint, uint32_t key);

/* NULL while all is well; else one sentence that names the peer: it is dead, or has closed. */
const char *endpoint_failure(const struct endpoint *endpoint);

const struct messages_counts *endpoint_counts(const struct endpoint *endpoint);

/* Frames that the carrier had to drop at this end for want of room, as far as it can tell. */
uint64_t endpoint_dropped(const struct endpoint *endpoint);

#endif
