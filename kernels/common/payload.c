#include "payload.h"

#include <string.h>

#include "pattern.h"

enum { WORD_BYTES = 8 };

/* So that no number is a payload of zeros. */
static uint32_t mask(uint64_t seed) {
    return (uint32_t)pattern_make(seed).key;
}

void payload_make(uint64_t seed, uint32_t number, unsigned char *room, size_t bytes) {
    const uint32_t first = number ^ mask(seed);
    const size_t words = (bytes + WORD_BYTES - 1) / WORD_BYTES;
    pattern_fill(pattern_make(seed + number), (uint64_t *)(void *)room, words);
    memcpy(room, &first, sizeof first);
}

uint32_t payload_number(uint64_t seed, const unsigned char *payload) {
    uint32_t first;
    memcpy(&first, payload, sizeof first);
    return first ^ mask(seed);
}
