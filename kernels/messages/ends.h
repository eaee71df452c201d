/* Both ends of what a start measures: a carrier, or a TCP connection, opened on both sides before
 * the far one is a process of its own. */
#ifndef ENDS_H
#define ENDS_H

#include "channel.h"
#include "network.h"

enum carrier_word {
    CARRIER_RINGS,
    CARRIER_XDP,
    CARRIER_PACKET,
    CARRIER_UDP,
    CARRIER_MEMORY,
    CARRIER_TCP,
    CARRIER_TCP_NAGLE,
};

extern const char *const carrier_words[]; /* up to a NULL */

static inline bool carrier_is_stream(enum carrier_word word) {
    return word == CARRIER_TCP || word == CARRIER_TCP_NAGLE;
}

/* Of one side. */
struct end {
    struct carrier *carrier; /* or: */
    int socket;
};

struct ends {
    uint64_t connection; /* a random number */
    struct end near;
    struct end far;
};

/* Refuses, or cannot run, where the system has no such carrier. `frames`: room of rings. */
struct ends ends_open(enum carrier_word word, const struct network *network, size_t frames);

/* What the other side alone holds from now on. */
void end_let_go(struct end *end);

/* In the process whose end it is. `peer` names the other one. */
void end_open_channel(const struct end *end, uint64_t connection, bool spins, const char *peer,
                      bool is_waited_for, struct channel *channel);

#endif
