/* One rank's place in the world of all: host, CPU, and how it ends. */
#ifndef WORLD_H
#define WORLD_H

#include <stdbool.h>
#include <stdint.h>

enum { NEAR_RANK = 0, FAR_RANK = 1, RANKS = 2 }; /* of two; the near one is always the first */
enum { RANKS_MOST = 64 };
enum { RANK_STARTED = -1 };

/* What a rank writes to the launcher, first when it has started and again when it ends. */
struct rank_state {
    int32_t rank;
    int32_t pid;
    int32_t exit_status; /* or RANK_STARTED */
};

/* `launched` is what the launcher said. From then on this process writes where the launcher does,
 * tells it that it has started and how it ends, and is killed with it, at the latest when the near
 * rank has ended. Goes to its CPU and its host and initialises MPI; returns its rank of so many.
 * Ranks beyond the CPUs share them where they may be `crowded`. */
int world_enter(const char *launched, int ranks, bool is_crowded);

/* How many of so many ranks are in the near host, where there are two: the first half. */
int world_near_ranks(int ranks);

/* The library and its version. */
const char *world_library(void);

#endif
