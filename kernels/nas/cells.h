/* The cube divided for sweeps along each axis: q² ranks have q cells each, so placed that every
 * slab across any axis has one cell of each rank. All of them work at each stage of a sweep. */
#ifndef NAS_CELLS_H
#define NAS_CELLS_H

#include "flow.h"
#include "lanes.h"

enum { CELLS_MOST = 8 };

struct cells {
    int side; /* q */
    int places[CELLS_MOST][FLOW_AXES];
    struct flow_box boxes[CELLS_MOST];
    int stages[FLOW_AXES][CELLS_MOST]; /* along an axis: the cell that has its turn */
    int ranks[FLOW_AXES][2];           /* of the neighbours before and after, for all cells */
};

/* Lines of a box along an axis, as many as there are lanes. */
struct batch {
    struct flow_box *box;
    ptrdiff_t place; /* of the first inner point of the first line */
    ptrdiff_t step;  /* along a line */
    ptrdiff_t apart; /* from line to line */
    int lines;
    int points; /* inner ones of a line */
    int start;  /* of the first of them in the cube */
    int cell;
};

/* How lines are solved: forward through all cells, and back. What a later cell needs of an earlier
 * one is carried, in so many lanes a batch; what going back needs is kept, in so many a point. */
struct line_solver {
    size_t carried;
    size_t carried_back;
    size_t kept;
    void (*forward)(const struct batch *batch, lanes *carried, lanes *kept);
    void (*back)(const struct batch *batch, lanes *carried, const lanes *kept);
};

/* Whether so many ranks can share a cube with so many points along each axis. */
bool cells_fit(int ranks, int points);

void cells_make(struct cells *cells, const struct flow *flow);

/* Allocates what solving takes with the largest of these solvers. */
void cells_prepare(struct cells *cells, const struct line_solver *solver);

/* Fills the layers around all cells, and finds the right sides. */
void cells_find_right_side(struct cells *cells, const struct flow *flow);

void cells_solve(struct cells *cells, const struct flow *flow, int axis,
                 const struct line_solver *solver);

/* Compares the norms of all ranks with the definition's. */
void cells_compare(struct cells *cells, const struct flow *flow, struct nas_verdict *verdict,
                   const struct flow_norms *defined);

#endif
