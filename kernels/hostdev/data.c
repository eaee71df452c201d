#include "data.h"

#define STEP UINT64_C(0x9e3779b97f4a7c15)

/* One-to-one on 64-bit words, so that no word of a key comes twice, and with one multiplication:
 * they are to be made as fast as memory takes them. */
static inline uint64_t scramble(uint64_t word) {
    word = (word ^ word >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return word ^ word >> 32;
}

static inline uint64_t word_of(struct data data, uint64_t index) {
    return scramble(data.key + index * STEP) & data.mask;
}

struct data data_make(uint64_t seed, uint64_t number, bool zeros) {
    return (struct data){.key = scramble(scramble(seed + STEP) + number),
                         .mask = zeros ? 0 : UINT64_MAX};
}

void data_fill(struct data data, uint64_t *words, size_t first, size_t count) {
    for (size_t i = 0; i < count; i++) {
        words[i] = word_of(data, first + i);
    }
}

size_t data_right(struct data data, const uint64_t *words, size_t first, size_t count) {
    size_t right = 0;
    for (size_t i = 0; i < count; i++) {
        right += words[i] == word_of(data, first + i);
    }
    return right;
}
