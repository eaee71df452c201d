/* LU: symmetric successive over-relaxation; each step of time solves with the lower triangle of the
 * blocks, and then with the upper one. Ranks share the first two axes, and work through the third
 * one after the other. The block of a point itself is triangular, so its solution is direct. */
#include <math.h>
#include <string.h>

#include "flow.h"

enum { TAG_LAYERS = 1, TAG_SWEEP };

#define RELAXATION 1.2

static const struct {
    int points;
    int steps;
    double step;
    double surface; /* integral */
    struct flow_norms norms;
} problems[CLASSES] = {
    [CLASS_S] = {12,
                 50,
                 0.5,
                 7.8418928865937083,
                 {{1.6196343210976702e-02, 2.1976745164821318e-03, 1.5179927653399185e-03,
                   1.5029584435994323e-03, 3.4264073155896461e-02},
                  {6.4223319957960924e-04, 8.4144342047347926e-05, 5.8588269616485186e-05,
                   5.8474222595157350e-05, 1.3103347914111294e-03}}},
    [CLASS_W] = {33,
                 300,
                 1.5e-3,
                 11.61399311023,
                 {{12.36511638192, 1.317228477799, 2.550120713095, 2.326187750252, 28.26799444189},
                  {0.4867877144216, 0.05064652880982, 0.0928181810196, 0.08570126542733,
                   1.084277417792}}},
    [CLASS_A] = {64,
                 250,
                 2.0,
                 26.030925604886277,
                 {{7.7902107606689367e+02, 6.3402765259692870e+01, 1.9499249727292479e+02,
                   1.7845301160418537e+02, 1.8384760349464247e+03},
                  {2.9964085685471943e+01, 2.8194576365003349, 7.3473412698774742,
                   6.7139225687777051, 7.0715315688392578e+01}}},
    [CLASS_B] = {102,
                 250,
                 2.0,
                 47.887162703308227,
                 {{3.5532672969982736e+03, 2.6214750795310692e+02, 8.8333721850952190e+02,
                   7.7812774739425265e+02, 7.3087969592545314e+03},
                  {1.1401176380212709e+02, 8.1098963655421574, 2.8480597317698308e+01,
                   2.5905394567832939e+01, 2.6054907504857413e+02}}},
};

static enum nas_class class;
static struct flow flow;
static struct flow_box box;
static int first[FLOW_AXES]; /* inner points of the box */
static int end[FLOW_AXES];
static int neighbours[2][2]; /* by axis and side; -1: none */
static double *messages_out[2];
static double *messages_in[2];

static const char *refusal(enum nas_class of, int ranks) {
    (void)of;
    return nas_is_power_of_two(ranks) && ranks <= 16 ? NULL
                                                     : "LU divides its cube among 1, 2, 4, 8 or 16 "
                                                       "ranks";
}

static void share_axis(int axis, int place, int parts) {
    const int n = problems[class].points;
    box.start[axis] = place * (n / parts) + (place < n % parts ? place : n % parts);
    box.count[axis] = n / parts + (place < n % parts);
}

static void make(enum nas_class wanted) {
    class = wanted;
    int parts[2] = {1, 1};
    while (parts[0] * parts[1] < nas_ranks) {
        parts[parts[1] > parts[0] ? 0 : 1] *= 2;
    }
    const int places[2] = {nas_rank % parts[0], nas_rank / parts[0]};
    const int distances[2] = {1, parts[0]};
    for (int axis = 0; axis < 2; axis++) {
        share_axis(axis, places[axis], parts[axis]);
        neighbours[axis][0] = places[axis] > 0 ? nas_rank - distances[axis] : MPI_PROC_NULL;
        neighbours[axis][1] =
            places[axis] < parts[axis] - 1 ? nas_rank + distances[axis] : MPI_PROC_NULL;
    }
    share_axis(2, 0, 1);
    flow = flow_of(problems[class].points, problems[class].step);
    flow_make_box(&flow, &box);
    size_t most = 0;
    for (int axis = 0; axis < FLOW_AXES; axis++) {
        flow_inner(&flow, &box, axis, &first[axis], &end[axis]);
        most = flow_layers_size(&box, axis) > most ? flow_layers_size(&box, axis) : most;
    }
    for (int side = 0; side < 2; side++) {
        messages_out[side] = nas_room(most, sizeof(double));
        messages_in[side] = nas_room(most, sizeof(double));
    }
}

static void exchange_layers(void) {
    for (int axis = 0; axis < 2; axis++) {
        MPI_Request requests[4];
        MPI_Status statuses[4];
        int started = 0;
        const int count = (int)flow_layers_size(&box, axis);
        for (int side = 0; side < 2; side++) {
            const int with = neighbours[axis][side];
            if (with != MPI_PROC_NULL) {
                MPI_Irecv(messages_in[side], count, MPI_DOUBLE, with, TAG_LAYERS, MPI_COMM_WORLD,
                          &requests[started++]);
            }
        }
        for (int side = 0; side < 2; side++) {
            const int with = neighbours[axis][side];
            if (with != MPI_PROC_NULL) {
                (void)flow_pack(&box, axis, side == 0 ? 0 : box.count[axis] - FLOW_LAYERS,
                                messages_out[side]);
                MPI_Isend(messages_out[side], count, MPI_DOUBLE, with, TAG_LAYERS, MPI_COMM_WORLD,
                          &requests[started++]);
            }
        }
        MPI_Waitall(started, requests, statuses);
        for (int side = 0; side < 2; side++) {
            if (neighbours[axis][side] != MPI_PROC_NULL) {
                (void)flow_unpack(&box, axis, side == 0 ? -FLOW_LAYERS : box.count[axis],
                                  messages_in[side]);
            }
        }
    }
}

static void find_right_side(void) {
    exchange_layers();
    flow_find_derived(&box);
    flow_find_right_side(&flow, &box);
}

static void reset(void) {
    flow_begin(&flow, &box);
    find_right_side();
}

/* Adds the block of a neighbour along an axis, times the values there: its flux with this weight,
 * and its diffusion. */
static inline __attribute__((always_inline)) void
add_block(int axis, ptrdiff_t place, double flux_weight, double sum[FLOW_FIELDS]) {
    const size_t volume = box.volume;
    const double *const at = box.right + place;
    const double inverse = box.inverse_density[place];
    const double velocity[FLOW_AXES] = {box.velocity[0][place], box.velocity[1][place],
                                        box.velocity[2][place]};
    const double per_mass = box.per_mass[place];
    const double energy = box.u[FLOW_ENERGY * volume + (size_t)place] * inverse;
    const double d0 = at[0];
    const double d[FLOW_AXES] = {at[volume], at[2 * volume], at[3 * volume]};
    const double d4 = at[4 * volume];
    const double flux = flux_weight * flow.step * flow.first;
    const double diffusion = -flow.step * flow.second;
    const double own = diffusion * flow_diffusion[axis];
    const double speed = velocity[axis];
    double dot = 0;
    for (int m = 0; m < FLOW_AXES; m++) {
        dot += velocity[m] * d[m];
    }
    /* Of the flux: the change of pressure, and of what is carried. */
    const double pressure = FLOW_C2 * (per_mass * d0 - dot + d4);
    const double carried = d[axis] - speed * d0;
    sum[0] += flux * d[axis] + own * d0;
    double viscous = 0;
    for (int m = 0; m < FLOW_AXES; m++) {
        const double stretch = m == axis ? 4.0 / 3.0 : 1;
        const double shear = inverse * (d[m] - velocity[m] * d0);
        sum[1 + m] += flux * (velocity[m] * carried + speed * d[m] + (m == axis ? pressure : 0)) +
                      diffusion * FLOW_C3C4 * stretch * shear + own * d[m];
        viscous += (stretch * FLOW_C3C4 - FLOW_C1345) * velocity[m] * shear;
    }
    const double enthalpy = FLOW_C1 * energy - FLOW_C2 * per_mass;
    sum[4] +=
        flux * (speed * (FLOW_C1 * d4 - FLOW_C2 * dot - (enthalpy - FLOW_C2 * per_mass) * d0) +
                enthalpy * d[axis]) +
        diffusion * (viscous + FLOW_C1345 * inverse * (d4 - energy * d0)) + own * d4;
}

/* Solves with the block of the point itself, which is lower triangular. */
static inline __attribute__((always_inline)) void solve_block(ptrdiff_t place,
                                                              double values[FLOW_FIELDS]) {
    const double inverse = box.inverse_density[place];
    const double velocity[FLOW_AXES] = {box.velocity[0][place], box.velocity[1][place],
                                        box.velocity[2][place]};
    const double energy = box.u[FLOW_ENERGY * box.volume + (size_t)place] * inverse;
    const double twice = 2 * flow.step * flow.second;
    const double own = 1 + twice * (flow_diffusion[0] + flow_diffusion[1] + flow_diffusion[2]);
    const double shear = twice * FLOW_C3C4 * (4.0 / 3.0 + 2) * inverse;
    const double heat = twice * 3 * FLOW_C1345 * inverse;
    const double work = twice * (FLOW_C3C4 * (4.0 / 3.0 + 2) - 3 * FLOW_C1345) * inverse;
    values[0] /= own;
    const double by_momentum = 1 / (own + shear);
    double sum = 0;
    for (int m = 0; m < FLOW_AXES; m++) {
        values[1 + m] = (values[1 + m] + shear * velocity[m] * values[0]) * by_momentum;
        sum += work * velocity[m] * (values[1 + m] - velocity[m] * values[0]);
    }
    values[4] = (values[4] - sum + heat * energy * values[0]) / (own + heat);
}

/* A row of one level from neighbours on one side: `side` is -1 for the lower triangle. */
static inline __attribute__((always_inline)) void sweep_row(int side, int j, int k) {
    const size_t volume = box.volume;
    const double flux_weight = side;
    for (int step = 0; step < end[0] - first[0]; step++) {
        const int i = side < 0 ? first[0] + step : end[0] - 1 - step;
        const ptrdiff_t place = flow_place(&box, i, j, k);
        double sum[FLOW_FIELDS] = {0};
        add_block(2, place + side * box.stride[2], flux_weight, sum);
        add_block(1, place + side * box.stride[1], flux_weight, sum);
        add_block(0, place + side, flux_weight, sum);
        double values[FLOW_FIELDS];
        for (size_t m = 0; m < FLOW_FIELDS; m++) {
            const double right = side < 0 ? box.right[m * volume + (size_t)place] : 0;
            values[m] = right - RELAXATION * sum[m];
        }
        solve_block(place, values);
        for (size_t m = 0; m < FLOW_FIELDS; m++) {
            double *const right = &box.right[m * volume + (size_t)place];
            *right = side < 0 ? values[m] : *right + values[m];
        }
    }
}

/* One line of the right side at a level: the last point of each row along `axis`, or the last row.
 */
static size_t copy_edge(int axis, int at, int k, double *message, bool is_out) {
    const int across = 1 - axis;
    size_t copied = 0;
    for (size_t m = 0; m < FLOW_FIELDS; m++) {
        for (int line = first[across]; line < end[across]; line++) {
            double *const value =
                box.right + m * box.volume +
                (axis == 0 ? flow_place(&box, at, line, k) : flow_place(&box, line, at, k));
            if (is_out) {
                message[copied] = *value;
            } else {
                *value = message[copied];
            }
            copied++;
        }
    }
    return copied;
}

static void receive_edges(int side, int k) {
    for (int axis = 0; axis < 2; axis++) {
        const int from = neighbours[axis][side < 0 ? 0 : 1];
        if (from != MPI_PROC_NULL) {
            const int count = FLOW_FIELDS * (end[1 - axis] - first[1 - axis]);
            MPI_Recv(messages_in[0], count, MPI_DOUBLE, from, TAG_SWEEP, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            (void)copy_edge(axis, side < 0 ? -1 : box.count[axis], k, messages_in[0], false);
        }
    }
}

static void send_edges(int side, int k) {
    for (int axis = 0; axis < 2; axis++) {
        const int to = neighbours[axis][side < 0 ? 1 : 0];
        if (to != MPI_PROC_NULL) {
            const size_t count =
                copy_edge(axis, side < 0 ? box.count[axis] - 1 : 0, k, messages_out[0], true);
            MPI_Send(messages_out[0], (int)count, MPI_DOUBLE, to, TAG_SWEEP, MPI_COMM_WORLD);
        }
    }
}

static void sweep_up(void) {
    for (int k = first[2]; k < end[2]; k++) {
        receive_edges(-1, k);
        for (int j = first[1]; j < end[1]; j++) {
            sweep_row(-1, j, k);
        }
        send_edges(-1, k);
    }
}

static void sweep_down(void) {
    for (int k = end[2] - 1; k >= first[2]; k--) {
        receive_edges(1, k);
        for (int j = end[1] - 1; j >= first[1]; j--) {
            sweep_row(1, j, k);
        }
        send_edges(1, k);
    }
}

BENCH_TIMED static void timed_lu(const void *state) {
    (void)state;
    for (int step = 0; step < problems[class].steps; step++) {
        sweep_up();
        sweep_down();
        flow_advance(&flow, &box, 1 / (RELAXATION * (2 - RELAXATION)));
        find_right_side();
    }
}

/* Of the pressure over six faces within the cube, by trapezia. */
static double find_surface(void) {
    static const int low[FLOW_AXES] = {1, 1, 2};
    const int n = problems[class].points;
    const int high[FLOW_AXES] = {n - 2, n - 3, n - 2};
    double sum = 0;
    for (int axis = 0; axis < FLOW_AXES; axis++) {
        for (int k = 0; k < box.count[2]; k++) {
            for (int j = 0; j < box.count[1]; j++) {
                for (int i = 0; i < box.count[0]; i++) {
                    const int at[FLOW_AXES] = {i + box.start[0], j + box.start[1],
                                               k + box.start[2]};
                    double weight = 1;
                    for (int other = 0; other < FLOW_AXES; other++) {
                        const bool is_end = at[other] == low[other] || at[other] == high[other];
                        const bool is_within = at[other] > low[other] && at[other] < high[other];
                        weight *= is_end ? 1 : is_within && other != axis ? 2 : 0;
                    }
                    if (weight > 0) {
                        const size_t place = (size_t)flow_place(&box, i, j, k);
                        const double *const u = box.u + place;
                        const double kinetic =
                            0.5 *
                            (u[box.volume] * u[box.volume] + u[2 * box.volume] * u[2 * box.volume] +
                             u[3 * box.volume] * u[3 * box.volume]) /
                            u[0];
                        sum += weight * FLOW_C2 * (u[4 * box.volume] - kinetic);
                    }
                }
            }
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return 0.25 * sum / ((double)(n - 1) * (n - 1));
}

static void verify(struct nas_verdict *verdict) {
    double right[FLOW_FIELDS] = {0};
    double error[FLOW_FIELDS] = {0};
    flow_add_squares(&flow, &box, right, error);
    flow_compare(&flow, verdict, right, error, &problems[class].norms);
    nas_compare(verdict, "the surface integral", find_surface(), problems[class].surface, 1e-8);
}

static double operations(enum nas_class of) {
    const double n = problems[of].points;
    return problems[of].steps * (1984.77 * n * n * n - 10923.3 * n * n + 27770.9 * n - 144010);
}

const struct nas_program nas_lu = {
    .name = "lu",
    .refusal = refusal,
    .make = make,
    .reset = reset,
    .timed = timed_lu,
    .verify = verify,
    .operations = operations,
};
