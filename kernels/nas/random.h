/* The benchmark's random numbers: x' = a x modulo 2^46, as a fraction of 2^46. */
#ifndef NAS_RANDOM_H
#define NAS_RANDOM_H

#include <stdint.h>

#define RANDOM_FACTOR UINT64_C(1220703125) /* 5^13 */
#define RANDOM_SEED UINT64_C(314159265)

#define RANDOM_MASK ((UINT64_C(1) << 46) - 1)

/* The low 46 bits of a product need only its low 64. */
static inline uint64_t random_times(uint64_t a, uint64_t x) {
    return a * x & RANDOM_MASK;
}

static inline double random_fraction(uint64_t x) {
    return (double)(int64_t)x * 0x1p-46;
}

static inline double random_next(uint64_t *x) {
    *x = random_times(RANDOM_FACTOR, *x);
    return random_fraction(*x);
}

/* The number that stands so many steps after x. */
static inline uint64_t random_after(uint64_t x, uint64_t steps) {
    for (uint64_t factor = RANDOM_FACTOR; steps > 0; steps >>= 1) {
        x = steps & 1 ? random_times(factor, x) : x;
        factor = random_times(factor, factor);
    }
    return x;
}

#endif
