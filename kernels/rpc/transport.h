/* Requests and answers by memory-based messages (../messages/messages.h), of either side: appended
 * to the other side's queue (FIFO), or handed to a handler that runs there when it polls (SIGNAL).
 */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include "../messages/messages.h"
#include "trip.h"

enum { TRANSPORT_BYTES_MOST = MESSAGES_BYTES_MOST };

/* Whether such trips go by messages. */
static inline bool protocol_has_messages(enum protocol protocol) {
    return protocol == PROTOCOL_FIFO || protocol == PROTOCOL_SIGNAL;
}

/* Takes a request or an answer that came that way; the payload is lost when it returns. */
typedef void transport_taker(enum protocol protocol, const unsigned char *payload, size_t bytes);

/* Once in a process. `is_waited_for`: a peer that is silent for long is dead. */
void transport_open(struct carrier *carrier, uint64_t connection, const char *peer,
                    bool is_waited_for, transport_taker *taker);

bool transport_send(enum protocol protocol, const void *payload, size_t bytes);

/* Hands to the taker what has come; where nothing has, sleeps until something has, or spins. False:
 * nothing will come any more. */
bool transport_take(bool spins);

/* The other side need not send anything again: all of it is acknowledged. */
void transport_acknowledge(void);

/* Why nothing comes; NULL where all is well. */
const char *transport_failure(void);

/* Frames at this side since it was opened. */
struct transport_frames {
    uint64_t resent;   /* sent again */
    uint64_t repeated; /* that had arrived before: their sender took them for lost */
};
struct transport_frames transport_frames(void);

#endif
