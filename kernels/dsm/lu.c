/* LU-Contig: a dense matrix is factored in place, without pivoting, into a lower triangle with ones
 * on its diagonal and an upper one. It is cut into blocks of 16 by 16, each in one piece of memory
 * and owned by the node at its place of a grid of nodes that repeats; only the owner writes it.
 *
 * With n rows, b rows a block and N = n / b: step K of N factors the diagonal block; all meet;
 * divides the blocks below it and changes those on its right; all meet; changes all blocks below
 * and on the right. So the nodes meet 2 N + 1 times. Each element right of or below the diagonal is
 * written once for each earlier step of elimination: in all
 *
 *     stores = (n^3 - n) / 3          announcements = N (N + 1) (2 N + 1) / 6
 *
 * the latter because step K touches (N - K)^2 blocks. The source counts 5592 K and 1.43 K for
 * n = 512 and b = 16: an eighth of 44,739 K and 11,440, as each of eight nodes counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../nas/random.h"
#include "program.h"

enum { B = 16, BLOCK = B * B, N_MOST = 2048 };

static size_t n;
static size_t blocks; /* in a row */
static size_t grid_rows;
static size_t grid_columns;
static double *matrix;

static const char *refusal(uint64_t size, size_t nodes) {
    (void)nodes;
    return size == 0 || size % B != 0 || size > N_MOST ? "give a multiple of 16, at most 2048"
                                                       : NULL;
}

static double *block_at(size_t row, size_t column) {
    return matrix + (row * blocks + column) * BLOCK;
}

static size_t owner_of(size_t row, size_t column) {
    return row % grid_rows * grid_columns + column % grid_columns;
}

static bool is_own(size_t row, size_t column) {
    return owner_of(row, column) == sharing_node();
}

static void make(uint64_t size) {
    n = size;
    blocks = n / B;
    grid_rows = (size_t)sqrt((double)sharing_nodes());
    while (sharing_nodes() % grid_rows != 0) {
        grid_rows--;
    }
    grid_columns = sharing_nodes() / grid_rows;
    matrix = sharing_room(n * n * sizeof *matrix);
}

/* Large on the diagonal, so that nothing grows without pivoting. */
static double element(uint64_t *state, size_t row, size_t column) {
    return random_next(state) + (row == column ? (double)n : 0);
}

static size_t home(const void *shared) {
    const size_t block = (size_t)((const double *)shared - matrix) / BLOCK;
    return block < blocks * blocks ? owner_of(block / blocks, block % blocks) : 0;
}

static void reset(void) {
    double *raw = sharing_raw(matrix);
    uint64_t state = RANDOM_SEED;
    for (size_t row = 0; row < n; row++) {
        for (size_t column = 0; column < n; column++) {
            const size_t block = row / B * blocks + column / B;
            raw[block * BLOCK + row % B * B + column % B] = element(&state, row, column);
        }
    }
    sharing_settle(home);
}

/* --- Blocks, row by row in memory. */

static void factor(double *a) {
    for (size_t k = 0; k < B; k++) {
        for (size_t i = k + 1; i < B; i++) {
            SHARED_STORE(a[i * B + k], a[i * B + k] / a[k * B + k]);
            for (size_t j = k + 1; j < B; j++) {
                SHARED_STORE(a[i * B + j], a[i * B + j] - a[i * B + k] * a[k * B + j]);
            }
        }
    }
    SHARED_ANNOUNCE(a, BLOCK * sizeof *a);
}

/* By the upper triangle of the diagonal block, for blocks below it. */
static void divide(double *restrict a, const double *restrict diagonal) {
    for (size_t k = 0; k < B; k++) {
        for (size_t i = 0; i < B; i++) {
            SHARED_STORE(a[i * B + k], a[i * B + k] / diagonal[k * B + k]);
            for (size_t j = k + 1; j < B; j++) {
                SHARED_STORE(a[i * B + j], a[i * B + j] - a[i * B + k] * diagonal[k * B + j]);
            }
        }
    }
    SHARED_ANNOUNCE(a, BLOCK * sizeof *a);
}

/* By the lower triangle, for blocks on its right. */
static void modify_row(double *restrict a, const double *restrict diagonal) {
    for (size_t k = 0; k < B; k++) {
        for (size_t i = k + 1; i < B; i++) {
            for (size_t j = 0; j < B; j++) {
                SHARED_STORE(a[i * B + j], a[i * B + j] - diagonal[i * B + k] * a[k * B + j]);
            }
        }
    }
    SHARED_ANNOUNCE(a, BLOCK * sizeof *a);
}

static void modify(double *restrict a, const double *restrict left, const double *restrict above) {
    for (size_t k = 0; k < B; k++) {
        for (size_t i = 0; i < B; i++) {
            for (size_t j = 0; j < B; j++) {
                SHARED_STORE(a[i * B + j], a[i * B + j] - left[i * B + k] * above[k * B + j]);
            }
        }
    }
    SHARED_ANNOUNCE(a, BLOCK * sizeof *a);
}

/* --- The whole. */

static void change_perimeter(size_t step) {
    const double *diagonal = block_at(step, step);
    for (size_t at = step + 1; at < blocks; at++) {
        if (is_own(at, step)) {
            divide(block_at(at, step), diagonal);
        }
        if (is_own(step, at)) {
            modify_row(block_at(step, at), diagonal);
        }
        sharing_poll();
    }
}

static void change_interior(size_t step) {
    for (size_t row = step + 1; row < blocks; row++) {
        for (size_t column = step + 1; column < blocks; column++) {
            if (is_own(row, column)) {
                modify(block_at(row, column), block_at(row, step), block_at(step, column));
            }
        }
        sharing_poll();
    }
}

BENCH_TIMED static void timed_lu(const void *state) {
    (void)state;
    for (size_t step = 0; step < blocks; step++) {
        if (is_own(step, step)) {
            factor(block_at(step, step));
        }
        sharing_barrier();
        change_perimeter(step);
        sharing_barrier();
        change_interior(step);
    }
    sharing_barrier();
}

/* --- Verification: row by row, without blocks. Each element has the same operations in the same
 * order, so that what differs is how a compiler rounds products within sums: at most n of these. */

static double *solve_alone(void) {
    double *a = malloc(n * n * sizeof *a);
    uint64_t state = RANDOM_SEED;
    if (!a) {
        cannot_run("no memory to factor the matrix again; take a smaller one");
    }
    for (size_t i = 0; i < n * n; i++) {
        a[i] = element(&state, i / n, i % n);
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t i = k + 1; i < n; i++) {
            const double factor = a[i * n + k] /= a[k * n + k];
            for (size_t j = k + 1; j < n; j++) {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    return a;
}

static void verify(struct verdict *verdict) {
    double *alone = solve_alone();
    const double largest = (double)n + 1;
    for (size_t row = 0; row < n; row++) {
        for (size_t column = 0; column < n; column++) {
            const double own = block_at(row / B, column / B)[row % B * B + column % B];
            const double error = fabs(own - alone[row * n + column]) / largest;
            verdict->wrong += !(error <= (double)n * 0x1p-52);
            verdict->worst_error = fmax(verdict->worst_error, error);
            verdict->compared++;
        }
    }
    free(alone);
}

static size_t shared_bytes(void) {
    return n * n * sizeof *matrix;
}

const struct program dsm_lu = {
    .name = "LU-Contig",
    .refusal = refusal,
    .make = make,
    .reset = reset,
    .timed = timed_lu,
    .verify = verify,
    .shared_bytes = shared_bytes,
};
