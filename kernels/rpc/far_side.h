/* What the near side and the servers of the far side share: the trip that is measured now, and the
 * payload that arrived last. */
#ifndef FAR_SIDE_H
#define FAR_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trip.h"

/* Once, before the servers start. */
void far_share(void);

/* --- For the near side. */

/* The servers serve such trips from now on. */
void far_expect(const struct trip *trip);

/* No more requests come: a server that spins may sleep. */
void far_rest(void);

/* Whether this payload is what arrived last. */
bool far_has(const unsigned char *payload, size_t bytes);

/* Whether the far side's end of the connection has TCP_NODELAY; below 0: unknown. */
int far_nodelay(void);

/* --- For the servers. */

/* Keeps what arrived at that socket; returns its first word, 0 where there is none. */
uint32_t far_take(int socket, const void *payload, size_t bytes);

size_t far_payload_bytes(void);
size_t far_request_bytes(void);
size_t far_answer_bytes(void);
bool far_spins(void);

#endif
