/* BT: three systems of block tri-diagonal equations in each step of time, one along each axis, with
 * blocks of 5 by 5. */
#include "cells.h"

#include <string.h>

enum { BLOCK = FLOW_FIELDS * FLOW_FIELDS };

static const struct {
    int points;
    int steps;
    double step;
    struct flow_norms norms;
} problems[CLASSES] = {
    [CLASS_S] = {12,
                 60,
                 0.01,
                 {{1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02,
                   2.6436421275166801e-02, 1.9211784131744430e-01},
                  {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05,
                   7.3821238632439731e-05, 8.9269630987491446e-04}}},
    [CLASS_W] = {24,
                 200,
                 0.8e-3,
                 {{112.5590409344, 11.80007595731, 27.10329767846, 24.69174937669, 263.8427874317},
                  {4.419655736008, 0.4638531260002, 1.011551749967, 0.9235878729944,
                   10.18045837718}}},
    [CLASS_A] = {64,
                 200,
                 0.8e-3,
                 {{1.0806346714637264e+02, 1.1319730901220813e+01, 2.5974354511582465e+01,
                   2.3665622544678910e+01, 2.5278963211748344e+02},
                  {4.2348416040525025e+00, 4.4390282496995698e-01, 9.6692480136345650e-01,
                   8.8302063039765474e-01, 9.7379901770829278e+00}}},
    [CLASS_B] = {102,
                 200,
                 3.0e-4,
                 {{1.4233597229287254e+03, 9.9330522590150238e+01, 3.5646025644535285e+02,
                   3.2485447959084092e+02, 3.2707541254659363e+03},
                  {5.2969847140936856e+01, 4.4632896115670668e+00, 1.3122573342210174e+01,
                   1.2006925323559144e+01, 1.2459576151035986e+02}}},
};

static enum nas_class class;
static struct flow flow;
static struct cells cells;

/* What a block is made of. */
struct state {
    lanes inverse; /* of density */
    lanes velocity[FLOW_AXES];
    lanes per_mass; /* kinetic energy */
    lanes energy;   /* by mass */
};

static inline __attribute__((always_inline)) struct state load_state(const struct batch *batch,
                                                                     ptrdiff_t place) {
    const struct flow_box *const box = batch->box;
    const ptrdiff_t apart = batch->apart;
    const int lines = batch->lines;
    struct state state;
    state.inverse = lanes_load(box->inverse_density + place, apart, lines);
    for (int m = 0; m < FLOW_AXES; m++) {
        state.velocity[m] = lanes_load(box->velocity[m] + place, apart, lines);
    }
    state.per_mass = lanes_load(box->per_mass + place, apart, lines);
    state.energy =
        lanes_load(box->u + FLOW_ENERGY * box->volume + place, apart, lines) * state.inverse;
    return state;
}

/* block += weight * how the viscous flux along the axis depends on the fields. */
static inline __attribute__((always_inline)) void
add_viscous(lanes block[BLOCK], const struct state *state, int axis, double weight) {
    lanes from_density = FLOW_C1345 * state->energy;
    for (int m = 0; m < FLOW_AXES; m++) {
        const double stretch = FLOW_C3C4 * (m == axis ? 4.0 / 3.0 : 1);
        const lanes shear = weight * state->inverse;
        const lanes speed = state->velocity[m];
        const int row = (1 + m) * FLOW_FIELDS;
        block[row] -= stretch * speed * shear;
        block[row + 1 + m] += stretch * shear;
        block[4 * FLOW_FIELDS + 1 + m] += (stretch - FLOW_C1345) * speed * shear;
        from_density += (stretch - FLOW_C1345) * speed * speed;
    }
    block[4 * FLOW_FIELDS] -= weight * state->inverse * from_density;
    block[4 * FLOW_FIELDS + 4] += weight * FLOW_C1345 * state->inverse;
}

/* The same of the flux itself. */
static inline __attribute__((always_inline)) void
add_flux(lanes block[BLOCK], const struct state *state, int axis, double weight) {
    const lanes speed = weight * state->velocity[axis];
    const lanes enthalpy = FLOW_C1 * state->energy - FLOW_C2 * state->per_mass;
    block[1 + axis] += weight;
    for (int m = 0; m < FLOW_AXES; m++) {
        const int row = (1 + m) * FLOW_FIELDS;
        block[row] -= state->velocity[m] * speed;
        block[row + 1 + axis] += weight * state->velocity[m];
        block[row + 1 + m] += speed;
        if (m == axis) {
            block[row] += weight * FLOW_C2 * state->per_mass;
            for (int n = 0; n < FLOW_AXES; n++) {
                block[row + 1 + n] -= weight * FLOW_C2 * state->velocity[n];
            }
            block[row + 4] += weight * FLOW_C2;
        }
        block[4 * FLOW_FIELDS + 1 + m] -= FLOW_C2 * state->velocity[m] * speed;
    }
    block[4 * FLOW_FIELDS] -= (enthalpy - FLOW_C2 * state->per_mass) * speed;
    block[4 * FLOW_FIELDS + 1 + axis] += weight * enthalpy;
    block[4 * FLOW_FIELDS + 4] += FLOW_C1 * speed;
}

static inline __attribute__((always_inline)) void make_block(lanes block[BLOCK],
                                                             const struct state *state, int axis,
                                                             double flux, double viscous,
                                                             double diagonal) {
    const lanes zero = {0};
    for (int i = 0; i < BLOCK; i++) {
        block[i] = i % (FLOW_FIELDS + 1) == 0 ? zero + diagonal : zero;
    }
    add_viscous(block, state, axis, viscous);
    if (flux != 0) {
        add_flux(block, state, axis, flux);
    }
}

/* Whether a block of a neighbour along the axis has anything there. */
static inline __attribute__((always_inline)) bool is_filled(int axis, int row, int column) {
    return row == 4 || row == 1 + axis || column == 1 + axis || row == column ||
           (row > 0 && column == 0);
}

/* here -= before * carried, and the same for the right side. */
static inline __attribute__((always_inline)) void
eliminate(int axis, lanes here[BLOCK], lanes right[FLOW_FIELDS], const lanes before[BLOCK],
          const lanes carried[BLOCK + FLOW_FIELDS]) {
#pragma GCC unroll 5
    for (int row = 0; row < FLOW_FIELDS; row++) {
#pragma GCC unroll 5
        for (int middle = 0; middle < FLOW_FIELDS; middle++) {
            if (!is_filled(axis, row, middle)) {
                continue;
            }
            const lanes factor = before[row * FLOW_FIELDS + middle];
#pragma GCC unroll 5
            for (int column = 0; column < FLOW_FIELDS; column++) {
                here[row * FLOW_FIELDS + column] -= factor * carried[middle * FLOW_FIELDS + column];
            }
            right[row] -= factor * carried[BLOCK + middle];
        }
    }
}

/* Both sides by the inverse of `here`: after and right become those of a block that is 1. */
static inline __attribute__((always_inline)) void invert(lanes here[BLOCK], lanes after[BLOCK],
                                                         lanes right[FLOW_FIELDS]) {
#pragma GCC unroll 5
    for (int pivot = 0; pivot < FLOW_FIELDS; pivot++) {
        const lanes scale = 1 / here[pivot * (FLOW_FIELDS + 1)];
        for (int column = pivot + 1; column < FLOW_FIELDS; column++) {
            here[pivot * FLOW_FIELDS + column] *= scale;
        }
        for (int column = 0; column < FLOW_FIELDS; column++) {
            after[pivot * FLOW_FIELDS + column] *= scale;
        }
        right[pivot] *= scale;
#pragma GCC unroll 5
        for (int row = 0; row < FLOW_FIELDS; row++) {
            if (row == pivot) {
                continue;
            }
            const lanes factor = here[row * FLOW_FIELDS + pivot];
            for (int column = pivot + 1; column < FLOW_FIELDS; column++) {
                here[row * FLOW_FIELDS + column] -= factor * here[pivot * FLOW_FIELDS + column];
            }
            for (int column = 0; column < FLOW_FIELDS; column++) {
                after[row * FLOW_FIELDS + column] -= factor * after[pivot * FLOW_FIELDS + column];
            }
            right[row] -= factor * right[pivot];
        }
    }
}

/* `carried`: the block after the last point, and its right side; both are 0 at first, where a block
 * before would meet the face of the cube. */
static inline __attribute__((always_inline)) void forward(int axis, const struct batch *batch,
                                                          lanes *carried, lanes *kept) {
    const double viscous = flow.step * flow.second;
    const double flux = flow.step * flow.first;
    const double own = viscous * flow_diffusion[axis];
    double *const right_side = batch->box->right;
    const size_t volume = batch->box->volume;
    lanes before[BLOCK];
    lanes here[BLOCK];
    lanes after[BLOCK];
    lanes right[FLOW_FIELDS];
    ptrdiff_t place = batch->place;
    struct state behind = load_state(batch, place - batch->step);
    struct state at = load_state(batch, place);
    for (int point = 0; point < batch->points; point++, place += batch->step) {
        const struct state ahead = load_state(batch, place + batch->step);
        for (size_t m = 0; m < FLOW_FIELDS; m++) {
            right[m] = lanes_load(right_side + m * volume + place, batch->apart, batch->lines);
        }
        make_block(before, &behind, axis, -flux, -viscous, -own);
        make_block(here, &at, axis, 0, 2 * viscous, 1 + 2 * own);
        make_block(after, &ahead, axis, flux, -viscous, -own);
        eliminate(axis, here, right, before, carried);
        invert(here, after, right);
        memcpy(carried, after, sizeof after);
        memcpy(carried + BLOCK, right, sizeof right);
        memcpy(kept + (size_t)point * BLOCK, after, sizeof after);
        for (size_t m = 0; m < FLOW_FIELDS; m++) {
            lanes_store(right_side + m * volume + place, batch->apart, batch->lines, right[m]);
        }
        behind = at;
        at = ahead;
    }
}

static void back(const struct batch *batch, lanes *carried, const lanes *kept) {
    double *const right_side = batch->box->right;
    const size_t volume = batch->box->volume;
    lanes later[FLOW_FIELDS];
    memcpy(later, carried, sizeof later);
    for (int point = batch->points - 1; point >= 0; point--) {
        const ptrdiff_t place = batch->place + point * batch->step;
        const lanes *const after = kept + (size_t)point * BLOCK;
        lanes values[FLOW_FIELDS];
        for (size_t m = 0; m < FLOW_FIELDS; m++) {
            values[m] = lanes_load(right_side + m * volume + place, batch->apart, batch->lines);
            for (int n = 0; n < FLOW_FIELDS; n++) {
                values[m] -= after[m * FLOW_FIELDS + (size_t)n] * later[n];
            }
        }
        for (size_t m = 0; m < FLOW_FIELDS; m++) {
            later[m] = values[m];
            lanes_store(right_side + m * volume + place, batch->apart, batch->lines, values[m]);
        }
    }
    memcpy(carried, later, sizeof later);
}

static void forward_x(const struct batch *batch, lanes *carried, lanes *kept) {
    forward(0, batch, carried, kept);
}

static void forward_y(const struct batch *batch, lanes *carried, lanes *kept) {
    forward(1, batch, carried, kept);
}

static void forward_z(const struct batch *batch, lanes *carried, lanes *kept) {
    forward(2, batch, carried, kept);
}

#define SOLVER(FORWARD)                                                                            \
    {.carried = BLOCK + FLOW_FIELDS,                                                               \
     .carried_back = FLOW_FIELDS,                                                                  \
     .kept = BLOCK,                                                                                \
     .forward = FORWARD,                                                                           \
     .back = back}
static const struct line_solver solvers[FLOW_AXES] = {SOLVER(forward_x), SOLVER(forward_y),
                                                      SOLVER(forward_z)};

static const char *refusal(enum nas_class of, int ranks) {
    return cells_fit(ranks, problems[of].points) ? NULL
                                                 : "BT divides its cube among 1, 4 or 9 ranks";
}

static void make(enum nas_class wanted) {
    class = wanted;
    flow = flow_of(problems[class].points, problems[class].step);
    cells_make(&cells, &flow);
    cells_prepare(&cells, &solvers[0]);
}

static void reset(void) {
    for (int cell = 0; cell < cells.side; cell++) {
        flow_begin(&flow, &cells.boxes[cell]);
    }
}

BENCH_TIMED static void timed_bt(const void *state) {
    (void)state;
    for (int step = 0; step < problems[class].steps; step++) {
        cells_find_right_side(&cells, &flow);
        for (int axis = 0; axis < FLOW_AXES; axis++) {
            cells_solve(&cells, &flow, axis, &solvers[axis]);
        }
        for (int cell = 0; cell < cells.side; cell++) {
            flow_advance(&flow, &cells.boxes[cell], 1);
        }
    }
}

static void verify(struct nas_verdict *verdict) {
    cells_compare(&cells, &flow, verdict, &problems[class].norms);
}

static double operations(enum nas_class of) {
    const double n = problems[of].points;
    return problems[of].steps * (3478.8 * n * n * n - 17655.7 * n * n + 28023.7 * n);
}

const struct nas_program nas_bt = {
    .name = "bt",
    .refusal = refusal,
    .make = make,
    .reset = reset,
    .timed = timed_bt,
    .verify = verify,
    .operations = operations,
};
