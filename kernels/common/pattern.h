/* Data that says where it came from: every 8-byte word holds its own index, so that a word found
 * anywhere tells which word of the source it is. No two words of a source are equal, and the
 * poison equals none of them. */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PATTERN_LINE_WORDS = 8 }; /* a cache line of 64 bytes */

struct pattern {
    uint64_t key;
};

struct pattern pattern_make(uint64_t seed);

void pattern_fill(struct pattern pattern, uint64_t *words, size_t count);
void pattern_poison(struct pattern pattern, uint64_t *words, size_t count);

/* How many words from the first on are those of a source from word `index` on, or are poison. */
size_t pattern_match(struct pattern pattern, const uint64_t *words, size_t count, uint64_t index);
size_t pattern_match_poison(struct pattern pattern, const uint64_t *words, size_t count);

/* What arrived in a destination. Counted in words and lines: a single byte is right by chance
 * once in 256. */
struct pattern_survey {
    size_t words_in_place;
    size_t words_written;
    size_t source_blocks;       /* different ones, of which at least one line arrived */
    uint64_t last_source_block; /* the one that the last written line is from */
    bool has_last_source_block; /* that line is one of the source */
};

/* `count` is a multiple of a line, `block_words` too. */
struct pattern_survey pattern_survey(struct pattern pattern, const uint64_t *words, size_t count,
                                     size_t block_words);

#endif
