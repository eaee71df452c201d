/* What the near side does at a point: messages there and back, or windows of them. */
#ifndef FLOWS_H
#define FLOWS_H

#include "bench.h"
#include "far.h"

struct flow {
    struct channel *channel;
    enum pattern pattern;
    uint64_t loops;
    uint64_t windows;
    uint64_t wrong; /* messages that came back or arrived otherwise than they were made */
    uint64_t looked_at;
};

/* Sets what the task does; the flow stays for the point. */
void flow_begin(struct flow *flow, struct bench_task *task);

/* Messages of the next sample; each sample has so many loops. */
size_t flow_messages(const struct flow *flow);

#endif
