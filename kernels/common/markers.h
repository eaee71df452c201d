/* likwid's marker regions: likwid-perfctr counts what the samples of a point did. */
#ifndef MARKERS_H
#define MARKERS_H

#include <stddef.h>

/* Of the N-th --point; benchbook/evidence/counters looks for the same names. */
#define MARKERS_REGION "p%zu"

/* Under `likwid-perfctr -m`: loads likwid's library, and exits with 77 if there is none or if
 * several processes measure. Elsewhere neither this nor the others do anything.
 *
 * Call it in the first thread, once the kernel is open: the region is entered by each thread that
 * the kernel's timed functions use. */
void markers_open(size_t processes);

void markers_start(size_t point);
void markers_stop(size_t point);

/* Writes down what was counted. */
void markers_close(void);

#endif
