#define _GNU_SOURCE
#include "team.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "refuse.h"

enum { SPINS_PER_CLOCK = 1024 };
#define MEETING_LIMIT_NS UINT64_C(10000000000) /* far beyond any copy or time slice */

enum gate { GATE_SHUT, GATE_OPEN, GATE_OFF };

struct team {
    const uint64_t *cpus;
    struct member *members;
    size_t count;
    team_body *body;
    void *shared;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum gate gate;

    atomic_bool missed;
    struct shared_word arrivals;
};

/* Without a pause instruction: on some processors, and in virtual machines, that takes longer
 * than what is measured. */
bool spin_until(const struct shared_word *word, uint64_t least, uint64_t deadline_ns) {
    for (unsigned spins = 1;; spins++) {
        if (atomic_load_explicit(&word->value, memory_order_acquire) >= least) {
            return true;
        }
        if (spins % SPINS_PER_CLOCK == 0 && clock_now() >= deadline_ns) {
            return false;
        }
    }
}

bool team_meet(struct member *self, uint64_t *start_ns) {
    struct team *team = self->team;
    const uint64_t all = team->count * ++self->meetings;
    const uint64_t deadline_ns = clock_now() + MEETING_LIMIT_NS;
    bool together = true;
    if (start_ns) {
        together = spin_until(&team->arrivals, all - 1, deadline_ns);
        *start_ns = clock_now();
    }
    atomic_fetch_add_explicit(&team->arrivals.value, 1, memory_order_acq_rel);
    together = spin_until(&team->arrivals, all, deadline_ns) && together;
    if (!together) {
        atomic_store(&team->missed, true);
    }
    return together;
}

static void *enter(void *argument) {
    struct member *self = argument;
    struct team *team = self->team;
    pthread_mutex_lock(&team->lock);
    while (team->gate == GATE_SHUT) {
        pthread_cond_wait(&team->changed, &team->lock);
    }
    const enum gate gate = team->gate;
    pthread_mutex_unlock(&team->lock);
    if (gate == GATE_OPEN) {
        team->body(self, team->shared);
    }
    return NULL;
}

static int start(struct member *member, uint64_t cpu) {
    pthread_attr_t attributes;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    pthread_attr_init(&attributes);
    int error = pthread_attr_setaffinity_np(&attributes, sizeof only, &only);
    if (!error) {
        error = pthread_create(&member->thread, &attributes, enter, member);
    }
    pthread_attr_destroy(&attributes);
    return error;
}

static void set_gate(struct team *team, enum gate gate, size_t started) {
    pthread_mutex_lock(&team->lock);
    team->gate = gate;
    pthread_cond_broadcast(&team->changed);
    pthread_mutex_unlock(&team->lock);
    for (size_t i = 0; i < started; i++) {
        pthread_join(team->members[i].thread, NULL);
    }
}

void team_run(const uint64_t *cpus, size_t count, team_body *body, void *shared) {
    struct team team = {
        .cpus = cpus,
        .members = calloc(count, sizeof(struct member)),
        .count = count,
        .body = body,
        .shared = shared,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
    };
    if (!team.members) {
        cannot_run("no memory for %zu threads; ask for fewer", count);
    }
    for (size_t i = 0; i < count; i++) {
        team.members[i] = (struct member){.team = &team, .index = i};
        const int error = start(&team.members[i], cpus[i]);
        if (error) {
            set_gate(&team, GATE_OFF, i);
            cannot_run("no thread could be started on CPU %" PRIu64 " (%s); leave this CPU out",
                       cpus[i], strerror(error));
        }
    }
    set_gate(&team, GATE_OPEN, count);
    free(team.members);
    if (team.missed) {
        cannot_run("a thread on CPU %" PRIu64
                   " or one of its partners was kept from running; free the CPUs",
                   cpus[0]);
    }
}
