/* Threads that are made once, wait on a condition variable, and share each task that they get. */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>

typedef void pool_task(size_t thread, void *argument);

/* Exits with 77 where so many threads cannot be had. */
void pool_open(size_t threads);

/* Wakes all threads and waits, on a condition variable too, until each has done its task; in a pool
 * of none the caller does it, as thread 0. `meanwhile` runs in the caller while they work; it may
 * be NULL. */
void pool_run(pool_task *task, void *argument, void (*meanwhile)(void));

void pool_close(void);

#endif
