#include "pattern.h"

#include <stdlib.h>

#include "cannot_run.h"

/* Multiplying by an odd number and exclusive-or are both one-to-one on 64-bit words, so the word
 * of one index is the word of no other. The step is odd, and no small multiple of it is small. */
#define STEP UINT64_C(0x9e3779b97f4a7c15)
#define POISON_INDEX                                                                               \
    UINT64_C(0xd1b54a32d192ed03) /* beyond a source, unlike its words in all bytes */

struct pattern pattern_make(uint64_t seed) {
    /* The finaliser of splitmix64: near seeds get unlike keys. */
    uint64_t key = seed + STEP;
    key = (key ^ key >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ key >> 27) * UINT64_C(0x94d049bb133111eb);
    return (struct pattern){.key = key ^ key >> 31};
}

static uint64_t encode(struct pattern pattern, uint64_t index) {
    return index * STEP ^ pattern.key;
}

static uint64_t inverse_of_step(void) {
    uint64_t inverse = STEP; /* right in its lowest 3 bits; each round doubles them */
    for (int bits = 3; bits < 64; bits *= 2) {
        inverse *= 2 - STEP * inverse;
    }
    return inverse;
}

void pattern_fill(struct pattern pattern, uint64_t *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        words[i] = encode(pattern, i);
    }
}

void pattern_poison(struct pattern pattern, uint64_t *words, size_t count) {
    const uint64_t poison = encode(pattern, POISON_INDEX);
    for (size_t i = 0; i < count; i++) {
        words[i] = poison;
    }
}

/* How many words from the first on are base, base + step, base + 2 step, ... (exclusive-or key).
 * Whole lines first, without a branch for each word. */
static size_t match(const uint64_t *words, size_t count, uint64_t base, uint64_t step,
                    uint64_t key) {
    size_t i = 0;
    for (; i + PATTERN_LINE_WORDS <= count; i += PATTERN_LINE_WORDS) {
        uint64_t unlike = 0;
        for (size_t word = 0; word < PATTERN_LINE_WORDS; word++) {
            unlike |= words[i + word] ^ (base + word * step) ^ key;
        }
        if (unlike != 0) {
            break;
        }
        base += PATTERN_LINE_WORDS * step;
    }
    for (; i < count && words[i] == (base ^ key); i++) {
        base += step;
    }
    return i;
}

size_t pattern_match(struct pattern pattern, const uint64_t *words, size_t count, uint64_t index) {
    return match(words, count, index * STEP, STEP, pattern.key);
}

size_t pattern_match_poison(struct pattern pattern, const uint64_t *words, size_t count) {
    return match(words, count, POISON_INDEX * STEP, 0, pattern.key);
}

static size_t whole_lines(size_t words) {
    return words - words % PATTERN_LINE_WORDS;
}

/* The blocks that `count` words from `origin` on touch. */
static void mark(struct pattern_survey *survey, bool *arrived, uint64_t origin, size_t count,
                 size_t block_words) {
    const uint64_t last = (origin + count - 1) / block_words;
    for (uint64_t block = origin / block_words; block <= last; block++) {
        survey->source_blocks += !arrived[block];
        arrived[block] = true;
    }
    survey->last_source_block = last;
}

/* A line that is neither whole nor untouched. */
static void survey_odd_line(struct pattern pattern, const uint64_t *line, uint64_t index,
                            struct pattern_survey *survey) {
    for (size_t i = 0; i < PATTERN_LINE_WORDS; i++) {
        survey->words_in_place += line[i] == encode(pattern, index + i);
        survey->words_written += line[i] != encode(pattern, POISON_INDEX);
    }
    survey->has_last_source_block = false;
}

struct pattern_survey pattern_survey(struct pattern pattern, const uint64_t *words, size_t count,
                                     size_t block_words) {
    const uint64_t inverse = inverse_of_step();
    struct pattern_survey survey = {0};
    bool *arrived = calloc(count / block_words + 1, sizeof *arrived);
    if (!arrived) {
        cannot_run("no memory to check %zu words; ask for fewer bytes", count);
    }
    size_t run;
    for (size_t first = 0; first < count; first += run) {
        const uint64_t *line = words + first;
        const uint64_t origin = (line[0] ^ pattern.key) * inverse;
        const bool is_start = origin < count && origin % PATTERN_LINE_WORDS == 0;
        const size_t most = is_start && origin > first ? count - origin : count - first;
        run = is_start ? whole_lines(pattern_match(pattern, line, most, origin)) : 0;
        if (run > 0) {
            survey.words_in_place += origin == first ? run : 0;
            survey.words_written += run;
            survey.has_last_source_block = true;
            mark(&survey, arrived, origin, run, block_words);
            continue;
        }
        run = whole_lines(pattern_match_poison(pattern, line, count - first));
        if (run == 0) {
            survey_odd_line(pattern, line, first, &survey);
            run = PATTERN_LINE_WORDS;
        }
    }
    free(arrived);
    return survey;
}
