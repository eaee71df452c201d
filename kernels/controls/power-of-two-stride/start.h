/* What the environment asks of a whole start: these are matters of how a program is started, not
 * of what it does. */
#ifndef START_H
#define START_H

#include <stddef.h>
#include <stdint.h>

/* BENCH_PAGES: `huge` or `small` ones are asked for, else the system decides. Before the memory is
 * touched; start_look_at_pages exits with 77 where it did not get what was asked for. */
void start_ask_for_pages(void *memory, size_t bytes);
void start_look_at_pages(const void *memory, size_t bytes);

/* BENCH_BINDING: `wide`: all CPUs are allowed; `moving`: and the program is moved from one to the
 * other all the time. Exits with 77 where there is only one. */
void start_bind(void);
void start_unbind(void);

/* How many CPUs the caller may use; 0 if unknown. */
uint64_t start_affinity(void);

#endif
