/* What a program on shared memory gives to dsm.c. Each is written anew from the description of the
 * SPLASH-2 programs (Woo and others, 1995), in whose order nodes work and meet. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "bench.h"
#include "sharing.h"

/* What node 0 found in its copy, next to the same problem solved without sharing. */
struct verdict {
    uint64_t compared;
    uint64_t wrong;
    double worst_error; /* as a multiple of the largest value */
};

struct program {
    const char *name;

    /* Why so many nodes cannot share a problem of this size; NULL: they can. */
    const char *(*refusal)(uint64_t size, size_t nodes);

    /* All nodes call these together. */
    void (*make)(uint64_t size); /* the rooms */
    void (*reset)(void);         /* before each repetition: what it begins with */
    bench_timed *timed;          /* ends with a barrier */
    void (*verify)(struct verdict *verdict);
    size_t (*shared_bytes)(void); /* of the result, from the first room on */
};

extern const struct program dsm_lu;
extern const struct program dsm_radix;
extern const struct program dsm_words;

#endif
