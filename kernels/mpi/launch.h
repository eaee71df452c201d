/* Ranks, started by the library's own program in namespaces that end with this process. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stdbool.h>

/* What the ranks get in addition to this process's own arguments: where the files of who started
 * them are (its standard output and error, and a pipe for its state), and the far namespace. */
#define LAUNCHED_OPTION "launched"

/* Starts this very program as so many ranks, waits for them, and ends as they did. Each needs a CPU
 * of its own, unless they may be `crowded`. */
_Noreturn void launch_run(int ranks, bool is_crowded);

#endif
