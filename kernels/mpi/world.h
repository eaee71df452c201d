/* One rank's place in the world of both: host, CPU, and how it ends. */
#ifndef WORLD_H
#define WORLD_H

#include <stdbool.h>

enum { NEAR_RANK = 0, FAR_RANK = 1, RANKS = 2 };

/* `launched` is what the launcher said. From then on this process writes where the launcher does,
 * tells it how it ends, and is killed with it, at the latest when the near rank has ended. Goes to
 * its CPU and its host and initialises MPI; returns the rank. */
int world_enter(const char *launched);

/* The library and its version. */
const char *world_library(void);

#endif
