/* Processes that measure side by side, each pinned to one CPU. */
#ifndef CREW_H
#define CREW_H

#include <stdbool.h>
#include <stddef.h>

typedef void crew_body(size_t process);
typedef void crew_watch(void);

/* Memory of zeros that this process and those of crew_run see; exits with 77 if there is none. */
void *crew_share(size_t bytes, const char *what);

/* Runs the body in `processes` of them: number i on the i-th CPU that this process may use, from
 * the first one again when they run out. `watch` is called here, about once a second, and before
 * an early end.
 *
 * Returns when all have ended well. Where one refuses, cannot run or is killed, ends all others,
 * and this process as refuse or cannot_run do, with its reason. None outlives this process. */
void crew_run(size_t processes, bool together, crew_body *body, crew_watch *watch);

/* In a body of a crew that works together: all wait for each other, and exit with 77 if one does
 * not come. Elsewhere: nothing. */
void crew_meet(void);

#endif
