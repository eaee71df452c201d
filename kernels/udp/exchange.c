#define _GNU_SOURCE
#include "exchange.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "refuse.h"

void exchange_renew(struct exchange *exchange) {
    const int before = exchange->socket;
    exchange->socket = exchange_socket(exchange);
    if (exchange->socket < 0) {
        refuse("the near side has no socket (%s); check its address and the limit of open files",
               strerror(errno));
    }
    if (before >= 0) {
        close(before);
    }
    exchange->sockets++;
}

void exchange_make(const struct exchange *exchange, uint32_t number, struct payload *payload) {
    payload_make(exchange->seed, number, payload->bytes, exchange->bytes);
}

uint32_t exchange_number(const struct exchange *exchange, const struct payload *payload) {
    return payload_number(exchange->seed, payload->bytes);
}

void exchange_take_wrong(struct exchange *exchange, const char *format, ...) {
    if (exchange->wrong++ == 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(exchange->first_wrong, sizeof exchange->first_wrong, format, arguments);
        va_end(arguments);
    }
}

void exchange_take(struct exchange *exchange, uint32_t number, const struct payload *sent,
                   const struct payload *received, ssize_t length) {
    exchange->lost_in_a_row = 0;
    if ((size_t)length != exchange->bytes) {
        exchange_take_wrong(exchange,
                            "the answer to datagram %" PRIu32 " has %zd bytes instead of %zu",
                            number, length, exchange->bytes);
    } else if (memcmp(sent->bytes, received->bytes, exchange->bytes) != 0) {
        size_t good = 0;
        while (sent->bytes[good] == received->bytes[good]) {
            good++;
        }
        exchange_take_wrong(exchange, "the answer to datagram %" PRIu32 " differs from byte %zu on",
                            number, good);
    } else {
        exchange->answered++;
    }
}

void exchange_lose(struct exchange *exchange) {
    exchange->lost++;
    exchange->lost_in_a_row++;
}

bool exchange_has_failed(const struct exchange *exchange) {
    /* One may be lost of few, too. */
    return exchange->lost_in_a_row >= LOST_IN_A_ROW_MOST ||
           (exchange->lost > 1 && exchange->lost * 100 > LOST_PERCENT_MOST * exchange->planned);
}
