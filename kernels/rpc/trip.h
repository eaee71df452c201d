/* A round trip: a payload goes to the far side, and its first word comes back. */
#ifndef TRIP_H
#define TRIP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench.h"
#include "payload.h"

enum { TRIP_BYTES_MOST = 8192 }; /* of a payload */

/* What Sun RPC sends around it (RFC 5531), and what is sent in its place where there is no RPC. */
enum { CALL_BYTES = 40, LENGTH_BYTES = 4, REPLY_BYTES = 24, ANSWER_BYTES = 4, MARK_BYTES = 4 };
enum { MESSAGE_BYTES_MOST = MARK_BYTES + CALL_BYTES + LENGTH_BYTES + TRIP_BYTES_MOST };

/* How long an answer is waited for. A stream loses nothing: where none comes, none will. */
enum { STREAM_LIMIT_S = 3, DATAGRAM_LIMIT_S = 1 };

enum protocol { PROTOCOL_TCP, PROTOCOL_UDP, PROTOCOL_FIFO, PROTOCOL_SIGNAL };

enum trip_end { TRIP_ANSWERED, TRIP_LOST, TRIP_BROKEN };

struct trip {
    enum protocol protocol;
    struct in_addr here;
    struct sockaddr_in there;
    bool spins;
    bool is_call; /* of Sun RPC */
    size_t bytes; /* of the payload */
    size_t request_bytes;
    size_t answer_bytes;

    _Alignas(64) unsigned char request[MESSAGE_BYTES_MOST + 64]; /* begins with the payload */
    bool is_given_up; /* the point has failed: no more requests are sent */
    int socket;
    uint64_t sockets_opened;
    uint32_t answer;
    enum trip_end end;
    const char *why; /* why it is broken, in words */
};

/* How a method makes a trip. */
struct trip_method {
    void (*open)(struct trip *trip); /* a socket for all trips of a point, or refuses */
    bench_timed *timed;              /* its state is the trip */
    void (*look)(struct trip *trip); /* after each: how it ended */
    void (*close)(struct trip *trip);
};

/* A socket connected to the far side, or refuses. Counts in sockets_opened. */
int trip_connect(struct trip *trip);

#endif
