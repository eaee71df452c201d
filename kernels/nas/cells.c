#include "cells.h"

#include <string.h>

enum { TAG_LAYERS = 1, TAG_CARRIED };

static double *messages_out[2];
static double *messages_in[2];
static lanes *carried;
static lanes *arriving;
static lanes *kept;

static int side_of(int ranks) {
    int side = 1;
    while (side * side < ranks) {
        side++;
    }
    return side;
}

bool cells_fit(int ranks, int points) {
    const int side = side_of(ranks);
    return side * side == ranks && side <= CELLS_MOST && points / side >= 3;
}

static int wrapped(int number, int side) {
    return (number % side + side) % side;
}

void cells_make(struct cells *cells, const struct flow *flow) {
    const int q = side_of(nas_ranks);
    const int column = nas_rank % q;
    const int row = nas_rank / q;
    cells->side = q;
    /* The cell at (x, y, z) belongs to column x - z and row y + z of the grid of ranks. */
    static const int ahead[FLOW_AXES][2] = {{1, 0}, {0, 1}, {-1, 1}};
    for (int axis = 0; axis < FLOW_AXES; axis++) {
        for (int side = 0; side < 2; side++) {
            const int way = side == 0 ? -1 : 1;
            cells->ranks[axis][side] = wrapped(column + way * ahead[axis][0], q) +
                                       wrapped(row + way * ahead[axis][1], q) * q;
        }
    }
    for (int cell = 0; cell < q; cell++) {
        struct flow_box *const box = &cells->boxes[cell];
        int *const place = cells->places[cell];
        place[0] = wrapped(column + cell, q);
        place[1] = wrapped(row - cell, q);
        place[2] = cell;
        for (int axis = 0; axis < FLOW_AXES; axis++) {
            const int share = flow->points / q;
            const int more = flow->points % q;
            const int at = place[axis];
            box->start[axis] = at * share + (at < more ? at : more);
            box->count[axis] = share + (at < more);
            cells->stages[axis][at] = cell;
        }
        flow_make_box(flow, box);
    }
    size_t most = 0;
    for (int axis = 0; axis < FLOW_AXES; axis++) {
        size_t size = 0;
        for (int cell = 0; cell < q; cell++) {
            size += flow_layers_size(&cells->boxes[cell], axis);
        }
        most = size > most ? size : most;
    }
    for (int side = 0; side < 2 && q > 1; side++) {
        messages_out[side] = nas_room(most, sizeof(double));
        messages_in[side] = nas_room(most, sizeof(double));
    }
}

static void exchange_axis(struct cells *cells, int axis) {
    const int q = cells->side;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    for (int side = 0; side < 2; side++) {
        size_t expected = 0;
        size_t packed = 0;
        for (int cell = 0; cell < q; cell++) {
            struct flow_box *const box = &cells->boxes[cell];
            const int at = cells->places[cell][axis];
            if (side == 0 ? at > 0 : at < q - 1) {
                packed += flow_pack(box, axis, side == 0 ? 0 : box->count[axis] - FLOW_LAYERS,
                                    messages_out[side] + packed);
                expected += flow_layers_size(box, axis);
            }
        }
        MPI_Irecv(messages_in[side], (int)expected, MPI_DOUBLE, cells->ranks[axis][side],
                  TAG_LAYERS + side, MPI_COMM_WORLD, &requests[side]);
        MPI_Isend(messages_out[side], (int)packed, MPI_DOUBLE, cells->ranks[axis][side],
                  TAG_LAYERS + 1 - side, MPI_COMM_WORLD, &requests[2 + side]);
    }
    MPI_Waitall(4, requests, statuses);
    for (int side = 0; side < 2; side++) {
        size_t used = 0;
        for (int cell = 0; cell < q; cell++) {
            struct flow_box *const box = &cells->boxes[cell];
            const int at = cells->places[cell][axis];
            if (side == 0 ? at > 0 : at < q - 1) {
                used += flow_unpack(box, axis, side == 0 ? -FLOW_LAYERS : box->count[axis],
                                    messages_in[side] + used);
            }
        }
    }
}

void cells_find_right_side(struct cells *cells, const struct flow *flow) {
    for (int axis = 0; axis < FLOW_AXES && cells->side > 1; axis++) {
        exchange_axis(cells, axis);
    }
    for (int cell = 0; cell < cells->side; cell++) {
        flow_find_derived(&cells->boxes[cell]);
        flow_find_right_side(flow, &cells->boxes[cell]);
    }
}

/* How the lines of a cell are divided into batches: lanes along one axis across, one by one along
 * the other. */
struct lines {
    int first[FLOW_AXES];
    int end[FLOW_AXES];
    int lane_axis;
    int other_axis;
    int across; /* batches along the axis of the lanes */
    int batches;
};

static struct lines find_lines(const struct flow *flow, const struct flow_box *box, int axis) {
    struct lines lines = {.lane_axis = axis == 0 ? 1 : 0, .other_axis = axis == 2 ? 1 : 2};
    for (int a = 0; a < FLOW_AXES; a++) {
        flow_inner(flow, box, a, &lines.first[a], &lines.end[a]);
    }
    lines.across = (lines.end[lines.lane_axis] - lines.first[lines.lane_axis] + LANES - 1) / LANES;
    lines.batches = lines.across * (lines.end[lines.other_axis] - lines.first[lines.other_axis]);
    return lines;
}

static struct batch find_batch(struct flow_box *box, int axis, const struct lines *lines,
                               int number) {
    int at[FLOW_AXES];
    at[axis] = lines->first[axis];
    at[lines->lane_axis] = lines->first[lines->lane_axis] + number % lines->across * LANES;
    at[lines->other_axis] = lines->first[lines->other_axis] + number / lines->across;
    const int left = lines->end[lines->lane_axis] - at[lines->lane_axis];
    return (struct batch){
        .box = box,
        .place = flow_place(box, at[0], at[1], at[2]),
        .step = box->stride[axis],
        .apart = box->stride[lines->lane_axis],
        .lines = left < LANES ? left : LANES,
        .points = lines->end[axis] - lines->first[axis],
        .start = box->start[axis] + lines->first[axis],
    };
}

void cells_prepare(struct cells *cells, const struct line_solver *solver) {
    size_t most_batches = 0;
    size_t most_points = 0;
    for (int cell = 0; cell < cells->side; cell++) {
        const int *const count = cells->boxes[cell].count;
        for (int axis = 0; axis < FLOW_AXES; axis++) {
            const size_t across = (size_t)(count[axis == 0 ? 1 : 0] + LANES - 1) / LANES;
            const size_t batches = across * (size_t)count[axis == 2 ? 1 : 2];
            most_batches = batches > most_batches ? batches : most_batches;
            most_points = (size_t)count[axis] > most_points ? (size_t)count[axis] : most_points;
        }
    }
    /* One rank solves a batch there and back at once. */
    const size_t kept_batches = nas_ranks > 1 ? most_batches * (size_t)cells->side : 1;
    kept = nas_room(kept_batches * most_points * solver->kept, sizeof *kept);
    carried = nas_room(most_batches * solver->carried, sizeof *carried);
    arriving = nas_room(most_batches * solver->carried, sizeof *arriving);
}

static void solve_alone(struct cells *cells, const struct flow *flow, int axis,
                        const struct line_solver *solver) {
    struct flow_box *const box = &cells->boxes[0];
    const struct lines lines = find_lines(flow, box, axis);
    for (int number = 0; number < lines.batches; number++) {
        const struct batch batch = find_batch(box, axis, &lines, number);
        memset(carried, 0, solver->carried * sizeof *carried);
        solver->forward(&batch, carried, kept);
        memset(carried, 0, solver->carried_back * sizeof *carried);
        solver->back(&batch, carried, kept);
    }
}

static int numbers_carried(const struct cells *cells, const struct flow *flow, int axis, int stage,
                           size_t each) {
    const struct lines lines = find_lines(flow, &cells->boxes[cells->stages[axis][stage]], axis);
    return (int)(each * (size_t)lines.batches) * LANES;
}

/* What is carried goes to the rank of the next stage, while that of the stage before sends. All
 * ranks are at the same stage: if each sent before it received, large messages would wait for each
 * other without end. */
static void pass_on(const struct cells *cells, const struct flow *flow, int axis, int stage,
                    bool is_back, size_t each) {
    const int next = stage + (is_back ? -1 : 1);
    const int numbers = numbers_carried(cells, flow, axis, stage, each);
    MPI_Request request;
    MPI_Irecv(arriving, numbers_carried(cells, flow, axis, next, each), MPI_DOUBLE,
              cells->ranks[axis][is_back ? 1 : 0], TAG_CARRIED, MPI_COMM_WORLD, &request);
    MPI_Send(carried, numbers, MPI_DOUBLE, cells->ranks[axis][is_back ? 0 : 1], TAG_CARRIED,
             MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    lanes *const sent = carried;
    carried = arriving;
    arriving = sent;
}

/* One stage of a sweep; what is carried has come from the rank of the stage before. */
static void solve_stage(struct cells *cells, const struct flow *flow, int axis, int stage,
                        bool is_back, const struct line_solver *solver) {
    const int cell = cells->stages[axis][stage];
    struct flow_box *const box = &cells->boxes[cell];
    const struct lines lines = find_lines(flow, box, axis);
    const size_t each = is_back ? solver->carried_back : solver->carried;
    const bool is_first = stage == (is_back ? cells->side - 1 : 0);
    const bool is_last = stage == (is_back ? 0 : cells->side - 1);
    if (is_first) {
        memset(carried, 0, each * (size_t)lines.batches * sizeof *carried);
    }
    size_t place = 0; /* of what is kept for this cell, behind that of those before */
    for (int c = 0; c < cell; c++) {
        const struct lines before = find_lines(flow, &cells->boxes[c], axis);
        place += (size_t)before.batches * (size_t)(before.end[axis] - before.first[axis]);
    }
    for (int number = 0; number < lines.batches; number++) {
        struct batch batch = find_batch(box, axis, &lines, number);
        batch.cell = cell;
        lanes *const own = kept + (place + (size_t)number * (size_t)batch.points) * solver->kept;
        if (is_back) {
            solver->back(&batch, carried + (size_t)number * each, own);
        } else {
            solver->forward(&batch, carried + (size_t)number * each, own);
        }
    }
    if (!is_last) {
        pass_on(cells, flow, axis, stage, is_back, each);
    }
}

void cells_solve(struct cells *cells, const struct flow *flow, int axis,
                 const struct line_solver *solver) {
    if (cells->side == 1) {
        solve_alone(cells, flow, axis, solver);
        return;
    }
    for (int stage = 0; stage < cells->side; stage++) {
        solve_stage(cells, flow, axis, stage, false, solver);
    }
    for (int stage = cells->side - 1; stage >= 0; stage--) {
        solve_stage(cells, flow, axis, stage, true, solver);
    }
}

void cells_compare(struct cells *cells, const struct flow *flow, struct nas_verdict *verdict,
                   const struct flow_norms *defined) {
    double right[FLOW_FIELDS] = {0};
    double error[FLOW_FIELDS] = {0};
    cells_find_right_side(cells, flow);
    for (int cell = 0; cell < cells->side; cell++) {
        flow_add_squares(flow, &cells->boxes[cell], right, error);
    }
    flow_compare(flow, verdict, right, error, defined);
}
