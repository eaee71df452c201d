/* Threads or processes that wait for each other. */
#ifndef MEETING_H
#define MEETING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Far beyond any copy or time slice. */
#define MEETING_LIMIT_NS UINT64_C(10000000000)

/* A word that is spun on: alone on its line, and on the neighbours that are fetched with it. */
struct shared_word {
    _Alignas(256) atomic_uint_fast64_t value;
};

/* What is not set here begins as zero. Lies in memory that all members share. */
struct meeting {
    size_t members;
    uint64_t limit_ns;
    bool sleeps; /* else it spins, which is for members that have a CPU each */
    atomic_bool missed;
    _Atomic uint32_t calls; /* to wake the members that sleep */
    struct shared_word arrivals;
};

/* All members wait for each other; false if one did not come in time. `attended` is the member's
 * own, and begins as zero. If one of them gives `start_ns`, it reads the clock when all others
 * wait, and only then lets them go. */
bool meeting_wait(struct meeting *meeting, uint64_t *attended, uint64_t *start_ns);

/* Spins until the word has reached `least`; false if the deadline came first. */
bool spin_until(const struct shared_word *word, uint64_t least, uint64_t deadline_ns);

#endif
