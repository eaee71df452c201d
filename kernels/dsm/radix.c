/* Radix: keys of 20 bits are sorted in two passes, by their lower and then their upper 10 bits
 * (radix 1024). In each pass a node counts the digits of its part of the keys; all meet; it adds up
 * the counts of all nodes to where its own keys of each digit go, and writes them there, into the
 * other array; all meet. Counts and places stand in shared memory, as in SPLASH-2.
 *
 * With n keys on P nodes, a node's stores in a pass are 1024 zeros, a count for each key, 1024
 * places, and a key and a place for each key; it announces its counts, its places, the run of keys
 * of each digit, and its places again. In both passes of all nodes
 *
 *     stores = 6 n + 4096 P          announcements = 2 (1024 + 3) P
 *
 * and the nodes meet 4 times. A run without keys is announced and sends nothing. The source counts
 * 793 K and 2.08 K; for 2^20 keys a node of eight has 790.5 K and 2.05 K here. */
#include <stdlib.h>
#include <string.h>

#include "../nas/random.h"
#include "program.h"

enum { RADIX = 1024, RADIX_BITS = 10, PASSES = 2, KEY_VALUES = 1 << (PASSES * RADIX_BITS) };
enum { KEYS_MOST = 1 << 22, KEYS_PER_POLL = 1024 };

static size_t keys;
static uint32_t *arrays[2];
static uint32_t *counts; /* a row for each node */
static uint32_t *places;

static const char *refusal(uint64_t size, size_t nodes) {
    return size == 0 || size % nodes != 0 || size > KEYS_MOST
               ? "give a multiple of the nodes, at most 4194304"
               : NULL;
}

static void make(uint64_t size) {
    keys = size;
    for (size_t i = 0; i < 2; i++) {
        arrays[i] = sharing_room(keys * sizeof **arrays);
    }
    counts = sharing_room(sharing_nodes() * RADIX * sizeof *counts);
    places = sharing_room(sharing_nodes() * RADIX * sizeof *places);
}

/* A node's part of each array, and its own counts and places. */
static size_t home(const void *shared) {
    const uint32_t *word = shared;
    const size_t part = keys / sharing_nodes();
    for (size_t i = 0; i < 2; i++) {
        if (word >= arrays[i] && word < arrays[i] + keys) {
            return (size_t)(word - arrays[i]) / part;
        }
    }
    if (word >= counts && word < places + sharing_nodes() * RADIX) {
        return (size_t)(word - counts) / RADIX % sharing_nodes();
    }
    return 0;
}

static uint32_t next_key(uint64_t *state) {
    return (uint32_t)(random_next(state) * KEY_VALUES);
}

static void reset(void) {
    uint32_t *raw = sharing_raw(arrays[0]);
    uint64_t state = RANDOM_SEED;
    for (size_t i = 0; i < keys; i++) {
        raw[i] = next_key(&state);
    }
    sharing_settle(home);
}

static uint32_t digit_of(uint32_t key, size_t pass) {
    return key >> (pass * RADIX_BITS) & (RADIX - 1);
}

static void count_digits(const uint32_t *part, uint32_t *own, size_t pass) {
    for (size_t digit = 0; digit < RADIX; digit++) {
        SHARED_STORE(own[digit], 0);
    }
    for (size_t i = 0; i < keys / sharing_nodes(); i++) {
        const uint32_t digit = digit_of(part[i], pass);
        SHARED_STORE(own[digit], own[digit] + 1);
        if (i % KEYS_PER_POLL == 0) {
            sharing_poll();
        }
    }
    SHARED_ANNOUNCE(own, RADIX * sizeof *own);
}

/* Behind all keys of lower digits, and those of the same digit on earlier nodes. */
static void find_places(uint32_t *own) {
    uint32_t lower = 0;
    for (size_t digit = 0; digit < RADIX; digit++) {
        uint32_t earlier = 0;
        uint32_t all = 0;
        for (size_t node = 0; node < sharing_nodes(); node++) {
            earlier += node < sharing_node() ? counts[node * RADIX + digit] : 0;
            all += counts[node * RADIX + digit];
        }
        SHARED_STORE(own[digit], lower + earlier);
        lower += all;
    }
    SHARED_ANNOUNCE(own, RADIX * sizeof *own);
}

static void permute(const uint32_t *part, uint32_t *to, uint32_t *own, size_t pass) {
    for (size_t i = 0; i < keys / sharing_nodes(); i++) {
        const uint32_t digit = digit_of(part[i], pass);
        const uint32_t place = own[digit];
        SHARED_STORE(to[place], part[i]);
        SHARED_STORE(own[digit], place + 1);
        if (i % KEYS_PER_POLL == 0) {
            sharing_poll();
        }
    }
}

static void announce_runs(const uint32_t *to, const uint32_t *own, const uint32_t *own_counts) {
    for (size_t digit = 0; digit < RADIX; digit++) {
        const uint32_t count = own_counts[digit];
        SHARED_ANNOUNCE(to + own[digit] - count, count * sizeof *to);
    }
    SHARED_ANNOUNCE(own, RADIX * sizeof *own);
}

BENCH_TIMED static void timed_radix(const void *state) {
    (void)state;
    uint32_t *own_counts = counts + sharing_node() * RADIX;
    uint32_t *own = places + sharing_node() * RADIX;
    for (size_t pass = 0; pass < PASSES; pass++) {
        const uint32_t *part = arrays[pass % 2] + sharing_node() * (keys / sharing_nodes());
        uint32_t *to = arrays[(pass + 1) % 2];
        count_digits(part, own_counts, pass);
        sharing_barrier();
        find_places(own);
        permute(part, to, own, pass);
        announce_runs(to, own, own_counts);
        sharing_barrier();
    }
}

/* Each value as often as it stands in the keys, and in order. */
static void verify(struct verdict *verdict) {
    uint32_t *often = calloc(KEY_VALUES, sizeof *often);
    uint64_t state = RANDOM_SEED;
    if (!often) {
        cannot_run("no memory to sort the keys again; free some");
    }
    for (size_t i = 0; i < keys; i++) {
        often[next_key(&state)]++;
    }
    for (size_t i = 0, value = 0; i < keys; i++) {
        while (often[value] == 0) {
            value++;
        }
        often[value]--;
        verdict->wrong += arrays[0][i] != value;
        verdict->compared++;
    }
    free(often);
}

static size_t shared_bytes(void) {
    return keys * sizeof **arrays;
}

const struct program dsm_radix = {
    .name = "Radix",
    .refusal = refusal,
    .make = make,
    .reset = reset,
    .timed = timed_radix,
    .verify = verify,
    .shared_bytes = shared_bytes,
};
