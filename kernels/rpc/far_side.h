/* What the near side and the servers of the far side share: the trip that is measured now, and the
 * payload that arrived last. */
#ifndef FAR_SIDE_H
#define FAR_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport.h"
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

/* Of the far side, since it was opened. */
struct transport_frames far_frames(void);

/* Whether the far side's end of the connection has TCP_NODELAY; below 0: unknown. */
int far_nodelay(void);

/* --- For the servers. */

/* Keeps what arrived at that socket; returns its first word, 0 where there is none. */
uint32_t far_take(int socket, const void *payload, size_t bytes);

size_t far_payload_bytes(void);
size_t far_request_bytes(void);
size_t far_answer_bytes(void);
bool far_spins(void);
bool far_is_called(void);    /* by Sun RPC */
bool far_has_messages(void); /* requests come by messages */

/* What the near side is to see of the far side's frames. */
void far_note_frames(struct transport_frames frames);

#endif
