/* Each point is measured in parts. Parts of different points alternate, so that a change of the
 * machine's state reaches all of them. */
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

/* Its part in a turn that it takes. The first part has all warm-ups, each later one a share, or
 * none where turns begin cold. */
struct part turns_part(const struct bench_point *point, size_t turns, size_t turn, bool cold);

/* Shuffles the numbers of `count` points, in each turn otherwise. */
void turns_order(size_t *order, size_t count, uint64_t seed, size_t turn);

/* Prints which point comes next: if the program dies, that point is to blame. With `pauses`, stops
 * the process and its threads until a SIGCONT; other processes that it started go on. */
void turns_wait(size_t point, bool pauses);

#endif
