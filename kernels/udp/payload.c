#include "payload.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pattern.h"

enum { WORD_BYTES = 8 };

/* No datagram of zeros, whatever its number. */
static uint32_t mask(uint64_t seed) {
    return (uint32_t)pattern_make(seed).key;
}

void payload_make(struct payload *payload, size_t bytes, uint64_t seed, uint32_t number) {
    const uint32_t first = number ^ mask(seed);
    uint64_t *words = (uint64_t *)(void *)payload->bytes;
    pattern_fill(pattern_make(seed + number), words, (bytes + WORD_BYTES - 1) / WORD_BYTES);
    memcpy(payload->bytes, &first, sizeof first);
}

uint32_t payload_number(const struct payload *payload, uint64_t seed) {
    uint32_t first;
    memcpy(&first, payload->bytes, sizeof first);
    return first ^ mask(seed);
}

void tally_wrong(struct tally *tally, const char *format, ...) {
    if (tally->wrong++ == 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(tally->first_wrong, sizeof tally->first_wrong, format, arguments);
        va_end(arguments);
    }
}

void tally_answer(struct tally *tally, uint32_t number, const struct payload *sent, size_t bytes,
                  const struct payload *received, ssize_t length) {
    if ((size_t)length != bytes) {
        tally_wrong(tally, "the answer to datagram %" PRIu32 " has %zd bytes instead of %zu",
                    number, length, bytes);
        return;
    }
    size_t good = bytes;
    if (memcmp(sent->bytes, received->bytes, bytes) != 0) {
        for (good = 0; sent->bytes[good] == received->bytes[good];) {
            good++;
        }
    }
    if (good == bytes) {
        tally->answered++;
    } else {
        tally_wrong(tally, "the answer to datagram %" PRIu32 " differs from byte %zu on", number,
                    good);
    }
}
