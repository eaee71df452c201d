#include "frame.h"

#include <string.h>

enum { LANES = 4, WORD_BYTES = 8, ROTATION = 29 };
#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/* Each step can be undone, so that two words that differ never lead to the same state. */
static inline uint64_t mix(uint64_t state, uint64_t word) {
    const uint64_t product = (state ^ word) * MULTIPLIER;
    return product << ROTATION | product >> (64 - ROTATION);
}

static inline uint64_t word_at(const unsigned char *place) {
    uint64_t word;
    memcpy(&word, place, sizeof word);
    return word;
}

uint32_t frame_checksum(const struct frame_header *header, const void *payload) {
    const unsigned char *place = payload;
    size_t left = header->bytes;
    /* Lanes that do not wait for each other: a multiplication takes 3 cycles, and one can begin in
     * each. A payload of 1408 bytes took 350 ns in one lane and 100 in four. */
    uint64_t lanes[LANES] = {
        mix(header->connection,
            (uint64_t)header->bytes << 16 | (uint64_t)header->kind << 8 | header->version),
        (uint64_t)header->sequence << 32 | header->acknowledged,
        (uint64_t)header->key << 32 | header->offset,
        MULTIPLIER,
    };
    for (; left >= LANES * WORD_BYTES; left -= LANES * WORD_BYTES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            lanes[lane] = mix(lanes[lane], word_at(place + lane * WORD_BYTES));
        }
        place += LANES * WORD_BYTES;
    }
    uint64_t state = lanes[0];
    for (; left >= WORD_BYTES; left -= WORD_BYTES) {
        state = mix(state, word_at(place));
        place += WORD_BYTES;
    }
    if (left > 0) {
        uint64_t last = 0;
        memcpy(&last, place, left);
        state = mix(state, last);
    }
    for (size_t lane = 1; lane < LANES; lane++) {
        state = mix(state, lanes[lane]);
    }
    return (uint32_t)(state ^ state >> 32);
}

enum frame_fault frame_look(const unsigned char *frame, size_t bytes, uint64_t connection,
                            struct frame_header *header) {
    if (bytes < sizeof *header) {
        return FRAME_STRANGE;
    }
    memcpy(header, frame, sizeof *header);
    if (header->connection != connection || header->version != FRAME_VERSION ||
        header->kind >= FRAME_KINDS || header->bytes > MESSAGES_BYTES_MOST ||
        bytes - sizeof *header < header->bytes) {
        return FRAME_STRANGE;
    }
    return frame_checksum(header, frame + sizeof *header) == header->checksum ? FRAME_GOOD
                                                                              : FRAME_DAMAGED;
}
