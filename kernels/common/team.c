#define _GNU_SOURCE
#include "team.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cannot_run.h"

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

    struct meeting meeting;
};

bool team_meet(struct member *self, uint64_t *start_ns) {
    return meeting_wait(&self->team->meeting, &self->meetings, start_ns);
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
        .meeting = {.members = count, .limit_ns = MEETING_LIMIT_NS},
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
    if (team.meeting.missed) {
        cannot_run("a thread on CPU %" PRIu64
                   " or one of its partners was kept from running; free the CPUs",
                   cpus[0]);
    }
}
