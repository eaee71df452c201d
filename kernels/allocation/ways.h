/* The ways to get memory from the system and to give it back. */
#ifndef WAYS_H
#define WAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench.h"

enum { WAY_MMAP, WAY_POPULATE, WAY_SBRK, WAY_MALLOC, WAYS };

/* What one sample gets or gives: one piece of memory. */
struct piece {
    uint64_t bytes;
    uint64_t page_bytes;
    bool touches; /* writes once to each page that it gets */
    bool advises; /* asks for huge pages before it touches any */
    bool failed;  /* the system said no; errno says why */
    unsigned char *first;
};

enum { WAY_MARK = 0x5a }; /* what is written */

/* The state of these functions is a pointer to the piece; their bodies are what is timed. */
struct way {
    const char *name;
    bench_timed *get;
    bench_timed *give;
    bench_timed *pair; /* the one, then the other */
    bool is_fresh;     /* all pages come new from the system, each time */
    bool takes_huge;   /* the advice can come before the pages do */
};

extern const struct way ways[WAYS + 1]; /* up to one without a name */

/* Once, before any get. */
void ways_open(const struct way *way, uint64_t page_bytes);

/* Where the program's heap ends. */
const unsigned char *ways_break(void);

#endif
