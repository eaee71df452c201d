/* The far side: gives back what it gets. At most one datagram for each, and never a longer one. */
#ifndef ECHO_H
#define ECHO_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* A socket at that address; port 0: any. `address` then has the port. */
int echo_open(struct sockaddr_in *address);

/* Answers one datagram; false where none came. With MSG_DONTWAIT in the flags it does not wait,
 * else until one comes or a signal does. */
bool echo_answer(int socket, int flags);

/* Until it is ended. */
_Noreturn void echo_run(int socket, bool spins);

/* For others than this process, until a signal asks for the end: then exits with 0. The address
 * must be one of this host. */
_Noreturn void echo_serve(struct sockaddr_in address, bool spins);

#endif
