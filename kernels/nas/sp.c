/* SP: in each step of time five systems of scalar penta-diagonal equations along each axis: three
 * that are alike, for what the gas carries with it, and two for sound. */
#include "cells.h"

#include <math.h>
#include <string.h>

enum { SYSTEMS = 3, ROW = 2 * SYSTEMS + FLOW_FIELDS };

static const struct {
    int points;
    int steps;
    double step;
    struct flow_norms norms;
} problems[CLASSES] = {
    [CLASS_S] = {12,
                 100,
                 0.015,
                 {{2.7470315451339479e-02, 1.0360746705285417e-02, 1.6235745065095532e-02,
                   1.5840557224455615e-02, 3.4849040609362460e-02},
                  {2.7289258557377227e-05, 1.0364446640837285e-05, 1.6154798287166471e-05,
                   1.5750704994480102e-05, 3.4177666183390531e-05}}},
    [CLASS_W] = {36,
                 400,
                 0.0015,
                 {{0.1893253733584e-02, 0.1717075447775e-03, 0.2778153350936e-03,
                   0.2887475409984e-03, 0.3143611161242e-02},
                  {0.7542088599534e-04, 0.6512852253086e-05, 0.1049092285688e-04,
                   0.1128838671535e-04, 0.1212845639773e-03}}},
    [CLASS_A] = {64,
                 400,
                 0.0015,
                 {{2.4799822399300195, 1.1276337964368832, 1.5028977888770491, 1.4217816211695179,
                   2.1292113035138280},
                  {1.0900140297820550e-04, 3.7343951769282091e-05, 5.0092785406541633e-05,
                   4.7671093939528255e-05, 1.3621613399213001e-04}}},
    [CLASS_B] = {102,
                 400,
                 0.001,
                 {{69.03293579998, 30.95134488084, 41.03336647017, 38.64769009604, 56.43482272596},
                  {0.9810006190188e-02, 0.1022827905670e-02, 0.1720597911692e-02,
                   0.1694479428231e-02, 0.1847456263981e-01}}},
};

static enum nas_class class;
static struct flow flow;
static struct cells cells;
static double *sound[CELLS_MOST]; /* its speed, by cell */

static inline lanes larger(lanes a, lanes b) {
    lanes result;
    for (int lane = 0; lane < LANES; lane++) {
        result[lane] = a[lane] > b[lane] ? a[lane] : b[lane];
    }
    return result;
}

/* The largest of the diffusions of the five fields at a point. */
static inline __attribute__((always_inline)) lanes diffusion_of(int axis, lanes inverse) {
    const double artificial = flow_diffusion[axis];
    const lanes zero = {0};
    const lanes viscous = FLOW_C3C4 * inverse;
    const lanes momentum = artificial + 4.0 / 3.0 * viscous;
    const lanes energy = artificial + FLOW_C1C5 * viscous;
    const lanes others = artificial + viscous;
    return larger(larger(momentum, energy), larger(others, zero + artificial));
}

/* What a point gives to the rows around it. */
struct point {
    lanes speed; /* along the axis */
    lanes sound;
    lanes diffusion;
};

static inline __attribute__((always_inline)) struct point
load_point(int axis, const struct batch *batch, ptrdiff_t place) {
    const struct flow_box *const box = batch->box;
    return (struct point){
        .speed = lanes_load(box->velocity[axis] + place, batch->apart, batch->lines),
        .sound = lanes_load(sound[batch->cell] + place, batch->apart, batch->lines),
        .diffusion = diffusion_of(
            axis, lanes_load(box->inverse_density + place, batch->apart, batch->lines)),
    };
}

#define HALF_ROOT 0.70710678118654752440

/* From changes of the fields to those of what travels along the axes; the first step. */
static inline __attribute__((always_inline)) void
to_waves(const struct batch *batch, ptrdiff_t place, lanes right[FLOW_FIELDS]) {
    const struct flow_box *const box = batch->box;
    const ptrdiff_t apart = batch->apart;
    const int lines = batch->lines;
    const lanes inverse = lanes_load(box->inverse_density + place, apart, lines);
    const lanes per_mass = lanes_load(box->per_mass + place, apart, lines);
    const lanes a = lanes_load(sound[batch->cell] + place, apart, lines);
    lanes velocity[FLOW_AXES];
    for (int m = 0; m < FLOW_AXES; m++) {
        velocity[m] = lanes_load(box->velocity[m] + place, apart, lines);
    }
    const lanes pressure = FLOW_C2 / (a * a) *
                           (per_mass * right[0] - velocity[0] * right[1] - velocity[1] * right[2] -
                            velocity[2] * right[3] + right[4]);
    const lanes moved = HALF_ROOT * inverse * (velocity[0] * right[0] - right[1]);
    const lanes pressed = HALF_ROOT * inverse * a * pressure;
    const lanes density = right[0] - pressure;
    const lanes across_z = -inverse * (velocity[2] * right[0] - right[3]);
    const lanes across_y = inverse * (velocity[1] * right[0] - right[2]);
    right[0] = density;
    right[1] = across_z;
    right[2] = across_y;
    right[3] = pressed - moved;
    right[4] = pressed + moved;
}

/* From what travels along one axis to what travels along the next, and at last to the fields. */
static inline __attribute__((always_inline)) void turn(int axis, const struct batch *batch,
                                                       ptrdiff_t place, lanes v[FLOW_FIELDS]) {
    const lanes half = 0.5 * (v[3] + v[4]);
    const lanes difference = HALF_ROOT * (v[3] - v[4]);
    if (axis == 0) {
        const lanes third = HALF_ROOT * v[2];
        const lanes first = v[0];
        v[0] = -v[1];
        v[1] = first;
        v[2] = difference;
        v[3] = half - third;
        v[4] = half + third;
        return;
    }
    if (axis == 1) {
        const lanes first = HALF_ROOT * v[0];
        const lanes second = v[1];
        v[0] = difference;
        v[1] = -v[2];
        v[2] = second;
        v[3] = half - first;
        v[4] = half + first;
        return;
    }
    const struct flow_box *const box = batch->box;
    const ptrdiff_t apart = batch->apart;
    const int lines = batch->lines;
    const lanes density = lanes_load(box->u + place, apart, lines);
    const lanes per_mass = lanes_load(box->per_mass + place, apart, lines);
    const lanes a = lanes_load(sound[batch->cell] + place, apart, lines);
    lanes velocity[FLOW_AXES];
    for (int m = 0; m < FLOW_AXES; m++) {
        velocity[m] = lanes_load(box->velocity[m] + place, apart, lines);
    }
    const lanes pressure = 2 * HALF_ROOT * density / a * half;
    const lanes total = v[2] + pressure;
    const lanes moved = density * difference;
    const lanes first = v[0], second = v[1];
    v[0] = total;
    v[1] = velocity[0] * total - density * second;
    v[2] = velocity[1] * total + density * first;
    v[3] = velocity[2] * total + moved;
    v[4] = density * (velocity[1] * first - velocity[0] * second) + per_mass * total +
           a * a * pressure / FLOW_C2 + velocity[2] * moved;
}

/* A row that is eliminated: the two coefficients after the diagonal of each system, and the right
 * side. `carried` has the last two of them, the nearer one first. */
static inline __attribute__((always_inline)) void forward(int axis, const struct batch *batch,
                                                          lanes *carried, lanes *kept) {
    const double diffusive = flow.step * flow.second;
    const double flux = flow.step * flow.first;
    double *const right_side = batch->box->right;
    const size_t volume = batch->box->volume;
    const lanes zero = {0};
    lanes last[ROW];
    lanes earlier[ROW];
    memcpy(last, carried, sizeof last);
    memcpy(earlier, carried + ROW, sizeof earlier);
    ptrdiff_t place = batch->place;
    struct point behind = load_point(axis, batch, place - batch->step);
    struct point at = load_point(axis, batch, place);
    for (int number = 0; number < batch->points; number++, place += batch->step) {
        const struct point ahead = load_point(axis, batch, place + batch->step);
        double weights[5];
        lanes row[ROW];
        lanes right[FLOW_FIELDS];
        flow_find_weights(&flow, batch->start + number, weights);
        for (int i = 0; i < 5; i++) {
            weights[i] *= flow.step * FLOW_DISSIPATION;
        }
        for (size_t m = 0; m < FLOW_FIELDS; m++) {
            right[m] = lanes_load(right_side + m * volume + place, batch->apart, batch->lines);
        }
        if (axis == 0) {
            to_waves(batch, place, right);
        }
        const lanes carried_before =
            weights[1] - flux * behind.speed - diffusive * behind.diffusion;
        const lanes diagonal = 1 + weights[2] + 2 * diffusive * at.diffusion;
        const lanes carried_after = weights[3] + flux * ahead.speed - diffusive * ahead.diffusion;
        for (int system = 0; system < SYSTEMS; system++) {
            const double way = system == 0 ? 0 : system == 1 ? flux : -flux;
            lanes before = carried_before - way * behind.sound;
            lanes own = diagonal;
            lanes after = carried_after + way * ahead.sound;
            before -= weights[0] * earlier[2 * system];
            own -= weights[0] * earlier[2 * system + 1];
            own -= before * last[2 * system];
            after -= before * last[2 * system + 1];
            const lanes scale = 1 / own;
            row[2 * system] = after * scale;
            row[2 * system + 1] = (zero + weights[4]) * scale;
            for (int m = system == 0 ? 0 : 2 + system; m < (system == 0 ? 3 : 3 + system); m++) {
                row[2 * SYSTEMS + m] = (right[m] - weights[0] * earlier[2 * SYSTEMS + m] -
                                        before * last[2 * SYSTEMS + m]) *
                                       scale;
            }
        }
        memcpy(earlier, last, sizeof last);
        memcpy(last, row, sizeof row);
        memcpy(kept + (size_t)number * 2 * SYSTEMS, row, 2 * SYSTEMS * sizeof *row);
        for (size_t m = 0; m < FLOW_FIELDS; m++) {
            lanes_store(right_side + m * volume + place, batch->apart, batch->lines,
                        row[2 * SYSTEMS + m]);
        }
        behind = at;
        at = ahead;
    }
    memcpy(carried, last, sizeof last);
    memcpy(carried + ROW, earlier, sizeof earlier);
}

static inline __attribute__((always_inline)) void back(int axis, const struct batch *batch,
                                                       lanes *carried, const lanes *kept) {
    double *const right_side = batch->box->right;
    const size_t volume = batch->box->volume;
    lanes next[FLOW_FIELDS];
    lanes later[FLOW_FIELDS];
    memcpy(next, carried, sizeof next);
    memcpy(later, carried + FLOW_FIELDS, sizeof later);
    for (int number = batch->points - 1; number >= 0; number--) {
        const ptrdiff_t place = batch->place + number * batch->step;
        const lanes *const row = kept + (size_t)number * 2 * SYSTEMS;
        lanes values[FLOW_FIELDS];
        for (size_t m = 0; m < FLOW_FIELDS; m++) {
            const size_t system = m < 3 ? 0 : m - 2;
            values[m] = lanes_load(right_side + m * volume + place, batch->apart, batch->lines) -
                        row[2 * system] * next[m] - row[2 * system + 1] * later[m];
        }
        memcpy(later, next, sizeof next);
        memcpy(next, values, sizeof values);
        turn(axis, batch, place, values);
        for (size_t m = 0; m < FLOW_FIELDS; m++) {
            lanes_store(right_side + m * volume + place, batch->apart, batch->lines, values[m]);
        }
    }
    memcpy(carried, next, sizeof next);
    memcpy(carried + FLOW_FIELDS, later, sizeof later);
}

#define SOLVER(NAME, AXIS)                                                                         \
    static void forward_##NAME(const struct batch *batch, lanes *carried, lanes *kept) {           \
        forward(AXIS, batch, carried, kept);                                                       \
    }                                                                                              \
    static void back_##NAME(const struct batch *batch, lanes *carried, const lanes *kept) {        \
        back(AXIS, batch, carried, kept);                                                          \
    }                                                                                              \
    static const struct line_solver solver_##NAME = {.carried = 2 * ROW,                           \
                                                     .carried_back = 2 * FLOW_FIELDS,              \
                                                     .kept = 2 * SYSTEMS,                          \
                                                     .forward = forward_##NAME,                    \
                                                     .back = back_##NAME};

SOLVER(x, 0)
SOLVER(y, 1)
SOLVER(z, 2)

static const struct line_solver *const solvers[FLOW_AXES] = {&solver_x, &solver_y, &solver_z};

static const char *refusal(enum nas_class of, int ranks) {
    return cells_fit(ranks, problems[of].points) ? NULL
                                                 : "SP divides its cube among 1, 4 or 9 ranks";
}

static void make(enum nas_class wanted) {
    class = wanted;
    flow = flow_of(problems[class].points, problems[class].step);
    cells_make(&cells, &flow);
    cells_prepare(&cells, solvers[0]);
    for (int cell = 0; cell < cells.side; cell++) {
        sound[cell] = nas_room(cells.boxes[cell].volume, sizeof *sound[cell]);
    }
}

static void reset(void) {
    for (int cell = 0; cell < cells.side; cell++) {
        flow_begin(&flow, &cells.boxes[cell]);
    }
}

static void find_sound(const struct flow_box *box, double *speeds) {
    for (int k = -1; k <= box->count[2]; k++) {
        for (int j = -1; j <= box->count[1]; j++) {
            const ptrdiff_t row = flow_place(box, -1, j, k);
            const double *const energy = box->u + FLOW_ENERGY * box->volume + row;
            const double *const square = box->square + row;
            const double *const inverse = box->inverse_density + row;
            double *const speed = speeds + row;
            for (int i = 0; i < box->count[0] + 2; i++) {
                speed[i] = sqrt(FLOW_C1 * FLOW_C2 * inverse[i] * (energy[i] - square[i]));
            }
        }
    }
}

BENCH_TIMED static void timed_sp(const void *state) {
    (void)state;
    for (int step = 0; step < problems[class].steps; step++) {
        cells_find_right_side(&cells, &flow);
        for (int cell = 0; cell < cells.side; cell++) {
            find_sound(&cells.boxes[cell], sound[cell]);
        }
        for (int axis = 0; axis < FLOW_AXES; axis++) {
            cells_solve(&cells, &flow, axis, solvers[axis]);
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
    return problems[of].steps * (881.174 * n * n * n - 4683.91 * n * n + 11484.5 * n - 19272.4);
}

const struct nas_program nas_sp = {
    .name = "sp",
    .refusal = refusal,
    .make = make,
    .reset = reset,
    .timed = timed_sp,
    .verify = verify,
    .operations = operations,
};
