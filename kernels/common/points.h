/* --point KEY=VALUE,KEY=VALUE,... */
#ifndef POINTS_H
#define POINTS_H

#include "bench.h"

enum { POINTS_MAX = 64 };

/* Refuses what is unknown, doubled, missing or out of range. */
struct bench_point point_parse(const struct bench_kernel *kernel, const char *text);

#endif
