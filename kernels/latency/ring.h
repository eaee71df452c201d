/* One pointer in each cache line; together they are one cycle through all lines, in random order.
 */
#ifndef RING_H
#define RING_H

#include <stddef.h>
#include <stdint.h>

enum { RING_LINE_BYTES = 64 };

/* A longer line of the machine holds as many of them as go in, of which only the first is used. */
struct line {
    const struct line *next;
    uint64_t rank; /* its place in the cycle, for the check alone */
    unsigned char rest[RING_LINE_BYTES - sizeof(void *) - sizeof(uint64_t)];
};

struct ring {
    struct line *first;
    size_t stride; /* lines of ours in one of the machine's */
    uint64_t lines;
};

/* Joins all lines; `order` has room for a number of each. Every cycle is as likely as any other,
 * as by Sattolo's algorithm. The lines are written in the order of the cycle, so that the caches
 * are left as a turn of it leaves them; returns the line that a turn begins with. */
const struct line *ring_make(const struct ring *ring, uint32_t *order, uint64_t seed);

/* The first line that does not lead to the next one of a single cycle through all; ring->lines
 * where there is none. */
uint64_t ring_broken(const struct ring *ring);

#endif
