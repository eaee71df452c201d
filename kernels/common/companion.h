/* Further processes next to the one that measures: the far side of a network, a switch. */
#ifndef COMPANION_H
#define COMPANION_H

#include <stdint.h>

/* Does its part until it is ended: it does not return. */
typedef void companion_body(const void *argument);

/* Forks one, on that CPU alone, and waits until it is ready; returns what it gave companion_ready.
 * Where it ends before, this process refuses or cannot run for the same reason. It is killed when
 * this process ends, in whatever way. `name` is for sentences ("the far side"). */
uint64_t companion_start(const char *name, int cpu, companion_body *body, const void *argument);

/* In a body, once. */
void companion_ready(uint64_t value);

/* Refuses to go on where a companion has ended. */
void companions_watch(void);

/* The same where a socket of one has just been found closed. */
void companions_watch_dying(void);

void companions_end(void);

#endif
