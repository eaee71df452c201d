/* Random words, other ones for each number, that are made once more to be compared. */
#ifndef DATA_H
#define DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct data {
    uint64_t key;
    uint64_t mask; /* 0: all words are zero */
};

struct data data_make(uint64_t seed, uint64_t number, bool zeros);

/* Words `first` to `first` + `count`. */
void data_fill(struct data data, uint64_t *words, size_t first, size_t count);
size_t data_right(struct data data, const uint64_t *words, size_t first, size_t count);

#endif
