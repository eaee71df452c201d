/* One end of what a point measures: messages of one size by one primitive, or a TCP connection.
 * Each message has a number, which its first word tells, and goes to the next of so many slots. */
#ifndef CHANNEL_H
#define CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "messages.h"

enum { CHANNEL_SLOTS = 128 };

enum primitive {
    PRIMITIVE_WRITE,
    PRIMITIVE_FIFO,
    PRIMITIVE_SIGNAL,
    PRIMITIVE_CALL,
    PRIMITIVE_STREAM
};

struct channel;

struct channel_methods {
    /* Sends the message if it goes without waiting for the other end. */
    bool (*send)(struct channel *channel, const void *payload);

    /* Takes in what is there, at most as much as came at once; counts it in `arrived`. */
    bool (*take)(struct channel *channel);
};

struct channel {
    const struct channel_methods *methods;
    enum primitive primitive;
    bool spins;
    uint64_t pause_ns;         /* an end that spins does something else so long between polls */
    struct endpoint *endpoint; /* or, of a TCP connection: */
    int socket;
    bool is_closed;
    size_t bytes_sent; /* of a message that is half sent */
    size_t bytes_arrived;

    /* Of the point. */
    uint64_t seed;     /* both ends the same */
    uint32_t mask;     /* a number under it is the first word of that message */
    uint32_t first_in; /* number of the first message */
    uint32_t first_out;
    size_t bytes; /* of each message */
    uint64_t sent;
    volatile uint64_t arrived; /* an interrupt may count */
    unsigned looks;            /* for one */
    _Alignas(64) unsigned char inbox[CHANNEL_SLOTS * MESSAGES_BYTES_MOST];
    _Alignas(64) unsigned char outbox[CHANNEL_SLOTS][MESSAGES_BYTES_MOST];
};

/* The targets at this end are registered, and hold for all points. False: no memory. */
bool channel_open_messages(struct channel *channel, struct endpoint *endpoint, bool spins);
void channel_open_stream(struct channel *channel, int socket, bool spins);

/* For the next point. The numbers go on: this end sends those from `first_out`, and gets those from
 * `first_in`. False where the carrier has nothing that interrupts. */
bool channel_begin(struct channel *channel, enum primitive primitive, size_t bytes,
                   uint32_t first_out, uint32_t first_in);
void channel_end(struct channel *channel);

/* Makes the payloads of the next `count` messages. */
void channel_make(struct channel *channel, size_t count);

/* How many of the `count` messages that arrived last are not as they were made. */
uint64_t channel_count_wrong(const struct channel *channel, size_t count);

/* In words: why nothing more comes or goes; NULL where all is well. */
const char *channel_failure(const struct channel *channel);

/* Whether the connection still is. */
static inline bool channel_is_well(const struct channel *channel) {
    return channel->endpoint ? !endpoint_failure(channel->endpoint) : !channel->is_closed;
}

/* Until something may have come. An end that spins returns at once, or after its pause, and TCP
 * sleeps in its calls. */
void channel_sleep(struct channel *channel);

/* The next message to send, as channel_make made it. */
static inline const unsigned char *channel_next(const struct channel *channel) {
    return channel->outbox[channel->sent % CHANNEL_SLOTS];
}

/* The message that arrived last. */
static inline const unsigned char *channel_last(const struct channel *channel) {
    return channel->inbox + (channel->arrived - 1) % CHANNEL_SLOTS * channel->bytes;
}

/* Sends a message, and waits where it must. */
static inline bool channel_send(struct channel *channel, const unsigned char *payload) {
    while (!channel->methods->send(channel, payload)) {
        if (!channel_is_well(channel)) {
            return false;
        }
        channel_sleep(channel);
        (void)channel->methods->take(channel);
    }
    channel->sent++;
    return true;
}

/* Waits until as many messages have arrived since the point began. */
static inline bool channel_await(struct channel *channel, uint64_t count) {
    while (channel->arrived < count) {
        if (!channel->methods->take(channel)) {
            if (!channel_is_well(channel)) {
                return false;
            }
            channel_sleep(channel);
        }
    }
    return true;
}

/* Sends and takes in by turns, until so many were sent and so many have arrived since the point
 * began: neither end waits for the other one to have sent all. */
static inline bool channel_exchange(struct channel *channel, uint64_t until_sent,
                                    uint64_t until_arrived) {
    while (channel->sent < until_sent || channel->arrived < until_arrived) {
        bool has_moved = false;
        if (channel->sent < until_sent && channel->methods->send(channel, channel_next(channel))) {
            channel->sent++;
            has_moved = true;
        }
        /* Acknowledgements, too: without them nothing more can be sent. */
        if (channel->methods->take(channel)) {
            has_moved = true;
        }
        if (!has_moved) {
            if (!channel_is_well(channel)) {
                return false;
            }
            channel_sleep(channel);
        }
    }
    return true;
}

#endif
