/* The far side of bursts: a program that reads one socket, takes some time for each datagram, and
 * counts what arrived in order and unchanged. */
#ifndef ARRIVALS_H
#define ARRIVALS_H

#include <netinet/in.h>
#include <stdint.h>

enum { PAYLOAD_LEAST_BYTES = 8, PAYLOAD_MOST_BYTES = 1408 };

/* Its number, and words that all have in common. */
struct datagram {
    uint64_t number; /* larger than that of the one before */
    uint64_t words[PAYLOAD_MOST_BYTES / sizeof(uint64_t) - 1];
};

/* A socket at that address; port 0: any. `address` then has the port. */
int arrivals_socket(struct sockaddr_in *address);

/* Starts it on that CPU; `socket` is in the network of the far side, and stays open here too. */
void arrivals_start(int socket, int cpu, uint64_t seed);

/* A datagram as it is to arrive, but for the number. */
void arrivals_fill(struct datagram *datagram, uint64_t seed);

/* From now on: the buffer that its socket has, as near to that as this process may have it, and
 * what it takes for each datagram, at least. */
void arrivals_set(uint64_t buffer_bytes, uint64_t handling_ns);

/* What its socket has, as its system counts it. */
uint64_t arrivals_buffer_bytes(void);

/* Since the start. */
uint64_t arrivals_datagrams(void);
uint64_t arrivals_bytes(void);
uint64_t arrivals_wrong(void); /* out of order or changed */

/* Until it has read all that it has, and for so long nothing new comes. */
void arrivals_wait_until_quiet(uint64_t quiet_ns);

#endif
