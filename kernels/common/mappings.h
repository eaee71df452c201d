/* How the memory of buffers is backed. */
#ifndef MAPPINGS_H
#define MAPPINGS_H

#include "bench.h"

enum { MAPPED_RESIDENT, MAPPED_ANONYMOUS, MAPPED_ANON_HUGE, MAPPED_COUNTS };

/* Of the buffers of a point; what the system does not tell is not known, never 0. */
struct mapped {
    uint64_t buffers_bytes; /* together; 0: the kernel names none */
    uint64_t bytes[MAPPED_COUNTS];
    bool known[MAPPED_COUNTS];
};

/* The sums over the whole mappings that hold the buffers: neighbours may share one with them, so
 * that too little is a proof and too much is none. Anonymous are also
 * pages that were swapped out and huge ones of a pool. Pages never written to are in no sum, the
 * shared page of zeros included, which stands for those that were read. */
struct mapped mappings_find(const struct bench_range *ranges);

#endif
