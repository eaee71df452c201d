/* What a program of the NAS Parallel Benchmarks gives to nas.c, and what it may call. Sizes, seeds,
 * formulas and verification values are those of the benchmark's definition (NASA report
 * RNR-94-007 and its later additions). */
#ifndef NAS_PROGRAM_H
#define NAS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../mpi/mpi_calls.h"
#include "bench.h"

enum nas_class { CLASS_S, CLASS_W, CLASS_A, CLASS_B, CLASSES };

/* Of this process, once MPI has started. */
extern int nas_rank;
extern int nas_ranks;

enum { NAS_WORDS_BYTES = 160 };

/* What a verification found: each number that it compared, and the one that was furthest off. */
struct nas_verdict {
    uint64_t compared;
    uint64_t wrong;
    double worst_error;          /* relative */
    char words[NAS_WORDS_BYTES]; /* of the first that was wrong */
};

struct nas_program {
    const char *name;

    /* Why so many ranks cannot share a problem of this class; NULL: they can. */
    const char *(*refusal)(enum nas_class class, int ranks);

    /* All ranks call these together. */
    void (*make)(enum nas_class class); /* allocates and fills in what no repetition changes */
    void (*reset)(void);                /* before each repetition: the state that it begins with */
    bench_timed *timed;                 /* the part that the definition times */
    void (*verify)(struct nas_verdict *verdict); /* after it; what rank 0 finds counts */

    double (*operations)(enum nas_class class); /* in one repetition, as the definition counts */
};

extern const struct nas_program nas_ep;
extern const struct nas_program nas_is;
extern const struct nas_program nas_cg;
extern const struct nas_program nas_mg;
extern const struct nas_program nas_lu;
extern const struct nas_program nas_sp;
extern const struct nas_program nas_bt;

/* Memory of a point, on a cache line, never NULL. All of it is freed at once. */
void *nas_room(size_t count, size_t bytes);
void nas_rooms_free(void);

/* Whether a value is what the definition has, up to a relative error. */
void nas_compare(struct nas_verdict *verdict, const char *name, double value, double defined,
                 double tolerance);

bool nas_is_power_of_two(int ranks);

/* For loops whose steps do not touch what others write. */
#if defined(__clang__)
#define NAS_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define NAS_INDEPENDENT _Pragma("GCC ivdep")
#endif

#endif
