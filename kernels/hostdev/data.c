#include "data.h"

#include <string.h>

#define STEP UINT64_C(0x9e3779b97f4a7c15)

enum { LANES = 2, BLOCK = 64 };

/* Two words at once, which every processor has: they are to be made as fast as memory takes them.
 */
typedef uint64_t words2 __attribute__((vector_size(LANES * sizeof(uint64_t))));

static uint64_t scramble(uint64_t word) {
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

struct data data_make(uint64_t seed, uint64_t number, bool zeros) {
    return (struct data){.key = scramble(scramble(seed + STEP) + number),
                         .mask = zeros ? 0 : UINT64_MAX};
}

/* Each step is one-to-one on 64-bit words, so that no word of a key comes twice. */
#define WORD_OF(count, mask) ((MIX((count) ^ (count) >> 29)) & (mask))
#define MIX(word) ((word) ^ (word) << 23)

static uint64_t word_of(struct data data, uint64_t index) {
    const uint64_t count = data.key + index * STEP;
    return WORD_OF(count, data.mask);
}

static words2 counts_of(struct data data, uint64_t first) {
    const uint64_t count = data.key + first * STEP;
    return (words2){count, count + STEP};
}

void data_fill(struct data data, uint64_t *words, size_t first, size_t count) {
    words2 counts = counts_of(data, first);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const words2 made = WORD_OF(counts, data.mask);
        memcpy(words + i, &made, sizeof made);
        counts += LANES * STEP;
    }
    for (; i < count; i++) {
        words[i] = word_of(data, first + i);
    }
}

static size_t right_one_by_one(struct data data, const uint64_t *words, size_t first,
                               size_t count) {
    size_t right = 0;
    for (size_t i = 0; i < count; i++) {
        right += words[i] == word_of(data, first + i);
    }
    return right;
}

/* Whether all words of a block are right. */
static bool is_right(struct data data, const uint64_t *words, size_t first) {
    words2 counts = counts_of(data, first);
    words2 unlike = {0};
    for (size_t i = 0; i < BLOCK; i += LANES) {
        words2 seen;
        memcpy(&seen, words + i, sizeof seen);
        unlike |= seen ^ WORD_OF(counts, data.mask);
        counts += LANES * STEP;
    }
    return (unlike[0] | unlike[1]) == 0;
}

size_t data_right(struct data data, const uint64_t *words, size_t first, size_t count) {
    size_t right = 0;
    size_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK) {
        right += is_right(data, words + i, first + i)
                     ? BLOCK
                     : right_one_by_one(data, words + i, first + i, BLOCK);
    }
    return right + right_one_by_one(data, words + i, first + i, count - i);
}
