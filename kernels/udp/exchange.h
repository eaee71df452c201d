/* Datagrams of one point, their answers, and what became of them. An answer tells which datagram it
 * answers, and whether it is whole. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "payload.h"

enum { PAYLOAD_MOST_BYTES = 1408 };

/* The point has failed where so many in a row have no answer, or more than so many of all. */
enum { LOST_IN_A_ROW_MOST = 8, LOST_PERCENT_MOST = 1 };

/* There is room behind the longest, so that a longer answer is seen to be longer. */
struct payload {
    _Alignas(64) unsigned char bytes[PAYLOAD_MOST_BYTES + 64];
};

struct exchange {
    struct sockaddr_in here; /* port 0: any */
    struct sockaddr_in there;
    bool spins;
    size_t bytes; /* of each payload */
    uint64_t seed;
    uint64_t planned; /* datagrams */

    int socket;      /* for all datagrams, or -1 */
    uint32_t number; /* of the next datagram; goes on from point to point */

    uint64_t sockets; /* opened */
    uint64_t answered;
    uint64_t lost;
    uint64_t lost_in_a_row;
    uint64_t wrong;        /* answers */
    char first_wrong[160]; /* what is wrong with it */
};

/* Bound to the near address and a port that the system chooses; below 0 where there is none.
 * Inline, so that its calls are seen in a timed function that makes them. */
static inline int exchange_socket(const struct exchange *exchange) {
    const int near = socket(AF_INET, SOCK_DGRAM, 0);
    if (near >= 0 &&
        bind(near, (const struct sockaddr *)&exchange->here, sizeof exchange->here) != 0) {
        close(near);
        return -1;
    }
    return near;
}

/* The socket for all datagrams: another one, at another port, so that what comes too late finds
 * it no more. */
void exchange_renew(struct exchange *exchange);

void exchange_make(const struct exchange *exchange, uint32_t number, struct payload *payload);

/* As payload_number. */
uint32_t exchange_number(const struct exchange *exchange, const struct payload *payload);

/* Counts an answer of `length` bytes to the datagram of that number, which was `sent`. */
void exchange_take(struct exchange *exchange, uint32_t number, const struct payload *sent,
                   const struct payload *received, ssize_t length);

/* Counts an answer that is wrong for another reason. */
void exchange_take_wrong(struct exchange *exchange, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void exchange_lose(struct exchange *exchange);
bool exchange_has_failed(const struct exchange *exchange);

#endif
