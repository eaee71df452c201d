#include "flow.h"

#include <math.h>
#include <string.h>

enum { TERMS = 13 };

const double flow_diffusion[FLOW_AXES] = {0.75, 0.75, 1.0};

/* The polynomial: a constant, and the powers 1 to 4 of each coordinate, power by power. */
static const double coefficients[FLOW_FIELDS][TERMS] = {
    {2, 0, 0, 4, 5, 3, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1, 0, 0, 0, 1, 2, 3, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2, 2, 0, 0, 0, 2, 3, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2, 2, 0, 0, 0, 2, 3, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5, 4, 3, 2, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
};

struct flow flow_of(int points, double step) {
    const double intervals = points - 1;
    return (struct flow){
        .points = points,
        .step = step,
        .second = intervals * intervals,
        .first = intervals / 2,
    };
}

static void find_exact(const double at[FLOW_AXES], double values[FLOW_FIELDS]) {
    for (int m = 0; m < FLOW_FIELDS; m++) {
        const double *const c = coefficients[m];
        values[m] = c[0];
        for (int axis = 0; axis < FLOW_AXES; axis++) {
            const double x = at[axis];
            values[m] +=
                x * (c[1 + axis] + x * (c[4 + axis] + x * (c[7 + axis] + x * c[10 + axis])));
        }
    }
}

/* Between the exact values on the six faces, blended along each axis. */
static void find_blend(const double at[FLOW_AXES], double values[FLOW_FIELDS]) {
    double blends[FLOW_AXES][FLOW_FIELDS];
    for (int axis = 0; axis < FLOW_AXES; axis++) {
        double face[FLOW_AXES];
        double low[FLOW_FIELDS];
        double high[FLOW_FIELDS];
        memcpy(face, at, sizeof face);
        face[axis] = 0;
        find_exact(face, low);
        face[axis] = 1;
        find_exact(face, high);
        for (int m = 0; m < FLOW_FIELDS; m++) {
            blends[axis][m] = (1 - at[axis]) * low[m] + at[axis] * high[m];
        }
    }
    for (int m = 0; m < FLOW_FIELDS; m++) {
        const double x = blends[0][m], y = blends[1][m], z = blends[2][m];
        values[m] = x + y + z - x * y - y * z - z * x + x * y * z;
    }
}

typedef void find_values(const double at[FLOW_AXES], double values[FLOW_FIELDS]);

/* Calls `exact` on the faces of the cube and `inside` elsewhere, in the layers too as far as the
 * cube goes; beyond it stands a gas at rest, which is never used. */
static void fill(const struct flow *flow, struct flow_box *box, find_values *inside) {
    const double rest[FLOW_FIELDS] = {1, 0, 0, 0, 1};
    const int n = flow->points;
    for (int k = -FLOW_LAYERS; k < box->count[2] + FLOW_LAYERS; k++) {
        for (int j = -FLOW_LAYERS; j < box->count[1] + FLOW_LAYERS; j++) {
            for (int i = -FLOW_LAYERS; i < box->count[0] + FLOW_LAYERS; i++) {
                const int here[FLOW_AXES] = {i + box->start[0], j + box->start[1],
                                             k + box->start[2]};
                double at[FLOW_AXES];
                double values[FLOW_FIELDS];
                bool is_there = true;
                bool is_face = false;
                for (int axis = 0; axis < FLOW_AXES; axis++) {
                    at[axis] = (double)here[axis] / (n - 1);
                    is_there = is_there && here[axis] >= 0 && here[axis] < n;
                    is_face = is_face || here[axis] == 0 || here[axis] == n - 1;
                }
                memcpy(values, rest, sizeof values);
                if (is_there) {
                    (is_face ? find_exact : inside)(at, values);
                }
                for (int m = 0; m < FLOW_FIELDS; m++) {
                    box->u[(size_t)m * box->volume + (size_t)flow_place(box, i, j, k)] = values[m];
                }
            }
        }
    }
}

void flow_find_derived(struct flow_box *box) {
    const size_t volume = box->volume;
    for (int k = -1; k <= box->count[2]; k++) {
        for (int j = -1; j <= box->count[1]; j++) {
            const ptrdiff_t row = flow_place(box, -1, j, k);
            const double *const u = box->u + row;
            double *const inverse = box->inverse_density + row;
            double *const x = box->velocity[0] + row;
            double *const y = box->velocity[1] + row;
            double *const z = box->velocity[2] + row;
            double *const square = box->square + row;
            double *const per_mass = box->per_mass + row;
            NAS_INDEPENDENT
            for (int i = 0; i < box->count[0] + 2; i++) {
                const double by_density = 1 / u[i];
                const double a = u[volume + (size_t)i];
                const double b = u[2 * volume + (size_t)i];
                const double c = u[3 * volume + (size_t)i];
                const double kinetic = 0.5 * (a * a + b * b + c * c) * by_density;
                inverse[i] = by_density;
                x[i] = a * by_density;
                y[i] = b * by_density;
                z[i] = c * by_density;
                square[i] = kinetic;
                per_mass[i] = kinetic * by_density;
            }
        }
    }
}

static inline double change(const double *at, ptrdiff_t s) {
    return at[s] - at[-s];
}

static inline double bend(const double *at, ptrdiff_t s) {
    return at[s] - 2 * at[0] + at[-s];
}

/* What one axis adds to a row of the right side: fluxes, and viscous and artificial diffusion. */
static void add_axis(const struct flow *flow, const struct flow_box *box, int axis, ptrdiff_t row,
                     int count) {
    const size_t volume = box->volume;
    const ptrdiff_t s = box->stride[axis];
    const double first = flow->first;
    const double diffusion = flow_diffusion[axis] * flow->second;
    const double viscous = FLOW_C3C4 * flow->second;
    const double *const density = box->u + row;
    const double *const along = box->u + (size_t)(FLOW_MOMENTUM + axis) * volume + row;
    const double *const energy = box->u + FLOW_ENERGY * volume + row;
    const double *const speed = box->velocity[axis] + row;
    const double *const square = box->square + row;
    const double *const per_mass = box->per_mass + row;
    const double *const inverse = box->inverse_density + row;
    double *const mass_right = box->right + row;
    NAS_INDEPENDENT
    for (int i = 0; i < count; i++) {
        mass_right[i] += diffusion * bend(density + i, s) - first * change(along + i, s);
    }
    for (int m = 0; m < FLOW_AXES; m++) {
        const double *const momentum = box->u + (size_t)(FLOW_MOMENTUM + m) * volume + row;
        const double *const own_speed = box->velocity[m] + row;
        double *const right = box->right + (size_t)(FLOW_MOMENTUM + m) * volume + row;
        if (m != axis) {
            NAS_INDEPENDENT
            for (int i = 0; i < count; i++) {
                right[i] +=
                    diffusion * bend(momentum + i, s) + viscous * bend(own_speed + i, s) -
                    first * (momentum[i + s] * speed[i + s] - momentum[i - s] * speed[i - s]);
            }
            continue;
        }
        NAS_INDEPENDENT
        for (int i = 0; i < count; i++) {
            const double pressure = energy[i + s] - square[i + s] - energy[i - s] + square[i - s];
            right[i] += diffusion * bend(momentum + i, s) +
                        4.0 / 3.0 * viscous * bend(own_speed + i, s) -
                        first * (momentum[i + s] * speed[i + s] - momentum[i - s] * speed[i - s] +
                                 FLOW_C2 * pressure);
        }
    }
    double *const energy_right = box->right + FLOW_ENERGY * volume + row;
    NAS_INDEPENDENT
    for (int i = 0; i < count; i++) {
        const double after = speed[i + s], here = speed[i], before = speed[i - s];
        energy_right[i] +=
            diffusion * bend(energy + i, s) +
            viscous * ((1 - FLOW_C1C5) * bend(per_mass + i, s) +
                       1.0 / 6.0 * (after * after - 2 * here * here + before * before) +
                       FLOW_C1C5 * (energy[i + s] * inverse[i + s] - 2 * energy[i] * inverse[i] +
                                    energy[i - s] * inverse[i - s])) -
            first * ((FLOW_C1 * energy[i + s] - FLOW_C2 * square[i + s]) * after -
                     (FLOW_C1 * energy[i - s] - FLOW_C2 * square[i - s]) * before);
    }
}

void flow_find_weights(const struct flow *flow, int at, double weights[5]) {
    static const double inner[5] = {1, -4, 6, -4, 1};
    const int from_end = flow->points - 1 - at;
    memcpy(weights, inner, sizeof inner);
    if (at <= 2) {
        weights[0] = 0;
    }
    if (at == 1) {
        weights[1] = 0;
        weights[2] = 5;
    }
    if (from_end <= 2) {
        weights[4] = 0;
    }
    if (from_end == 1) {
        weights[3] = 0;
        weights[2] = 5;
    }
}

static void dissipate(const struct flow_box *box, ptrdiff_t row, int count, ptrdiff_t s,
                      const double weights[5]) {
    const double a = FLOW_DISSIPATION * weights[0], b = FLOW_DISSIPATION * weights[1];
    const double c = FLOW_DISSIPATION * weights[2], d = FLOW_DISSIPATION * weights[3];
    const double e = FLOW_DISSIPATION * weights[4];
    for (size_t m = 0; m < FLOW_FIELDS; m++) {
        const double *const u = box->u + m * box->volume + row;
        double *const right = box->right + m * box->volume + row;
        NAS_INDEPENDENT
        for (int i = 0; i < count; i++) {
            right[i] -=
                a * u[i - 2 * s] + b * u[i - s] + c * u[i] + d * u[i + s] + e * u[i + 2 * s];
        }
    }
}

/* Along a row the weights change near the ends of the cube. */
static void dissipate_along(const struct flow *flow, const struct flow_box *box, ptrdiff_t row,
                            int first, int count) {
    double weights[5];
    int from = first;
    while (from < first + count) {
        const int at = from + box->start[0];
        int length = 1;
        if (at > 2 && at < flow->points - 3) {
            length = flow->points - 3 - at;
            length = length < first + count - from ? length : first + count - from;
        }
        flow_find_weights(flow, at, weights);
        dissipate(box, row + from - first, length, 1, weights);
        from += length;
    }
}

void flow_find_right_side(const struct flow *flow, struct flow_box *box) {
    int first[FLOW_AXES];
    int end[FLOW_AXES];
    double weights[5];
    for (int axis = 0; axis < FLOW_AXES; axis++) {
        flow_inner(flow, box, axis, &first[axis], &end[axis]);
    }
    const int count = end[0] - first[0];
    for (int k = first[2]; k < end[2]; k++) {
        for (int j = first[1]; j < end[1]; j++) {
            const ptrdiff_t row = flow_place(box, first[0], j, k);
            for (size_t m = 0; m < FLOW_FIELDS; m++) {
                memcpy(box->right + m * box->volume + row, box->forcing + m * box->volume + row,
                       (size_t)count * sizeof *box->right);
            }
            for (int axis = 0; axis < FLOW_AXES; axis++) {
                add_axis(flow, box, axis, row, count);
            }
            dissipate_along(flow, box, row, first[0], count);
            flow_find_weights(flow, j + box->start[1], weights);
            dissipate(box, row, count, box->stride[1], weights);
            flow_find_weights(flow, k + box->start[2], weights);
            dissipate(box, row, count, box->stride[2], weights);
            for (size_t m = 0; m < FLOW_FIELDS; m++) {
                double *const right = box->right + m * box->volume + row;
                for (int i = 0; i < count; i++) {
                    right[i] *= flow->step;
                }
            }
        }
    }
}

void flow_make_box(const struct flow *flow, struct flow_box *box) {
    box->stride[0] = 1;
    box->stride[1] = box->count[0] + 2 * FLOW_LAYERS;
    box->stride[2] = box->stride[1] * (box->count[1] + 2 * FLOW_LAYERS);
    box->volume = (size_t)box->stride[2] * (size_t)(box->count[2] + 2 * FLOW_LAYERS);
    box->volume = (box->volume / 8 | 1) * 8 + 8; /* no power of two, which would share cache sets */
    box->u = nas_room(FLOW_FIELDS * box->volume, sizeof(double));
    box->right = nas_room(FLOW_FIELDS * box->volume, sizeof(double));
    box->forcing = nas_room(FLOW_FIELDS * box->volume, sizeof(double));
    box->inverse_density = nas_room(box->volume, sizeof(double));
    for (int axis = 0; axis < FLOW_AXES; axis++) {
        box->velocity[axis] = nas_room(box->volume, sizeof(double));
    }
    box->square = nas_room(box->volume, sizeof(double));
    box->per_mass = nas_room(box->volume, sizeof(double));
    /* The exact solution stays as it is where the forcing undoes its right side. */
    struct flow unscaled = *flow;
    unscaled.step = -1;
    fill(flow, box, find_exact);
    flow_find_derived(box);
    flow_find_right_side(&unscaled, box);
    memcpy(box->forcing, box->right, FLOW_FIELDS * box->volume * sizeof(double));
}

void flow_begin(const struct flow *flow, struct flow_box *box) {
    fill(flow, box, find_blend);
    memset(box->right, 0, FLOW_FIELDS * box->volume * sizeof(double));
}

void flow_advance(const struct flow *flow, struct flow_box *box, double weight) {
    int first[FLOW_AXES];
    int end[FLOW_AXES];
    for (int axis = 0; axis < FLOW_AXES; axis++) {
        flow_inner(flow, box, axis, &first[axis], &end[axis]);
    }
    for (size_t m = 0; m < FLOW_FIELDS; m++) {
        for (int k = first[2]; k < end[2]; k++) {
            for (int j = first[1]; j < end[1]; j++) {
                const size_t row = m * box->volume + (size_t)flow_place(box, first[0], j, k);
                double *const u = box->u + row;
                const double *const right = box->right + row;
                NAS_INDEPENDENT
                for (int i = 0; i < end[0] - first[0]; i++) {
                    u[i] += weight * right[i];
                }
            }
        }
    }
}

void flow_add_squares(const struct flow *flow, const struct flow_box *box,
                      double right[FLOW_FIELDS], double error[FLOW_FIELDS]) {
    int first[FLOW_AXES];
    int end[FLOW_AXES];
    for (int axis = 0; axis < FLOW_AXES; axis++) {
        flow_inner(flow, box, axis, &first[axis], &end[axis]);
    }
    for (int k = first[2]; k < end[2]; k++) {
        for (int j = first[1]; j < end[1]; j++) {
            for (int i = first[0]; i < end[0]; i++) {
                const size_t place = (size_t)flow_place(box, i, j, k);
                const int n = flow->points - 1;
                const double at[FLOW_AXES] = {(double)(i + box->start[0]) / n,
                                              (double)(j + box->start[1]) / n,
                                              (double)(k + box->start[2]) / n};
                double exact[FLOW_FIELDS];
                find_exact(at, exact);
                for (size_t m = 0; m < FLOW_FIELDS; m++) {
                    const double off = box->u[m * box->volume + place] - exact[m];
                    const double own = box->right[m * box->volume + place] / flow->step;
                    error[m] += off * off;
                    right[m] += own * own;
                }
            }
        }
    }
}

void flow_compare(const struct flow *flow, struct nas_verdict *verdict, double right[FLOW_FIELDS],
                  double error[FLOW_FIELDS], const struct flow_norms *defined) {
    static const char *const residual_names[FLOW_FIELDS] = {
        "the residual of density", "the residual of momentum x", "the residual of momentum y",
        "the residual of momentum z", "the residual of energy"};
    static const char *const error_names[FLOW_FIELDS] = {
        "the error of density", "the error of momentum x", "the error of momentum y",
        "the error of momentum z", "the error of energy"};
    const double inner = pow(flow->points - 2, FLOW_AXES);
    MPI_Allreduce(MPI_IN_PLACE, right, FLOW_FIELDS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, error, FLOW_FIELDS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int m = 0; m < FLOW_FIELDS; m++) {
        nas_compare(verdict, residual_names[m], sqrt(right[m] / inner), defined->residual[m], 1e-8);
        nas_compare(verdict, error_names[m], sqrt(error[m] / inner), defined->error[m], 1e-8);
    }
}

size_t flow_layers_size(const struct flow_box *box, int axis) {
    const size_t across = (size_t)box->count[(axis + 1) % FLOW_AXES];
    const size_t beyond = (size_t)box->count[(axis + 2) % FLOW_AXES];
    return FLOW_FIELDS * FLOW_LAYERS * across * beyond;
}

/* Both ways through the same points. */
static size_t copy_layers(const struct flow_box *box, int axis, int at, double *message,
                          bool is_out) {
    int first[FLOW_AXES] = {0};
    int end[FLOW_AXES];
    memcpy(end, box->count, sizeof end);
    first[axis] = at;
    end[axis] = at + FLOW_LAYERS;
    const size_t row_bytes = (size_t)(end[0] - first[0]) * sizeof *message;
    size_t copied = 0;
    for (size_t m = 0; m < FLOW_FIELDS; m++) {
        for (int k = first[2]; k < end[2]; k++) {
            for (int j = first[1]; j < end[1]; j++) {
                double *const row = box->u + m * box->volume + flow_place(box, first[0], j, k);
                memcpy(is_out ? message + copied : row, is_out ? row : message + copied, row_bytes);
                copied += (size_t)(end[0] - first[0]);
            }
        }
    }
    return copied;
}

size_t flow_pack(const struct flow_box *box, int axis, int at, double *message) {
    return copy_layers(box, axis, at, message, true);
}

size_t flow_unpack(struct flow_box *box, int axis, int at, const double *message) {
    return copy_layers(box, axis, at, (double *)message, false);
}
