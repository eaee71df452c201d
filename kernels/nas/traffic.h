/* What a rank hands to MPI and waits for: counted between the program and the library, through
 * MPI's profiling interface. A build with -DNAS_UNCOUNTED leaves the counting out. */
#ifndef NAS_TRAFFIC_H
#define NAS_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

enum traffic_count {
    TRAFFIC_MESSAGES,         /* sent from one rank to one other */
    TRAFFIC_BYTES,            /* in these */
    TRAFFIC_COLLECTIVE_CALLS, /* of functions in which all ranks take part */
    TRAFFIC_COLLECTIVE_BYTES, /* that this rank handed to them for others */
    TRAFFIC_SENDING_NS,       /* in functions that begin to send or receive */
    TRAFFIC_WAITING_NS,       /* in functions that end when a message has come or gone */
    TRAFFIC_COLLECTIVE_NS,
    TRAFFIC_COUNTS
};

struct traffic {
    uint64_t counts[TRAFFIC_COUNTS];
};

/* Counts from now on, or no longer. */
void traffic_switch(bool is_on);

/* What was counted since the last call of this function. */
struct traffic traffic_take(void);

/* From now on a rank that waits for a message lets others have its CPU. */
void traffic_share_cpus(void);

/* Whether this build counts. */
bool traffic_is_counted(void);

#endif
