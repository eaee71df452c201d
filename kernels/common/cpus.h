/* The CPUs that this process may use. */
#ifndef CPUS_H
#define CPUS_H

#include <stddef.h>

/* The first ones, at most `most`; how many there are of these. */
size_t cpus_find(int *cpus, size_t most);

/* This process runs there and nowhere else, or cannot run. */
void cpus_pin(int cpu);

#endif
