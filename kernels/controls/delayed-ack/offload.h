/* Whether an interface takes segments that are longer than its frames, and cuts them itself. */
#ifndef OFFLOAD_H
#define OFFLOAD_H

#include <stdbool.h>

/* Cannot run where the interface does not take the setting. It stays so: to be used in a network of
 * one's own. */
void offload_set(const char *interface, bool on);

bool offload_is_set(const char *interface);

#endif
