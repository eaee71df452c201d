/* Starts the far side: a server of calls, and two of as many bytes without them. All are on one
 * CPU, and those that get no request sleep. */
#ifndef FAR_H
#define FAR_H

#include "serve.h"

/* In the network in which it is called; refuses where there is no such socket. */
struct listening far_listen(struct in_addr address);

/* Starts the servers, on that CPU; the sockets are theirs from then on. */
void far_start(struct listening calls, struct listening plain, int cpu);

/* One more, of requests by messages; the far end is its own from then on. After far_start. */
void far_start_messages(struct ends *ends, int cpu);

#endif
