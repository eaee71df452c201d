/* CG: the smallest eigenvalue of a sparse matrix by the power method, with 25 steps of conjugate
 * gradients in each of its iterations. The ranks form a grid of rows and columns, as many columns
 * as rows or twice as many; each has one block of the matrix. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "random.h"

enum { STEPS = 25, GRID_MOST = 6, TAG_PART = 1, TAG_TURNED, TAG_SUM };

#define CONDITION 0.1

static const struct {
    int rows;
    int nonzeros; /* in each of the vectors that the matrix is made of */
    int iterations;
    double shift;
    double zeta;
} problems[CLASSES] = {
    [CLASS_S] = {1400, 7, 15, 10, 8.5971775078648},
    [CLASS_W] = {7000, 8, 15, 12, 10.362595087124},
    [CLASS_A] = {14000, 11, 15, 20, 17.130235054029},
    [CLASS_B] = {75000, 13, 75, 60, 22.712745482631},
};

static enum nas_class class;

/* The grid of ranks, and this rank's block of the matrix. */
static struct {
    int columns; /* of ranks */
    int log_columns;
    int first_row;
    int rows;
    int first_column;
    int matrix_columns;
    int partners[GRID_MOST]; /* within the row of ranks, from the nearest on */
    bool is_square;
    int turned_rank; /* which needs the part of a product that this rank has */
    int part_first;  /* of the rows: the part that is this rank's when a product is summed */
    int part_rows;
} grid;

static struct {
    int *row_starts;
    int *columns; /* within the block */
    double *values;
} matrix;

/* Each rank has those parts of vectors that meet its columns. */
static double *x, *z, *r, *p, *q;
static double *products; /* of its rows */
static double *incoming;
static double zeta;

static const char *refusal(enum nas_class of, int ranks) {
    return nas_is_power_of_two(ranks) && problems[of].rows % (2 * ranks) == 0
               ? NULL
               : "CG divides its matrix among 1, 2 or 4 ranks";
}

static void make_grid(void) {
    const int n = problems[class].rows;
    int log_ranks = 0;
    while (1 << log_ranks < nas_ranks) {
        log_ranks++;
    }
    const int grid_rows = 1 << log_ranks / 2;
    grid.log_columns = log_ranks - log_ranks / 2;
    grid.columns = 1 << grid.log_columns;
    grid.is_square = grid_rows == grid.columns;
    const int row = nas_rank / grid.columns;
    const int column = nas_rank % grid.columns;
    grid.rows = n / grid_rows;
    grid.first_row = row * grid.rows;
    grid.matrix_columns = n / grid.columns;
    grid.first_column = column * grid.matrix_columns;
    for (int step = 0; step < grid.log_columns; step++) {
        grid.partners[step] = nas_rank ^ 1 << step;
    }
    grid.part_rows = grid.is_square ? grid.rows : grid.rows / 2;
    grid.part_first = grid.is_square ? 0 : nas_rank % 2 * grid.part_rows;
    grid.turned_rank = grid.is_square ? column * grid_rows + row
                                      : 2 * (column / 2 * grid_rows + row) + nas_rank % 2;
}

/* The vectors whose outer products add up to the matrix, all of them on each rank. */
struct sparse_vectors {
    int most; /* elements of each */
    int *counts;
    int *places;
    double *values;
};

static void generate_vector(uint64_t *seed, int n, int power, int wanted, int own_place, int *count,
                            int *places, double *values) {
    int made = 0;
    while (made < wanted) {
        const double value = random_next(seed);
        const int place = (int)(power * random_next(seed));
        bool is_new = place < n;
        for (int i = 0; i < made && is_new; i++) {
            is_new = places[i] != place;
        }
        if (is_new) {
            places[made] = place;
            values[made++] = value;
        }
    }
    int own = 0;
    while (own < made && places[own] != own_place) {
        own++;
    }
    places[own] = own_place;
    values[own] = 0.5;
    *count = own == made ? made + 1 : made;
}

static void generate_vectors(struct sparse_vectors *vectors) {
    const int n = problems[class].rows;
    uint64_t seed = RANDOM_SEED;
    (void)random_next(&seed); /* the definition takes one first */
    int power = 1;
    while (power < n) {
        power *= 2;
    }
    vectors->most = problems[class].nonzeros + 1;
    const size_t all = (size_t)n * (size_t)vectors->most;
    vectors->counts = nas_room((size_t)n, sizeof *vectors->counts);
    vectors->places = nas_room(all, sizeof *vectors->places);
    vectors->values = nas_room(all, sizeof *vectors->values);
    for (int i = 0; i < n; i++) {
        const size_t first = (size_t)i * (size_t)vectors->most;
        generate_vector(&seed, n, power, problems[class].nonzeros, i, &vectors->counts[i],
                        vectors->places + first, vectors->values + first);
    }
}

static bool is_own_row(int row) {
    return row >= grid.first_row && row < grid.first_row + grid.rows;
}

static int by_number(const void *left, const void *right) {
    const int a = *(const int *)left;
    const int b = *(const int *)right;
    return (a > b) - (a < b);
}

/* Which vectors have an element in each of this rank's rows: their numbers, row after row. */
static void find_vectors_of_rows(const struct sparse_vectors *vectors, int *starts, int *numbers) {
    const int n = problems[class].rows;
    memset(starts, 0, (size_t)(grid.rows + 1) * sizeof *starts);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++) {
            const int *places = vectors->places + (size_t)i * (size_t)vectors->most;
            for (int e = 0; e < vectors->counts[i]; e++) {
                if (!is_own_row(places[e])) {
                    continue;
                }
                const int row = places[e] - grid.first_row;
                if (pass == 0) {
                    starts[row + 1]++;
                } else {
                    numbers[starts[row]++] = i;
                }
            }
        }
        for (int row = 0; row < grid.rows && pass == 0; row++) {
            starts[row + 1] += starts[row];
        }
    }
    memmove(starts + 1, starts, (size_t)grid.rows * sizeof *starts);
    starts[0] = 0;
}

/* One row: the sum over its vectors, in dense form, and which columns are not zero. */
static int sum_row(const struct sparse_vectors *vectors, const double *weights, int row,
                   const int *numbers, int count, double *dense, int *touched) {
    int found = 0;
    for (int v = 0; v < count; v++) {
        const int number = numbers[v];
        const size_t first = (size_t)number * (size_t)vectors->most;
        const int *const places = vectors->places + first;
        const double *const values = vectors->values + first;
        double scale = 0;
        for (int e = 0; e < vectors->counts[number]; e++) {
            scale = places[e] == row ? weights[number] * values[e] : scale;
        }
        for (int e = 0; e < vectors->counts[number]; e++) {
            const int column = places[e] - grid.first_column;
            if (column < 0 || column >= grid.matrix_columns) {
                continue;
            }
            if (dense[column] == 0) {
                touched[found++] = column;
            }
            dense[column] += values[e] * scale;
            if (places[e] == row && number == row) {
                dense[column] += CONDITION - problems[class].shift;
            }
        }
    }
    qsort(touched, (size_t)found, sizeof *touched, by_number);
    return found;
}

static void make_matrix(void) {
    const int n = problems[class].rows;
    struct sparse_vectors vectors;
    generate_vectors(&vectors);
    double *const weights = nas_room((size_t)n, sizeof *weights);
    const double ratio = pow(CONDITION, 1.0 / n);
    double weight = 1;
    for (int i = 0; i < n; i++) {
        weights[i] = weight;
        weight *= ratio;
    }
    int *const starts = nas_room((size_t)grid.rows + 1, sizeof *starts);
    int *const numbers = nas_room((size_t)n * (size_t)vectors.most, sizeof *numbers);
    find_vectors_of_rows(&vectors, starts, numbers);
    const size_t most = (size_t)starts[grid.rows] * (size_t)vectors.most;
    matrix.row_starts = nas_room((size_t)grid.rows + 1, sizeof *matrix.row_starts);
    matrix.columns = nas_room(most, sizeof *matrix.columns);
    matrix.values = nas_room(most, sizeof *matrix.values);
    double *const dense = nas_room((size_t)grid.matrix_columns, sizeof *dense);
    int *const touched = nas_room((size_t)grid.matrix_columns, sizeof *touched);
    int filled = 0;
    for (int row = 0; row < grid.rows; row++) {
        const int found = sum_row(&vectors, weights, grid.first_row + row, numbers + starts[row],
                                  starts[row + 1] - starts[row], dense, touched);
        for (int i = 0; i < found; i++) {
            matrix.columns[filled] = touched[i];
            matrix.values[filled++] = dense[touched[i]];
            dense[touched[i]] = 0;
        }
        matrix.row_starts[row + 1] = filled;
    }
}

static void make(enum nas_class wanted) {
    class = wanted;
    make_grid();
    make_matrix();
    const size_t columns = (size_t)grid.matrix_columns;
    x = nas_room(columns, sizeof *x);
    z = nas_room(columns, sizeof *z);
    r = nas_room(columns, sizeof *r);
    p = nas_room(columns, sizeof *p);
    q = nas_room(columns, sizeof *q);
    products = nas_room((size_t)grid.rows, sizeof *products);
    incoming = nas_room((size_t)grid.rows, sizeof *incoming);
}

static void reset(void) {
    for (int i = 0; i < grid.matrix_columns; i++) {
        x[i] = 1;
    }
    zeta = 0;
}

static void swap(const double *out, int out_count, double *in, int in_count, int partner, int tag) {
    MPI_Request request;
    MPI_Irecv(in, in_count, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, &request);
    MPI_Send(out, out_count, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Over a row of ranks, which has all columns; each row of ranks does the same. */
static void sum_over_ranks(double *values, int count) {
    double theirs[2];
    for (int step = grid.log_columns - 1; step >= 0; step--) {
        swap(values, count, theirs, count, grid.partners[step], TAG_SUM);
        for (int i = 0; i < count; i++) {
            values[i] += theirs[i];
        }
    }
}

static void multiply_block(const double *restrict vector, double *restrict result) {
    const int *const restrict columns = matrix.columns;
    const double *const restrict values = matrix.values;
    for (int row = 0; row < grid.rows; row++) {
        const int end = matrix.row_starts[row + 1];
        int i = matrix.row_starts[row];
        /* Four sums, so that an addition does not wait for the one before. */
        double sums[4] = {0};
        for (; i + 4 <= end; i += 4) {
            sums[0] += values[i] * vector[columns[i]];
            sums[1] += values[i + 1] * vector[columns[i + 1]];
            sums[2] += values[i + 2] * vector[columns[i + 2]];
            sums[3] += values[i + 3] * vector[columns[i + 3]];
        }
        for (; i < end; i++) {
            sums[0] += values[i] * vector[columns[i]];
        }
        result[row] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
}

/* The parts of all ranks in this row are summed; where a row of ranks is twice as long as a column,
 * the nearest two halve the work first. */
static void sum_products(void) {
    double *const part = products + grid.part_first;
    for (int step = 0; step < grid.log_columns; step++) {
        const bool is_halved = step == 0 && !grid.is_square;
        const double *const out = is_halved ? products + (grid.part_rows - grid.part_first) : part;
        swap(out, grid.part_rows, incoming, grid.part_rows, grid.partners[step], TAG_PART);
        for (int i = 0; i < grid.part_rows; i++) {
            part[i] += incoming[i];
        }
    }
}

static void multiply(const double *vector, double *result) {
    if (nas_ranks == 1) {
        multiply_block(vector, result);
        return;
    }
    multiply_block(vector, products);
    sum_products();
    const double *const part = products + grid.part_first;
    if (grid.turned_rank == nas_rank) {
        memcpy(result, part, (size_t)grid.part_rows * sizeof *result);
    } else {
        swap(part, grid.part_rows, result, grid.matrix_columns, grid.turned_rank, TAG_TURNED);
    }
}

static double dot(const double *restrict left, const double *restrict right) {
    double sums[4] = {0};
    int i = 0;
    for (; i + 4 <= grid.matrix_columns; i += 4) {
        for (int part = 0; part < 4; part++) {
            sums[part] += left[i + part] * right[i + part];
        }
    }
    for (; i < grid.matrix_columns; i++) {
        sums[0] += left[i] * right[i];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static double dot_of_ranks(const double *left, const double *right) {
    double sum = dot(left, right);
    sum_over_ranks(&sum, 1);
    return sum;
}

/* Solves A z = x as far as the steps go; returns the length of what remains. */
static double solve(void) {
    const int n = grid.matrix_columns;
    for (int i = 0; i < n; i++) {
        z[i] = 0;
        r[i] = x[i];
        p[i] = x[i];
    }
    double rho = dot_of_ranks(r, r);
    for (int step = 0; step < STEPS; step++) {
        multiply(p, q);
        const double alpha = rho / dot_of_ranks(p, q);
        for (int i = 0; i < n; i++) {
            z[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        const double before = rho;
        rho = dot_of_ranks(r, r);
        const double beta = rho / before;
        for (int i = 0; i < n; i++) {
            p[i] = r[i] + beta * p[i];
        }
    }
    multiply(z, r);
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += (x[i] - r[i]) * (x[i] - r[i]);
    }
    sum_over_ranks(&sum, 1);
    return sqrt(sum);
}

BENCH_TIMED static void timed_cg(const void *state) {
    (void)state;
    for (int iteration = 0; iteration < problems[class].iterations; iteration++) {
        (void)solve();
        double sums[2] = {dot(x, z), dot(z, z)};
        sum_over_ranks(sums, 2);
        zeta = problems[class].shift + 1 / sums[0];
        const double scale = 1 / sqrt(sums[1]);
        for (int i = 0; i < grid.matrix_columns; i++) {
            x[i] = scale * z[i];
        }
    }
}

static void verify(struct nas_verdict *verdict) {
    nas_compare(verdict, "zeta", zeta, problems[class].zeta, 1e-10);
}

static double operations(enum nas_class of) {
    const double filled = problems[of].nonzeros * (problems[of].nonzeros + 1.0);
    return 2.0 * problems[of].iterations * problems[of].rows *
           (3 + filled + STEPS * (5 + filled) + 3);
}

const struct nas_program nas_cg = {
    .name = "cg",
    .refusal = refusal,
    .make = make,
    .reset = reset,
    .timed = timed_cg,
    .verify = verify,
    .operations = operations,
};
