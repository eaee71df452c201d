/* The option --bytes of every kernel that has a size. */
#ifndef BYTES_OPTION_H
#define BYTES_OPTION_H

#include "bench.h"

/* No option at all where the kernel left its size out. To be called once. */
const struct argp *bytes_option(const struct bench_size *size);

#endif
