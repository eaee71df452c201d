/* Threads that are made once and share each task that they get. They wait awake for some
 * milliseconds where the process has CPUs enough, then on a condition variable. */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>

typedef void pool_task(size_t thread, void *argument);

/* Exits with 77 where so many threads cannot be started. */
void pool_open(size_t threads);

/* Hands the task to all threads and waits in the same way until each has done it; in a pool of none
 * the caller does it, as thread 0. `meanwhile` runs in the caller while they work; it may
 * be NULL. */
void pool_run(pool_task *task, void *argument, void (*meanwhile)(void));

void pool_close(void);

#endif
