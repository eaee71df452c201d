/* Frames through a file descriptor: what carriers over sockets share. */
#ifndef DESCRIPTOR_H
#define DESCRIPTOR_H

#include "carrier.h"

/* False where there is no room now. */
bool descriptor_send(struct carrier *carrier, int socket, const void *frame, size_t bytes);

/* `room` with a frame in it, or NULL. */
const unsigned char *descriptor_take(struct carrier *carrier, int socket, unsigned char *room,
                                     size_t room_bytes, size_t *bytes);

void descriptor_wait(int socket, uint64_t limit_ns);

/* Datagrams that the socket had no room for. */
uint64_t descriptor_dropped(int socket);

#endif
