/* What the files of the kernel share: loops.c has STREAM's four loops, ceilings.c what is made of
 * vector instructions, stream.c everything that is not timed. */
#ifndef STREAM_H
#define STREAM_H

#include "bench.h"

enum stream_method {
    COPY,
    SCALE,
    ADD,
    TRIAD,
    COPY_NT,
    COPY_NT_256,
    COPY_MOVSB,
    READ,
    WRITE,
    WRITE_NT
};
enum stream_memory { STATIC, HEAP };

#define STREAM_SCALAR 3.0

/* The loop that comes next is shared among `threads`, always in the same way, so that each thread
 * finds what it touched first. Without OpenMP there is one. */
#ifdef _OPENMP
#define PARALLEL_FOR _Pragma("omp parallel for schedule(static) num_threads(threads)")
#else
#define PARALLEL_FOR (void)threads;
#endif

typedef void stream_static(size_t n, int threads);
typedef void stream_heap(double *restrict to, const double *restrict from,
                         const double *restrict other, size_t n, int threads);

struct stream_part {
    double *to;
    const double *from;
    size_t count;
    double value;            /* what WRITE and WRITE_NT write */
    _Alignas(64) double sum; /* what READ finds */
};

typedef void stream_body(struct stream_part *part);

struct stream_work {
    size_t count; /* elements of each array */
    int threads;
    union {
        stream_static *in_static;
        stream_heap *in_heap;
        stream_body *body;
    };
    double *to;
    const double *from;
    const double *other;
    struct stream_part *parts; /* one for each thread */
};

/* The static arrays a, b and c, and how many elements each of them has room for. */
struct stream_arrays {
    double *all[3];
    uint64_t elements;
    bool exact; /* the loops know the number: no other will do */
};
struct stream_arrays loops_arrays(void);

/* For one of STREAM's own methods: what is timed, its loop filled into `work`. */
bench_timed *loops_timed(enum stream_method method, enum stream_memory memory,
                         struct stream_work *work);

/* The same for the other methods; NULL where none was written for this architecture. */
bench_timed *ceilings_timed(enum stream_method method, struct stream_work *work);

/* Of the vectors that such a method works with; 0 if with none. */
uint64_t ceilings_vector_bits(enum stream_method method);

#endif
