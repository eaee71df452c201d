/* STREAM's four loops, once on static arrays that they name and once on arrays that they are given.
 * What becomes of them is the compiler's answer. */
#include "stream.h"

#ifdef STREAM_ARRAY_SIZE
#define CAPACITY ((size_t)(STREAM_ARRAY_SIZE))
#define STATIC_COUNT CAPACITY
#define EXACT true
#else
/* Three of them fit the small code model, and what is not touched costs no memory. */
#ifndef STREAM_CAPACITY_BYTES
#define STREAM_CAPACITY_BYTES (640 << 20)
#endif
#define CAPACITY ((size_t)(STREAM_CAPACITY_BYTES) / sizeof(double))
#define STATIC_COUNT n
#define EXACT false
#endif

_Static_assert(CAPACITY > 0 && CAPACITY % 8 == 0, "arrays must be whole cache lines of 64 bytes");

/* Hidden, which is as good as static. In common storage, which linkers put last: small variables
 * behind these arrays, of the harness or of a library, would be out of a code model's reach before
 * the arrays are. */
#define STATIC_ARRAY __attribute__((common, visibility("hidden"))) _Alignas(64)

STATIC_ARRAY double a[CAPACITY];
STATIC_ARRAY double b[CAPACITY];
STATIC_ARRAY double c[CAPACITY];

BENCH_TIMED static void timed_copy_static(size_t n, int threads) {
    (void)n;
    PARALLEL_FOR
    for (size_t i = 0; i < STATIC_COUNT; i++) {
        c[i] = a[i];
    }
}

BENCH_TIMED static void timed_scale_static(size_t n, int threads) {
    (void)n;
    PARALLEL_FOR
    for (size_t i = 0; i < STATIC_COUNT; i++) {
        b[i] = STREAM_SCALAR * c[i];
    }
}

BENCH_TIMED static void timed_add_static(size_t n, int threads) {
    (void)n;
    PARALLEL_FOR
    for (size_t i = 0; i < STATIC_COUNT; i++) {
        c[i] = a[i] + b[i];
    }
}

BENCH_TIMED static void timed_triad_static(size_t n, int threads) {
    (void)n;
    PARALLEL_FOR
    for (size_t i = 0; i < STATIC_COUNT; i++) {
        a[i] = b[i] + STREAM_SCALAR * c[i];
    }
}

BENCH_TIMED static void timed_copy_heap(double *restrict to, const double *restrict from,
                                        const double *restrict other, size_t n, int threads) {
    (void)other;
    PARALLEL_FOR
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i];
    }
}

BENCH_TIMED static void timed_scale_heap(double *restrict to, const double *restrict from,
                                         const double *restrict other, size_t n, int threads) {
    (void)other;
    PARALLEL_FOR
    for (size_t i = 0; i < n; i++) {
        to[i] = STREAM_SCALAR * from[i];
    }
}

BENCH_TIMED static void timed_add_heap(double *restrict to, const double *restrict from,
                                       const double *restrict other, size_t n, int threads) {
    PARALLEL_FOR
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i] + other[i];
    }
}

BENCH_TIMED static void timed_triad_heap(double *restrict to, const double *restrict from,
                                         const double *restrict other, size_t n, int threads) {
    PARALLEL_FOR
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i] + STREAM_SCALAR * other[i];
    }
}

static stream_static *const in_static[] = {
    [COPY] = timed_copy_static,
    [SCALE] = timed_scale_static,
    [ADD] = timed_add_static,
    [TRIAD] = timed_triad_static,
};

static stream_heap *const in_heap[] = {
    [COPY] = timed_copy_heap,
    [SCALE] = timed_scale_heap,
    [ADD] = timed_add_heap,
    [TRIAD] = timed_triad_heap,
};

BENCH_TIMED static void timed_static(const void *state) {
    const struct stream_work *work = state;
    work->in_static(work->count, work->threads);
}

BENCH_TIMED static void timed_heap(const void *state) {
    const struct stream_work *work = state;
    work->in_heap(work->to, work->from, work->other, work->count, work->threads);
}

bench_timed *loops_timed(enum stream_method method, enum stream_memory memory,
                         struct stream_work *work) {
    if (memory == STATIC) {
        work->in_static = in_static[method];
        return timed_static;
    }
    work->in_heap = in_heap[method];
    return timed_heap;
}

struct stream_arrays loops_arrays(void) {
    return (struct stream_arrays){.all = {a, b, c}, .elements = CAPACITY, .exact = EXACT};
}
