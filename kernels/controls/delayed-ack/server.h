/* The far side of requests over TCP: it answers each with its tag, when it has the whole of it. */
#ifndef SERVER_H
#define SERVER_H

#include <netinet/in.h>
#include <stdint.h>

enum { TAG_BYTES = 8 }; /* the last ones of a request */

/* A listening socket at that address, in the network in which this is called; port 0: any.
 * `address` then has the port. */
int server_listen(struct sockaddr_in *address);

/* Starts it on that CPU. It serves one connection after the other. */
void server_start(int listening, int cpu);

/* Of the connections that are opened from now on. */
void server_expect(uint64_t request_bytes);

/* In whole requests, since the start. */
uint64_t server_bytes(void);

#endif
