/* The command line of a kernel. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "bench.h"
#include "points.h"

struct arguments {
    struct bench_settings settings;
    struct bench_point points[POINTS_MAX];
    size_t point_count;
    size_t processes;
    bool together; /* all processes meet before each sample */
    size_t turns;  /* in which each point is measured, see turns.h */
    bool pauses;   /* before each turn */
    bool cold;     /* no warm-up before later turns */
};

/* Refuses what is wrong, and answers --help. */
void arguments_parse(const struct bench_kernel *kernel, int argc, char **argv,
                     struct arguments *arguments);

#endif
