/* Sockets for raw Ethernet frames, and the addresses in front of each. */
#ifndef ETHERNET_H
#define ETHERNET_H

#include "carrier.h"

enum { ETHERNET_HEADER_BYTES = 14 };

/* Not yet bound: it takes nothing in. Below 0: errno says why. */
int ethernet_socket(const struct ethernet *ethernet);

/* From now on frames of our type come in. False: errno says why. */
bool ethernet_bind(int socket, const struct ethernet *ethernet);

void ethernet_head(const struct ethernet *ethernet, unsigned char header[ETHERNET_HEADER_BYTES]);

/* Frames that there was no room for since the last call. */
uint64_t ethernet_dropped(int socket);

#endif
