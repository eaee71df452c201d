/* Threads that are pinned to a CPU each, and that wait for each other by spinning. */
#ifndef TEAM_H
#define TEAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meeting.h"

struct team;

struct member {
    struct team *team;
    size_t index; /* 0 leads: it reads the clock for all */
    pthread_t thread;
    uint64_t meetings;
};

typedef void team_body(struct member *self, void *shared);

/* Starts one thread on each CPU and ends when all have ended. No body runs unless all of them
 * exist, each on its CPU; where one cannot, or is kept from running, exits with 77. */
void team_run(const uint64_t *cpus, size_t count, team_body *body, void *shared);

/* meeting_wait of the whole team; only the leader may give `start_ns`. */
bool team_meet(struct member *self, uint64_t *start_ns);

#endif
