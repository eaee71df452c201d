/* The processor's own counter of time: cycles of a reference clock, which ticks at one rate however
 * fast the core runs. So they are no cycles of the core, and say so wherever they are shown. */
#ifndef CYCLES_H
#define CYCLES_H

#include <stdbool.h>
#include <stdint.h>

/* False where this processor has none that a program may read. */
static inline bool cycles_now(uint64_t *cycles) {
#if defined(__x86_64__)
    *cycles = __builtin_ia32_rdtsc();
    return true;
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(*cycles));
    return true;
#else
    *cycles = 0;
    return false;
#endif
}

#endif
