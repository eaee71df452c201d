/* Two ways to keep the compiler from dropping or merging work. Neither costs an instruction. */
#ifndef SINK_H
#define SINK_H

#include <stdint.h>

/* The value counts as used here, so that what computed it stays. */
static inline void bench_sink(uint64_t value) {
    __asm__ volatile("" : : "r"(value));
}

/* All memory may be read and written here, as far as the compiler knows: it can neither drop nor
 * merge what stands before and after. Only values held back in registers would be stored, and
 * locals whose address was never taken are none of these. */
static inline void bench_barrier(const void *address) {
    __asm__ volatile("" : : "r"(address) : "memory");
}

#endif
