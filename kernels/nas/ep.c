/* EP: pairs of random numbers, of which those within the unit circle become Gaussian deviates. */
#include <math.h>
#include <string.h>

#include "program.h"
#include "random.h"

#define SEED UINT64_C(271828183)

enum { BLOCK_PAIRS = 1 << 16, BATCH_PAIRS = 1 << 10, ANNULI = 10 };

static const struct {
    int log_pairs;
    double x_sum;
    double y_sum;
} problems[CLASSES] = {
    [CLASS_S] = {24, -3.247834652034740e+3, -6.958407078382297e+3},
    [CLASS_W] = {25, -2.863319731645753e+3, -6.320053679109499e+3},
    [CLASS_A] = {28, -4.295875165629892e+3, -1.580732573678431e+4},
    [CLASS_B] = {30, 4.033815542441498e+4, -2.660669192809235e+4},
};

/* Of all ranks, once they are added. */
static struct {
    double x;
    double y;
    double annuli[ANNULI];
} sums;

static enum nas_class class;

static const char *refusal(enum nas_class unused, int ranks) {
    (void)unused;
    (void)ranks;
    return NULL;
}

static void make(enum nas_class wanted) {
    class = wanted;
}

static void reset(void) {
    memset(&sums, 0, sizeof sums);
}

/* In two steps, because a branch on a random number is mispredicted: first those pairs are kept
 * that lie in the circle, then each of them is transformed. */
static uint64_t add_batch(uint64_t x) {
    double kept_x[BATCH_PAIRS];
    double kept_y[BATCH_PAIRS];
    double squares[BATCH_PAIRS];
    size_t kept = 0;
    for (int pair = 0; pair < BATCH_PAIRS; pair++) {
        const double first = 2 * random_next(&x) - 1;
        const double second = 2 * random_next(&x) - 1;
        const double square = first * first + second * second;
        kept_x[kept] = first;
        kept_y[kept] = second;
        squares[kept] = square;
        kept += square <= 1;
    }
    for (size_t i = 0; i < kept; i++) {
        const double scale = sqrt(-2 * log(squares[i]) / squares[i]);
        const double x_deviate = kept_x[i] * scale;
        const double y_deviate = kept_y[i] * scale;
        const double larger = fmax(fabs(x_deviate), fabs(y_deviate));
        sums.annuli[(int)larger]++;
        sums.x += x_deviate;
        sums.y += y_deviate;
    }
    return x;
}

/* Where a rank's blocks begin. */
static uint64_t first_block(uint64_t blocks, uint64_t rank) {
    const uint64_t ranks = (uint64_t)nas_ranks;
#if defined(NAS_UNEVEN)
    /* For the control of an imbalance: the first rank has half as much again as its share. */
    const uint64_t more = ranks > 1 ? blocks / ranks / 2 : 0;
    return rank == 0 || ranks == 1
               ? rank * blocks
               : blocks / ranks + more +
                     (blocks - blocks / ranks - more) * (rank - 1) / (ranks - 1);
#else
    return blocks * rank / ranks;
#endif
}

BENCH_TIMED static void timed_ep(const void *state) {
    (void)state;
    const uint64_t blocks = UINT64_C(1) << (problems[class].log_pairs - 16);
    const uint64_t first = first_block(blocks, (uint64_t)nas_rank);
    const uint64_t end = first_block(blocks, (uint64_t)nas_rank + 1);
    uint64_t x = random_after(SEED, first * 2 * BLOCK_PAIRS);
    for (uint64_t block = first; block < end; block++) {
        for (int batch = 0; batch < BLOCK_PAIRS / BATCH_PAIRS; batch++) {
            x = add_batch(x);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &sums, sizeof sums / sizeof(double), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
}

static void verify(struct nas_verdict *verdict) {
    nas_compare(verdict, "the sum of x", sums.x, problems[class].x_sum, 1e-8);
    nas_compare(verdict, "the sum of y", sums.y, problems[class].y_sum, 1e-8);
}

static double operations(enum nas_class of) {
    return ldexp(1, problems[of].log_pairs + 1);
}

const struct nas_program nas_ep = {
    .name = "ep",
    .refusal = refusal,
    .make = make,
    .reset = reset,
    .timed = timed_ep,
    .verify = verify,
    .operations = operations,
};
