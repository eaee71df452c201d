#define _GNU_SOURCE
#include "turns.h"

#include <signal.h>

#include "emit.h"

size_t turns_taken(const struct bench_point *point, size_t turns) {
    return turns < point->samples ? turns : point->samples;
}

static size_t share(uint64_t samples, size_t parts, size_t part) {
    return samples / parts * part + (part < samples % parts ? part : samples % parts);
}

struct part turns_part(const struct bench_point *point, size_t turns, size_t turn, bool cold) {
    const size_t parts = turns_taken(point, turns);
    struct part part = {
        .point = *point,
        .first = share(point->samples, parts, turn),
        .begins = turn == 0,
        .ends = turn + 1 == parts,
    };
    part.point.samples = share(point->samples, parts, turn + 1) - part.first;
    if (!part.begins) {
        part.point.warm_up = cold ? 0 : (point->warm_up + parts - 1) / parts;
    }
    return part;
}

/* splitmix64 */
static uint64_t next(uint64_t *state) {
    uint64_t word = *state += UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

void turns_order(size_t *order, size_t count, uint64_t seed, size_t turn) {
    uint64_t state = seed * TURNS_MOST + turn; /* shuffles what the turn before left */
    for (size_t left = count; left > 1; left--) {
        const size_t chosen = next(&state) % left;
        const size_t last = order[left - 1];
        order[left - 1] = order[chosen];
        order[chosen] = last;
    }
}

void turns_wait(size_t point, bool pauses) {
    emit_open_line("turn");
    emit_integer("point", point);
    emit_close_line();
    emit_flush();
    if (pauses) {
        raise(SIGSTOP);
    }
}
