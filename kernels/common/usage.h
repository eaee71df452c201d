/* What the operating system did to this process while it was timed. */
#ifndef USAGE_H
#define USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct usage {
    uint64_t minor_faults;
    uint64_t major_faults;
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
    uint64_t on_cpu_ns; /* all threads */
    uint64_t wall_ns;
    uint64_t run_delay_ns; /* all threads: ready to run, but waiting for a core */
    bool has_run_delay;
    uint64_t resident_bytes; /* at the end, no difference */
    bool has_resident_bytes;
};

/* Opens what the others read, and has their pages faulted in. */
void usage_open(void);

struct usage usage_begin(void);

/* The difference since then. */
struct usage usage_end(const struct usage *begin);

/* Adds all but the memory held, which is no difference. */
void usage_add(struct usage *sum, const struct usage *more);

#endif
