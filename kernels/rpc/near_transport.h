/* The near side of trips by messages. */
#ifndef NEAR_TRANSPORT_H
#define NEAR_TRANSPORT_H

#include <sys/types.h>

#include "../messages/ends.h"
#include "trip.h"

/* Once: this process has the near end. */
void near_transport_open(const struct ends *ends);

/* Sends a request and waits for its answer; returns the length of it, below 0: there is none. */
ssize_t near_transport_exchange(const struct trip *trip, const void *request, size_t bytes,
                                unsigned char *answer, size_t room);

/* A CLIENT of the RPC library, for calls whose transport is messages; not to be freed. */
void *near_transport_client(const struct trip *trip, uint32_t program, uint32_t version);

#endif
