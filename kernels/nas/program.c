#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

enum { ROOMS_MOST = 256, LINE_BYTES = 64 };

int nas_rank;
int nas_ranks = 1;

#if defined(NAS_STATIC_BYTES)
/* All memory is in the program itself, as where sizes were compiled in. */
static char whole[NAS_STATIC_BYTES] __attribute__((aligned(LINE_BYTES)));
static size_t taken;
#else
static void *rooms[ROOMS_MOST];
static size_t room_count;
#endif

static size_t whole_lines(size_t count, size_t bytes) {
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all) || all > SIZE_MAX - LINE_BYTES) {
        cannot_run("more bytes are needed than can be counted; take a smaller class");
    }
    return (all + LINE_BYTES) / LINE_BYTES * LINE_BYTES;
}

void *nas_room(size_t count, size_t bytes) {
    const size_t all = whole_lines(count, bytes);
#if defined(NAS_STATIC_BYTES)
    if (all > sizeof whole - taken) {
        cannot_run("%zu bytes in the program are too few; raise NAS_STATIC_BYTES", sizeof whole);
    }
    char *const room = whole + taken;
    taken += all;
#else
    void *const room = room_count < ROOMS_MOST ? aligned_alloc(LINE_BYTES, all) : NULL;
    if (!room) {
        cannot_run("no memory for %zu bytes on rank %d; take a smaller class", all, nas_rank);
    }
    rooms[room_count++] = room;
#endif
    memset(room, 0, all);
    return room;
}

void nas_rooms_free(void) {
#if defined(NAS_STATIC_BYTES)
    taken = 0;
#else
    while (room_count > 0) {
        free(rooms[--room_count]);
    }
#endif
}

void nas_compare(struct nas_verdict *verdict, const char *name, double value, double defined,
                 double tolerance) {
    const double error = defined != 0 ? fabs((value - defined) / defined) : fabs(value);
    verdict->compared++;
    if (!(error <= verdict->worst_error)) {
        verdict->worst_error = error;
    }
    if (!(error <= tolerance) && verdict->wrong++ == 0) {
        snprintf(verdict->words, sizeof verdict->words, "%s is %.13e in place of %.13e", name,
                 value, defined);
    }
}

bool nas_is_power_of_two(int ranks) {
    return ranks > 0 && (ranks & (ranks - 1)) == 0;
}
