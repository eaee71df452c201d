/* Words: each node counts in eight words of its own, whose distance from the next node's words is
 * the problem's size in bytes, and all meet after each round. No two nodes write into one word, but
 * with less than a page between them they write into one page.
 *
 * With pages, R rounds and two nodes on one page, the node that is not its home fetches, copies and
 * compares it in each round: R fetches, R twins, R diffs, and 3 R faults (a read and a write there,
 * a write at home). With a page for each node: no fetch, twin or diff, and 2 R faults. */
#include <string.h>

#include "program.h"

enum { ROUNDS = 200, WORDS = 8, APART_MOST = 1 << 20 };

static size_t apart;
static unsigned char *first;

static const char *refusal(uint64_t size, size_t nodes) {
    (void)nodes;
    return size == 0 || size % (WORDS * sizeof(uint32_t)) != 0 || size > APART_MOST
               ? "give a multiple of 32, at most 1048576"
               : NULL;
}

static void make(uint64_t size) {
    apart = size;
    first = sharing_room(sharing_nodes() * apart);
}

static uint32_t *words_of(size_t node) {
    return (uint32_t *)(void *)(first + node * apart);
}

/* The node whose words begin the page, or are on it. */
static size_t home(const void *shared) {
    return (size_t)((const unsigned char *)shared - first) / apart % sharing_nodes();
}

static void reset(void) {
    memset(sharing_raw(first), 0, sharing_nodes() * apart);
    sharing_settle(home);
}

BENCH_TIMED static void timed_words(const void *state) {
    (void)state;
    uint32_t *own = words_of(sharing_node());
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t word = 0; word < WORDS; word++) {
            SHARED_STORE(own[word], own[word] + 1);
        }
        SHARED_ANNOUNCE(own, WORDS * sizeof *own);
        sharing_barrier();
    }
}

static void verify(struct verdict *verdict) {
    for (size_t node = 0; node < sharing_nodes(); node++) {
        for (size_t word = 0; word < WORDS; word++) {
            verdict->wrong += words_of(node)[word] != ROUNDS;
            verdict->compared++;
        }
    }
}

static size_t shared_bytes(void) {
    return sharing_nodes() * apart;
}

const struct program dsm_words = {
    .name = "Words",
    .refusal = refusal,
    .make = make,
    .reset = reset,
    .timed = timed_words,
    .verify = verify,
    .shared_bytes = shared_bytes,
};
