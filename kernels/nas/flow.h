/* The flow problem that LU, SP and BT solve: the compressible Navier-Stokes equations in a cube,
 * with a forcing that makes a given polynomial the steady solution. A box is the part of the cube
 * that a rank works on at once, with two layers of its neighbours' points around it. */
#ifndef NAS_FLOW_H
#define NAS_FLOW_H

#include <stdbool.h>
#include <stddef.h>

#include "program.h"

enum { FLOW_AXES = 3, FLOW_FIELDS = 5, FLOW_LAYERS = 2 };

/* Density, three momenta, energy: field m of an array begins at m * volume. */
enum flow_field { FLOW_DENSITY, FLOW_MOMENTUM, FLOW_ENERGY = 4 };

#define FLOW_C1 1.4
#define FLOW_C2 0.4
#define FLOW_C3C4 0.1
#define FLOW_C1C5 1.96
#define FLOW_C1345 0.196
#define FLOW_DISSIPATION 0.25

/* The artificial diffusion along each axis. */
extern const double flow_diffusion[FLOW_AXES];

/* Of the whole cube: as many points along each axis. */
struct flow {
    int points;
    double step; /* of time */
    /* 1 / h², 1 / 2h for the distance h of points */
    double second;
    double first;
};

struct flow_box {
    int start[FLOW_AXES]; /* of its first point in the cube */
    int count[FLOW_AXES]; /* its points, without layers */
    ptrdiff_t stride[FLOW_AXES];
    size_t volume; /* with the layers */
    double *u;
    double *right; /* the right side, times the step of time; then what it becomes */
    double *forcing;
    double *inverse_density;
    double *velocity[FLOW_AXES];
    double *square;   /* kinetic energy */
    double *per_mass; /* the same by density */
};

struct flow flow_of(int points, double step);

/* Allocates its arrays and fills in the forcing. */
void flow_make_box(const struct flow *flow, struct flow_box *box);

/* The state that the definition begins with. */
void flow_begin(const struct flow *flow, struct flow_box *box);

/* What depends on the fields alone, in the first layer too. */
void flow_find_derived(struct flow_box *box);

/* The right side at all inner points; needs both layers, and what is derived. */
void flow_find_right_side(const struct flow *flow, struct flow_box *box);

/* The weights of the fourth difference at a point so far along an axis: near both ends of the cube
 * it uses inner points alone. */
void flow_find_weights(const struct flow *flow, int at, double weights[5]);

/* Adds the right side to the fields. */
void flow_advance(const struct flow *flow, struct flow_box *box, double weight);

/* Adds, over inner points, the squares of the right side; over all points, those of the error. */
void flow_add_squares(const struct flow *flow, const struct flow_box *box,
                      double right[FLOW_FIELDS], double error[FLOW_FIELDS]);

/* From sums over all ranks to norms, compared with the definition's. */
struct flow_norms {
    double residual[FLOW_FIELDS];
    double error[FLOW_FIELDS];
};
void flow_compare(const struct flow *flow, struct nas_verdict *verdict, double right[FLOW_FIELDS],
                  double error[FLOW_FIELDS], const struct flow_norms *defined);

/* Copies layers of the fields between a box and a message, `at` being the first of them along the
 * axis, and returns how many numbers these are. */
size_t flow_pack(const struct flow_box *box, int axis, int at, double *message);
size_t flow_unpack(struct flow_box *box, int axis, int at, const double *message);
size_t flow_layers_size(const struct flow_box *box, int axis);

/* The inner points of the cube that a box has along an axis: from `*first` to before `*end`. */
static inline void flow_inner(const struct flow *flow, const struct flow_box *box, int axis,
                              int *first, int *end) {
    const int last = flow->points - 1 - box->start[axis];
    *first = box->start[axis] == 0 ? 1 : 0;
    *end = last < box->count[axis] ? last : box->count[axis];
}

static inline ptrdiff_t flow_place(const struct flow_box *box, int i, int j, int k) {
    return (i + FLOW_LAYERS) * box->stride[0] + (j + FLOW_LAYERS) * box->stride[1] +
           (k + FLOW_LAYERS) * box->stride[2];
}

#endif
