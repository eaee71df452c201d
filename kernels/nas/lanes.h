/* A few doubles that one instruction works on: those of lines that are solved side by side. */
#ifndef NAS_LANES_H
#define NAS_LANES_H

#include <stddef.h>

#if defined(__AVX512F__)
enum { LANES = 8 };
#elif defined(__AVX__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef double loose_lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));

/* Of so many lines, `step` apart; the last one again where there are fewer than lanes. */
static inline lanes lanes_load(const double *first, ptrdiff_t step, int lines) {
    if (step == 1 && lines == LANES) {
        return *(const loose_lanes *)first;
    }
    lanes loaded;
    for (int lane = 0; lane < LANES; lane++) {
        loaded[lane] = first[(lane < lines ? lane : lines - 1) * step];
    }
    return loaded;
}

static inline void lanes_store(double *first, ptrdiff_t step, int lines, lanes values) {
    if (step == 1 && lines == LANES) {
        *(loose_lanes *)first = values;
        return;
    }
    for (int lane = 0; lane < LANES && lane < lines; lane++) {
        first[lane * step] = values[lane];
    }
}

#endif
