/* Points that are measured in parts, in turns with each other: what one after the other would each
 * meet another state of the machine meets the same one, and its flips are shared by all. */
#ifndef TURNS_H
#define TURNS_H

#include <stdbool.h>

#include "bench.h"

enum { TURNS_MOST = 1000 };

/* What is measured of a point in one turn. */
struct part {
    struct bench_point point; /* with the samples and warm-ups of this part alone */
    size_t first;             /* of its samples, among those of the whole point */
    bool begins;
    bool ends;
};

/* In how many of so many turns a point takes part: each has a sample at least. */
size_t turns_taken(const struct bench_point *point, size_t turns);

/* Its part in a turn that it takes. All warm-ups go before the first; later ones get as many as
 * refill the caches, a share of them. */
struct part turns_part(const struct bench_point *point, size_t turns, size_t turn);

/* The order of `count` points in a turn: as given in the first one, by the seed in later ones. */
void turns_order(size_t *order, size_t count, uint64_t seed, size_t turn);

/* Says which point comes next, so that it is known whose fault an early end was; and where the
 * process `pauses`, stops it with all its threads until a SIGCONT. */
void turns_wait(size_t point, bool pauses);

#endif
