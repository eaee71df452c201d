#define _GNU_SOURCE
#include "ways.h"

#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cannot_run.h"

enum { SPARE_BYTES = 100 << 10 }; /* little enough for malloc to take it from the heap */

static inline struct piece *piece_of(const void *state) {
    return *(struct piece *const *)state;
}

/* What comes after the getting itself, and is timed with it. */
static inline void take(struct piece *piece, void *first) {
    piece->first = first;
    if (piece->advises) {
        piece->failed |= madvise(first, piece->bytes, MADV_HUGEPAGE) != 0;
    }
    if (piece->touches) {
        volatile unsigned char *bytes = first;
        for (uint64_t at = 0; at < piece->bytes; at += piece->page_bytes) {
            bytes[at] = WAY_MARK;
        }
    }
}

static inline void map(struct piece *piece, int flags) {
    void *first = mmap(NULL, piece->bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    piece->failed = first == MAP_FAILED;
    if (!piece->failed) {
        take(piece, first);
    }
}

static inline void unmap(struct piece *piece) {
    piece->failed = munmap(piece->first, piece->bytes) != 0;
}

static inline void grow(struct piece *piece) {
    void *first = sbrk((intptr_t)piece->bytes);
    piece->failed = (intptr_t)first == -1;
    if (!piece->failed) {
        take(piece, first);
    }
}

static inline void shrink(struct piece *piece) {
    piece->failed = (intptr_t)sbrk(-(intptr_t)piece->bytes) == -1;
}

static inline void allocate(struct piece *piece) {
    void *first = malloc(piece->bytes);
    piece->failed = !first;
    if (!piece->failed) {
        take(piece, first);
    }
}

static inline void release(struct piece *piece) {
    free(piece->first);
    piece->failed = false;
}

BENCH_TIMED static void timed_get_mmap(const void *state) {
    map(piece_of(state), 0);
}

BENCH_TIMED static void timed_give_mmap(const void *state) {
    unmap(piece_of(state));
}

BENCH_TIMED static void timed_pair_mmap(const void *state) {
    map(piece_of(state), 0);
    if (!piece_of(state)->failed) {
        unmap(piece_of(state));
    }
}

BENCH_TIMED static void timed_get_populate(const void *state) {
    map(piece_of(state), MAP_POPULATE);
}

BENCH_TIMED static void timed_give_populate(const void *state) {
    unmap(piece_of(state));
}

BENCH_TIMED static void timed_pair_populate(const void *state) {
    map(piece_of(state), MAP_POPULATE);
    if (!piece_of(state)->failed) {
        unmap(piece_of(state));
    }
}

BENCH_TIMED static void timed_get_sbrk(const void *state) {
    grow(piece_of(state));
}

BENCH_TIMED static void timed_give_sbrk(const void *state) {
    shrink(piece_of(state));
}

BENCH_TIMED static void timed_pair_sbrk(const void *state) {
    grow(piece_of(state));
    if (!piece_of(state)->failed) {
        shrink(piece_of(state));
    }
}

BENCH_TIMED static void timed_get_malloc(const void *state) {
    allocate(piece_of(state));
}

BENCH_TIMED static void timed_give_malloc(const void *state) {
    release(piece_of(state));
}

BENCH_TIMED static void timed_pair_malloc(const void *state) {
    allocate(piece_of(state));
    if (!piece_of(state)->failed) {
        release(piece_of(state));
    }
}

const struct way ways[] = {
    [WAY_MMAP] = {"mmap", timed_get_mmap, timed_give_mmap, timed_pair_mmap, true, true},
    [WAY_POPULATE] = {"populate", timed_get_populate, timed_give_populate, timed_pair_populate,
                      true, false},
    [WAY_SBRK] = {"sbrk", timed_get_sbrk, timed_give_sbrk, timed_pair_sbrk, true, true},
    [WAY_MALLOC] = {"malloc", timed_get_malloc, timed_give_malloc, timed_pair_malloc, false, false},
    {0},
};

/* The C library's own allocator grows at the same break. It gets beforehand what it may need, and
 * gives nothing back, so that nobody else moves the break. */
static void settle_break(uint64_t page_bytes) {
    (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
    void *volatile spare = malloc(SPARE_BYTES);
    void *volatile more = malloc(SPARE_BYTES);
    free(more);
    free(spare);
    const uint64_t past = (uintptr_t)sbrk(0) % page_bytes;
    if (past > 0 && (intptr_t)sbrk((intptr_t)(page_bytes - past)) == -1) {
        cannot_run("the heap cannot grow by a page; raise the limit of data or address space");
    }
}

void ways_open(const struct way *way, uint64_t page_bytes) {
    if (way == &ways[WAY_SBRK]) {
        settle_break(page_bytes);
    }
}

const unsigned char *ways_break(void) {
    return sbrk(0);
}
