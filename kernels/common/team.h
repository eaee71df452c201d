/* Threads that are pinned to a CPU each, and that wait for each other by spinning. */
#ifndef TEAM_H
#define TEAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word that threads spin on: alone on its line, and on the neighbours that are fetched with it.
 */
struct shared_word {
    _Alignas(256) atomic_uint_fast64_t value;
};

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

/* All members wait for each other; false if one did not come. If the leader gives `start_ns`, it
 * reads the clock when all others wait, and only then lets them go. */
bool team_meet(struct member *self, uint64_t *start_ns);

/* Spins until the word has reached `least`; false if the deadline came first. */
bool spin_until(const struct shared_word *word, uint64_t least, uint64_t deadline_ns);

#endif
