/* The far side: a server of calls, and two of as many bytes without them. All are on one CPU, and
 * those that are not asked sleep. */
#ifndef FAR_H
#define FAR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trip.h"

/* Where a server waits, at ports that the system chooses. By protocol. */
struct listening {
    int sockets[2];
    struct sockaddr_in addresses[2];
};

/* In the network in which it is called; refuses where there is no such socket. */
struct listening far_listen(struct in_addr address);

/* Starts the servers, on that CPU; the sockets are theirs from then on. */
void far_start(struct listening calls, struct listening plain, int cpu);

/* Of the trips from now on. */
void far_expect(const struct trip *trip);

/* What comes now comes no more: who spins may sleep. */
void far_rest(void);

/* Whether this payload is what came last. */
bool far_has(const unsigned char *payload, size_t bytes);

/* Whether the far side's end of the connection has TCP_NODELAY; below 0: not known. */
int far_nodelay(void);

/* --- For those who serve. */

/* Keeps what came at that socket; returns its first word, 0 where there is none. */
uint32_t far_take(int socket, const void *payload, size_t bytes);

size_t far_payload_bytes(void);
size_t far_request_bytes(void);
size_t far_answer_bytes(void);
bool far_spins(void);

_Noreturn void serve_calls(struct listening listening);
_Noreturn void serve_stream(int listening);
_Noreturn void serve_datagrams(int socket);

#endif
