/* Arrays of doubles whose right content is known exactly. The flags of a variant do not reach this
 * file, and must not: -Ofast takes every number for finite, and finds no NaN any more. */
#ifndef DOUBLES_H
#define DOUBLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values from 1 to below 2, each a whole number of 65536ths: small sums and multiples of them are
 * exact in any order, contracted or not. No value is that of a neighbour. */
struct doubles {
    uint64_t start;
    uint64_t step;
};

/* Other values for each seed, and for each array of one seed. */
struct doubles doubles_make(uint64_t seed, uint64_t array);

/* The first value in all places. */
struct doubles doubles_same(struct doubles values);
double doubles_value(struct doubles values, size_t index);

/* In what follows, the pointer is to the element of that `index`. */
void doubles_fill(struct doubles values, double *elements, size_t index, size_t count);
void doubles_poison(double *elements, size_t count); /* NaN */

/* What an array should hold: in each place the sum of `factors` times values. */
struct doubles_expected {
    struct doubles values[2];
    double factors[2]; /* whole numbers below 16 */
};

/* What it holds. Findings of parts of an array may be joined. */
struct doubles_found {
    size_t count;
    size_t right;
    size_t first_wrong;    /* SIZE_MAX: none */
    double relative_error; /* the sum over all elements; NaN if one of them is */
};

struct doubles_found doubles_survey(const struct doubles_expected *expected, const double *elements,
                                    size_t index, size_t count);

/* The same for a sum of `count` values from `index` on, which is exact up to 2^36 of them. */
struct doubles_found doubles_survey_sum(struct doubles values, size_t index, size_t count,
                                        double sum);

struct doubles_found doubles_join(struct doubles_found left, struct doubles_found right);

struct doubles_verdict {
    bool good;      /* every element is right, and the mean error is below 1e-13 as in STREAM */
    bool has_error; /* it is a finite number */
    double mean_relative_error;
};

struct doubles_verdict doubles_judge(struct doubles_found found);

#endif
