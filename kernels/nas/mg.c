/* MG: V-cycles of multigrid for a Poisson equation on a periodic grid, whose right side is 1 at ten
 * points, -1 at ten, and 0 elsewhere. Each rank has a box of each grid, and a layer of the
 * neighbours' points around it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "random.h"

enum { LEVELS_MOST = 9, AXES = 3, EXTREMES = 10, LINE_MOST = (1 << 8) + 2, TAG_LAYER = 1 };

static const struct {
    int log_points; /* along each axis */
    int iterations;
    double norm;
} problems[CLASSES] = {
    [CLASS_S] = {5, 4, 0.5307707005734e-04},
    [CLASS_W] = {7, 4, 0.6467329375339e-05},
    [CLASS_A] = {8, 4, 0.2433365309069e-05},
    [CLASS_B] = {8, 20, 0.1800564401355e-05},
};

/* Of the operator, and of the smoother: for the point, its faces, edges and corners. */
static const double operator_weights[] = {-8.0 / 3.0, 0, 1.0 / 6.0, 1.0 / 12.0};
static const double small_weights[] = {-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0, 0};
static const double large_weights[] = {-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0, 0};

/* This rank's box at one level. Axis 0 is the one along which points lie side by side in memory. */
struct box {
    int points[AXES]; /* without the layers */
    int sides[AXES];  /* with them */
    double *u;        /* the solution, or its correction */
    double *r;        /* the residual */
};

static enum nas_class class;
static int top; /* level of the finest grid */
static struct box boxes[LEVELS_MOST];
static double *v; /* the right side */
static int ranks_along[AXES];
static int place_along[AXES];
static int neighbours[AXES][2];
static double *layers_out[2];
static double *layers_in[2];
static double norm;

static const char *refusal(enum nas_class of, int ranks) {
    (void)of;
    return nas_is_power_of_two(ranks) && ranks <= 1 << AXES
               ? NULL
               : "MG divides its grid among 1, 2, 4 or 8 ranks";
}

static int rank_at(int axis, int place) {
    int at[AXES];
    memcpy(at, place_along, sizeof at);
    at[axis] = (place + ranks_along[axis]) % ranks_along[axis];
    return (at[2] * ranks_along[1] + at[1]) * ranks_along[0] + at[0];
}

/* Two ranks along the last axis, four along the last two, eight along all. */
static void make_ranks(void) {
    for (int axis = 0; axis < AXES; axis++) {
        ranks_along[axis] = nas_ranks >= 1 << (AXES - axis) ? 2 : 1;
    }
    place_along[0] = nas_rank % ranks_along[0];
    place_along[1] = nas_rank / ranks_along[0] % ranks_along[1];
    place_along[2] = nas_rank / ranks_along[0] / ranks_along[1];
    for (int axis = 0; axis < AXES; axis++) {
        neighbours[axis][0] = rank_at(axis, place_along[axis] - 1);
        neighbours[axis][1] = rank_at(axis, place_along[axis] + 1);
    }
}

static size_t volume(const struct box *box) {
    return (size_t)box->sides[0] * (size_t)box->sides[1] * (size_t)box->sides[2];
}

static size_t row_of(const struct box *box, int j, int k) {
    return ((size_t)k * (size_t)box->sides[1] + (size_t)j) * (size_t)box->sides[0];
}

static int by_size(const void *left, const void *right) {
    const double a = ((const double *)left)[0];
    const double b = ((const double *)right)[0];
    return (a > b) - (a < b);
}

/* A number of the random field, and where it is. */
struct extreme {
    double value;
    double number; /* of the point, counted through the whole grid; exact up to 2^53 */
};

/* Keeps the ten largest; `sign` is -1 for the smallest. */
static void keep_extreme(struct extreme *kept, double value, double number, double sign) {
    if (sign * value <= sign * kept[0].value) {
        return;
    }
    int i = 0;
    for (; i + 1 < EXTREMES && sign * kept[i + 1].value < sign * value; i++) {
        kept[i] = kept[i + 1];
    }
    kept[i] = (struct extreme){value, number};
}

static void find_extremes(struct extreme *largest, struct extreme *smallest) {
    const struct box *box = &boxes[top];
    const uint64_t side = UINT64_C(1) << top;
    for (int i = 0; i < EXTREMES; i++) {
        largest[i] = (struct extreme){-1, 0};
        smallest[i] = (struct extreme){2, 0};
    }
    for (int k = 0; k < box->points[2]; k++) {
        for (int j = 0; j < box->points[1]; j++) {
            const uint64_t k_all = (uint64_t)(place_along[2] * box->points[2] + k);
            const uint64_t j_all = (uint64_t)(place_along[1] * box->points[1] + j);
            const uint64_t i_all = (uint64_t)(place_along[0] * box->points[0]);
            const uint64_t first = (k_all * side + j_all) * side + i_all;
            uint64_t seed = random_after(RANDOM_SEED, first);
            for (int i = 0; i < box->points[0]; i++) {
                const double value = random_next(&seed);
                const double number = (double)(first + (uint64_t)i);
                keep_extreme(largest, value, number, 1);
                keep_extreme(smallest, value, number, -1);
            }
        }
    }
}

static void set_point(double number, double value) {
    const struct box *box = &boxes[top];
    uint64_t left = (uint64_t)number;
    int at[AXES];
    for (int axis = 0; axis < AXES; axis++) {
        at[axis] = (int)(left & ((UINT64_C(1) << top) - 1)) - place_along[axis] * box->points[axis];
        left >>= top;
        if (at[axis] < 0 || at[axis] >= box->points[axis]) {
            return;
        }
    }
    v[row_of(box, at[1] + 1, at[2] + 1) + (size_t)at[0] + 1] = value;
}

static void pack(const struct box *box, const double *grid, int axis, int at, double *layer) {
    size_t filled = 0;
    if (axis == 2) {
        memcpy(layer, grid + row_of(box, 0, at),
               (size_t)box->sides[0] * (size_t)box->sides[1] * sizeof *layer);
    } else {
        for (int k = 0; k < box->sides[2]; k++) {
            if (axis == 1) {
                memcpy(layer + filled, grid + row_of(box, at, k),
                       (size_t)box->sides[0] * sizeof *layer);
                filled += (size_t)box->sides[0];
            } else {
                for (int j = 0; j < box->sides[1]; j++) {
                    layer[filled++] = grid[row_of(box, j, k) + (size_t)at];
                }
            }
        }
    }
}

static void unpack(const struct box *box, double *grid, int axis, int at, const double *layer) {
    size_t used = 0;
    if (axis == 2) {
        memcpy(grid + row_of(box, 0, at), layer,
               (size_t)box->sides[0] * (size_t)box->sides[1] * sizeof *layer);
    } else {
        for (int k = 0; k < box->sides[2]; k++) {
            if (axis == 1) {
                memcpy(grid + row_of(box, at, k), layer + used,
                       (size_t)box->sides[0] * sizeof *layer);
                used += (size_t)box->sides[0];
            } else {
                for (int j = 0; j < box->sides[1]; j++) {
                    grid[row_of(box, j, k) + (size_t)at] = layer[used++];
                }
            }
        }
    }
}

static int layer_points(const struct box *box, int axis) {
    return box->sides[(axis + 1) % AXES] * box->sides[(axis + 2) % AXES];
}

/* The layer at one end is the first or last of the neighbour's points. */
static void exchange_axis(const struct box *box, double *grid, int axis) {
    const int last = box->points[axis];
    const int count = layer_points(box, axis);
    MPI_Request requests[4];
    MPI_Status statuses[4]; /* not to be ignored, because GCC warns of that */
    for (int side = 0; side < 2; side++) {
        MPI_Irecv(layers_in[side], count, MPI_DOUBLE, neighbours[axis][side], TAG_LAYER + side,
                  MPI_COMM_WORLD, &requests[side]);
    }
    for (int side = 0; side < 2; side++) {
        pack(box, grid, axis, side == 0 ? 1 : last, layers_out[side]);
        /* What goes to the left arrives there from the right. */
        MPI_Isend(layers_out[side], count, MPI_DOUBLE, neighbours[axis][side], TAG_LAYER + 1 - side,
                  MPI_COMM_WORLD, &requests[2 + side]);
    }
    MPI_Waitall(4, requests, statuses);
    unpack(box, grid, axis, 0, layers_in[0]);
    unpack(box, grid, axis, last + 1, layers_in[1]);
}

static void wrap_axis(const struct box *box, double *grid, int axis) {
    const int last = box->points[axis];
    const size_t row_bytes = (size_t)box->sides[0] * sizeof *grid;
    if (axis == 2) {
        memcpy(grid + row_of(box, 0, 0), grid + row_of(box, 0, last),
               row_bytes * (size_t)box->sides[1]);
        memcpy(grid + row_of(box, 0, last + 1), grid + row_of(box, 0, 1),
               row_bytes * (size_t)box->sides[1]);
        return;
    }
    for (int k = 0; k < box->sides[2]; k++) {
        if (axis == 1) {
            memcpy(grid + row_of(box, 0, k), grid + row_of(box, last, k), row_bytes);
            memcpy(grid + row_of(box, last + 1, k), grid + row_of(box, 1, k), row_bytes);
            continue;
        }
        for (int j = 0; j < box->sides[1]; j++) {
            double *const row = grid + row_of(box, j, k);
            row[0] = row[last];
            row[last + 1] = row[1];
        }
    }
}

static void fill_layers(const struct box *box, double *grid) {
    for (int axis = 0; axis < AXES; axis++) {
        if (ranks_along[axis] > 1) {
            exchange_axis(box, grid, axis);
        } else {
            wrap_axis(box, grid, axis);
        }
    }
}

static void make_right_side(void) {
    struct extreme own[2][EXTREMES];
    struct extreme *const all = malloc((size_t)nas_ranks * sizeof own);
    if (!all) {
        cannot_run("no memory for %d ranks' extremes; take fewer ranks", nas_ranks);
    }
    find_extremes(own[0], own[1]);
    for (int sign = 0; sign < 2; sign++) {
        const int count = EXTREMES * nas_ranks;
        MPI_Allgather(own[sign], 2 * EXTREMES, MPI_DOUBLE, all, 2 * EXTREMES, MPI_DOUBLE,
                      MPI_COMM_WORLD);
        qsort(all, (size_t)count, sizeof *all, by_size);
        for (int i = 0; i < EXTREMES; i++) {
            if (sign == 0) {
                set_point(all[count - 1 - i].number, 1);
            } else {
                set_point(all[i].number, -1);
            }
        }
    }
    free(all);
    fill_layers(&boxes[top], v);
}

static void make(enum nas_class wanted) {
    class = wanted;
    top = problems[class].log_points;
    make_ranks();
    for (int level = 1; level <= top; level++) {
        struct box *box = &boxes[level];
        for (int axis = 0; axis < AXES; axis++) {
            box->points[axis] = (1 << level) / ranks_along[axis];
            box->sides[axis] = box->points[axis] + 2;
        }
        box->u = nas_room(volume(box), sizeof *box->u);
        box->r = nas_room(volume(box), sizeof *box->r);
    }
    v = nas_room(volume(&boxes[top]), sizeof *v);
    const size_t layer = (size_t)boxes[top].sides[1] * (size_t)boxes[top].sides[0];
    for (int side = 0; side < 2; side++) {
        layers_out[side] = nas_room(layer, sizeof(double));
        layers_in[side] = nas_room(layer, sizeof(double));
    }
    make_right_side();
}

static void clear(const struct box *box) {
    memset(box->u, 0, volume(box) * sizeof *box->u);
}

static void reset(void) {
    clear(&boxes[top]);
    norm = 0;
}

/* What surrounds the point i of a row: the four rows beside it, and the four beyond their edges. */
struct ring {
    const double *faces[4];
    const double *edges[4];
};

static struct ring ring_at(const struct box *box, const double *grid, int j, int k) {
    return (struct ring){
        .faces = {grid + row_of(box, j - 1, k), grid + row_of(box, j + 1, k),
                  grid + row_of(box, j, k - 1), grid + row_of(box, j, k + 1)},
        .edges = {grid + row_of(box, j - 1, k - 1), grid + row_of(box, j + 1, k - 1),
                  grid + row_of(box, j - 1, k + 1), grid + row_of(box, j + 1, k + 1)},
    };
}

static inline void sum_ring(const struct ring *ring, int count, double *restrict faces,
                            double *restrict edges) {
    const double *const f0 = ring->faces[0], *const f1 = ring->faces[1];
    const double *const f2 = ring->faces[2], *const f3 = ring->faces[3];
    const double *const e0 = ring->edges[0], *const e1 = ring->edges[1];
    const double *const e2 = ring->edges[2], *const e3 = ring->edges[3];
    NAS_INDEPENDENT
    for (int i = 0; i < count; i++) {
        faces[i] = f0[i] + f1[i] + f2[i] + f3[i];
        edges[i] = e0[i] + e1[i] + e2[i] + e3[i];
    }
}

/* r = right - A u; `right` may be r. The operator's weight of faces is 0. */
static void find_residual(const struct box *box, const double *right) {
    double faces[LINE_MOST];
    double edges[LINE_MOST];
    const double own_weight = operator_weights[0];
    const double edge_weight = operator_weights[2];
    const double corner_weight = operator_weights[3];
    const int last = box->points[0];
    for (int k = 1; k <= box->points[2]; k++) {
        for (int j = 1; j <= box->points[1]; j++) {
            const struct ring ring = ring_at(box, box->u, j, k);
            sum_ring(&ring, box->sides[0], faces, edges);
            const double *const u = box->u + row_of(box, j, k);
            const double *const from = right + row_of(box, j, k);
            double *const to = box->r + row_of(box, j, k);
            NAS_INDEPENDENT
            for (int i = 1; i <= last; i++) {
                to[i] = from[i] - own_weight * u[i] -
                        edge_weight * (edges[i] + faces[i - 1] + faces[i + 1]) -
                        corner_weight * (edges[i - 1] + edges[i + 1]);
            }
        }
    }
    fill_layers(box, box->r);
}

/* u += S r. The smoother's weight of corners is 0. */
static void smooth(const struct box *box) {
    double faces[LINE_MOST];
    double edges[LINE_MOST];
    const double *const weights = class <= CLASS_A ? small_weights : large_weights;
    const double own_weight = weights[0];
    const double face_weight = weights[1];
    const double edge_weight = weights[2];
    const int last = box->points[0];
    for (int k = 1; k <= box->points[2]; k++) {
        for (int j = 1; j <= box->points[1]; j++) {
            const struct ring ring = ring_at(box, box->r, j, k);
            sum_ring(&ring, box->sides[0], faces, edges);
            const double *const r = box->r + row_of(box, j, k);
            double *const u = box->u + row_of(box, j, k);
            NAS_INDEPENDENT
            for (int i = 1; i <= last; i++) {
                u[i] += own_weight * r[i] + face_weight * (r[i - 1] + r[i + 1] + faces[i]) +
                        edge_weight * (edges[i] + faces[i - 1] + faces[i + 1]);
            }
        }
    }
    fill_layers(box, box->u);
}

/* The residual of a grid on the next coarser one: half of the point itself, and so on outwards. */
static void restrict_residual(const struct box *fine, const struct box *coarse) {
    double faces[LINE_MOST];
    double edges[LINE_MOST];
    const int last = coarse->points[0];
    for (int k = 1; k <= coarse->points[2]; k++) {
        for (int j = 1; j <= coarse->points[1]; j++) {
            const struct ring ring = ring_at(fine, fine->r, 2 * j, 2 * k);
            sum_ring(&ring, fine->sides[0], faces, edges);
            const double *const from = fine->r + row_of(fine, 2 * j, 2 * k);
            double *const to = coarse->r + row_of(coarse, j, k);
            for (int i = 1; i <= last; i++) {
                const int f = 2 * i;
                to[i] = 0.5 * from[f] + 0.25 * (from[f - 1] + from[f + 1] + faces[f]) +
                        0.125 * (faces[f - 1] + faces[f + 1] + edges[f]) +
                        0.0625 * (edges[f - 1] + edges[f + 1]);
            }
        }
    }
    fill_layers(coarse, coarse->r);
}

static inline void add_row(double *restrict to, const double *restrict from, int count,
                           double weight) {
    for (int i = 0; i < count; i++) {
        to[2 * i] += weight * from[i];
        to[2 * i + 1] += 0.5 * weight * (from[i] + from[i + 1]);
    }
}

/* Adds to a grid what lies between the points of the next coarser one. */
static void interpolate(const struct box *coarse, const struct box *fine) {
    double sums[3][LINE_MOST];
    const int side = coarse->sides[0];
    for (int k = 0; k <= coarse->points[2]; k++) {
        for (int j = 0; j <= coarse->points[1]; j++) {
            const double *const here = coarse->u + row_of(coarse, j, k);
            const double *const beside = coarse->u + row_of(coarse, j + 1, k);
            const double *const above = coarse->u + row_of(coarse, j, k + 1);
            const double *const across = coarse->u + row_of(coarse, j + 1, k + 1);
            for (int i = 0; i < side; i++) {
                sums[0][i] = here[i] + beside[i];
                sums[1][i] = here[i] + above[i];
                sums[2][i] = sums[0][i] + above[i] + across[i];
            }
            const int count = coarse->points[0] + 1;
            add_row(fine->u + row_of(fine, 2 * j, 2 * k), here, count, 1);
            add_row(fine->u + row_of(fine, 2 * j + 1, 2 * k), sums[0], count, 0.5);
            add_row(fine->u + row_of(fine, 2 * j, 2 * k + 1), sums[1], count, 0.5);
            add_row(fine->u + row_of(fine, 2 * j + 1, 2 * k + 1), sums[2], count, 0.25);
        }
    }
}

static void cycle(void) {
    for (int level = top; level > 1; level--) {
        restrict_residual(&boxes[level], &boxes[level - 1]);
    }
    clear(&boxes[1]);
    smooth(&boxes[1]);
    for (int level = 2; level <= top; level++) {
        struct box *const box = &boxes[level];
        if (level < top) {
            clear(box);
        }
        interpolate(&boxes[level - 1], box);
        find_residual(box, level < top ? box->r : v);
        smooth(box);
    }
}

static double find_norm(void) {
    const struct box *box = &boxes[top];
    double sum = 0;
    for (int k = 1; k <= box->points[2]; k++) {
        for (int j = 1; j <= box->points[1]; j++) {
            const double *const r = box->r + row_of(box, j, k);
            double sums[4] = {0};
            int i = 1;
            for (; i + 4 <= box->points[0] + 1; i += 4) {
                for (int part = 0; part < 4; part++) {
                    sums[part] += r[i + part] * r[i + part];
                }
            }
            for (; i <= box->points[0]; i++) {
                sums[0] += r[i] * r[i];
            }
            sum += (sums[0] + sums[1]) + (sums[2] + sums[3]);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sqrt(sum / ldexp(1, AXES * top));
}

BENCH_TIMED static void timed_mg(const void *state) {
    (void)state;
    find_residual(&boxes[top], v);
    (void)find_norm();
    for (int iteration = 0; iteration < problems[class].iterations; iteration++) {
        cycle();
        find_residual(&boxes[top], v);
    }
    norm = find_norm();
}

static void verify(struct nas_verdict *verdict) {
    nas_compare(verdict, "the norm of the residual", norm, problems[class].norm, 1e-8);
}

static double operations(enum nas_class of) {
    return 58 * ldexp(1, AXES * problems[of].log_points) * problems[of].iterations;
}

const struct nas_program nas_mg = {
    .name = "mg",
    .refusal = refusal,
    .make = make,
    .reset = reset,
    .timed = timed_mg,
    .verify = verify,
    .operations = operations,
};
