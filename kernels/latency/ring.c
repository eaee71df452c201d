#include "ring.h"

#include <stdbool.h>

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators": SplitMix64. */
static uint64_t next_random(uint64_t *state) {
    uint64_t value = *state += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

/* Below `bound`; how far it is from even is one in 2^32 at most. */
static uint32_t random_below(uint64_t *state, uint32_t bound) {
    return (uint32_t)((next_random(state) >> 32) * bound >> 32);
}

static void shuffle(uint32_t *order, uint64_t count, uint64_t seed) {
    for (uint64_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
    }
    for (uint64_t left = count; left > 1; left--) {
        const uint32_t other = random_below(&seed, (uint32_t)left);
        const uint32_t kept = order[left - 1];
        order[left - 1] = order[other];
        order[other] = kept;
    }
}

const struct line *ring_make(const struct ring *ring, uint32_t *order, uint64_t seed) {
    shuffle(order, ring->lines, seed);
    for (uint64_t rank = 0; rank < ring->lines; rank++) {
        const uint64_t after = rank + 1 < ring->lines ? rank + 1 : 0;
        struct line *line = ring->first + order[rank] * ring->stride;
        line->next = ring->first + order[after] * ring->stride;
        line->rank = rank;
    }
    return ring->first + order[0] * ring->stride;
}

static bool is_line(const struct ring *ring, const struct line *line) {
    const uintptr_t offset = (uintptr_t)line - (uintptr_t)ring->first;
    const uintptr_t step = ring->stride * sizeof *line;
    return offset % step == 0 && offset / step < ring->lines;
}

/* Each line leads to one whose rank is the next. So as many steps as there are lines meet as many
 * ranks, each once: all lines, in one cycle. No step waits for another, as a walk would. */
uint64_t ring_broken(const struct ring *ring) {
    for (uint64_t i = 0; i < ring->lines; i++) {
        const struct line *line = ring->first + i * ring->stride;
        const uint64_t after = line->rank + 1 < ring->lines ? line->rank + 1 : 0;
        if (line->rank >= ring->lines || !is_line(ring, line->next) || line->next->rank != after) {
            return i;
        }
    }
    return ring->lines;
}
