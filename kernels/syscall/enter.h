/* System calls by the processor's own instruction, where it is known here; elsewhere by the C
 * library's syscall(), which ENTERS_BY tells. Both leave errors to the caller. */
#ifndef ENTER_H
#define ENTER_H

#include <unistd.h>

#if defined(__x86_64__)
#define ENTERS_BY "syscall"

static inline long enter(long number, long first, long second) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(first), "S"(second)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)
#define ENTERS_BY "svc"

static inline long enter(long number, long first, long second) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = first;
    register long x1 __asm__("x1") = second;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
    return x0;
}

#else
#define ENTERS_BY "libc"

static inline long enter(long number, long first, long second) {
    return syscall(number, first, second);
}

#endif
#endif
