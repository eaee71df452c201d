/* Datagrams that leave when a clock says so, whether the earlier ones were answered or not. */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure.h"
#include "payload.h"

struct schedule {
    int socket;
    bool spins;
    bool from_send; /* time counts from when it was sent, else from when it was to be sent */
    uint64_t interval_ns;
    uint64_t lost_ns; /* after the last one was sent, what is not answered is lost */
    struct sockaddr_in there;
    size_t bytes;
    uint64_t seed;
    uint32_t *number; /* of the next datagram */
    struct tally *tally;
};

/* One datagram for each sample. The time of a lost one is what was waited for it. */
void schedule_run(const struct schedule *schedule, struct sample *samples, size_t count);

#endif
