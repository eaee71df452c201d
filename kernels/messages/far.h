/* The far side, and what both sides share: which point is measured now, and what came of it. */
#ifndef FAR_H
#define FAR_H

#include "ends.h"

enum pattern { ROUND_TRIP, ONE_WAY, HALF_DUPLEX, FULL_DUPLEX };

enum { WINDOW_MESSAGES = CHANNEL_SLOTS };

struct order {
    enum pattern pattern;
    enum primitive primitive;
    size_t bytes;       /* of a message */
    uint32_t first_out; /* number of the first message, as the far side sees it */
    uint32_t first_in;
};

/* What the far side saw at the point that has just ended. */
struct far_seen {
    uint64_t wrong; /* messages that were not as they were made */
    uint64_t looked_at;
    struct messages_counts counts; /* of its endpoint, since the start */
    uint64_t dropped;
    uint64_t served_ns; /* time of this point */
};

struct far_options {
    uint64_t seed;
    uint64_t pause_ns; /* between its polls */
};

/* On that CPU; the far end is its own from then on. */
void far_start(struct ends *ends, const struct network *network, const struct far_options *options,
               int cpu);

/* The far side serves that point from now on, and has begun to. */
void far_begin(const struct order *order);

/* Its clock when the last message arrived, of a point one way. */
uint64_t far_arrived_ns(void);

/* Waits until so many windows of this point have been looked at. */
void far_await_windows(uint64_t windows);

/* Before the message that ends the point, and after it, while the channel is polled. */
void far_call_end(void);
struct far_seen far_end(struct channel *channel);

/* Ends this program: nothing comes from the far side any more, or it would say why itself. */
_Noreturn void far_give_up(const char *why);

#endif
