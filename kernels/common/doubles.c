#include "doubles.h"

#include <math.h>
#include <string.h>

/* Odd, and no small multiple of it is small: also the upper bits of index * STEP, which are those
 * that are used, differ from those of all places near by. */
#define STEP UINT64_C(0x9e3779b97f4a7c15)
#define EPSILON 1e-13

enum { LINE = 8, UNIT = 1 << 16, UPPER = 64 - 16, MANTISSA = 52 };

static double decode(uint64_t word) {
    const uint64_t bits = UINT64_C(1023) << MANTISSA | word >> UPPER << (MANTISSA - 16);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t word_of(struct doubles values, size_t index) {
    return values.start + index * values.step;
}

/* Of the words of a line, how far each lies from the first: with these at hand compilers make
 * vector code of adding, where vectors cannot multiply. */
struct strides {
    uint64_t at[LINE];
};

static struct strides strides_of(struct doubles values) {
    struct strides strides;
    for (size_t i = 0; i < LINE; i++) {
        strides.at[i] = i * values.step;
    }
    return strides;
}

struct doubles doubles_make(uint64_t seed, uint64_t array) {
    /* The finaliser of splitmix64: near seeds get unlike starts. */
    uint64_t start = seed + (array + 1) * STEP;
    start = (start ^ start >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    start = (start ^ start >> 27) * UINT64_C(0x94d049bb133111eb);
    return (struct doubles){.start = start ^ start >> 31, .step = STEP};
}

struct doubles doubles_same(struct doubles values) {
    return (struct doubles){.start = values.start, .step = 0};
}

double doubles_value(struct doubles values, size_t index) {
    return decode(word_of(values, index));
}

void doubles_fill(struct doubles values, double *elements, size_t index, size_t count) {
    const struct strides strides = strides_of(values);
    size_t i = 0;
    for (; i + LINE <= count; i += LINE) {
        const uint64_t first = word_of(values, index + i);
        for (size_t k = 0; k < LINE; k++) {
            elements[i + k] = decode(first + strides.at[k]);
        }
    }
    for (; i < count; i++) {
        elements[i] = doubles_value(values, index + i);
    }
}

void doubles_poison(double *elements, size_t count) {
    for (size_t i = 0; i < count; i++) {
        elements[i] = NAN;
    }
}

/* Whole lines from the first on that are right; without a branch for each element. */
static size_t right_lines(const struct doubles_expected *expected, const double *elements,
                          size_t index, size_t lines) {
    const struct doubles first = expected->values[0];
    const struct doubles second = expected->values[1];
    const struct strides first_strides = strides_of(first);
    const struct strides second_strides = strides_of(second);
    const double first_factor = expected->factors[0];
    const double second_factor = expected->factors[1];
    for (size_t line = 0; line < lines; line++, index += LINE, elements += LINE) {
        const uint64_t x = word_of(first, index);
        const uint64_t y = word_of(second, index);
        uint64_t unlike = 0;
        for (size_t k = 0; k < LINE; k++) {
            const double right = first_factor * decode(x + first_strides.at[k]) +
                                 second_factor * decode(y + second_strides.at[k]);
            unlike |= bits_of(elements[k]) ^ bits_of(right);
        }
        if (unlike != 0) {
            return line;
        }
    }
    return lines;
}

static double expect(const struct doubles_expected *expected, size_t index) {
    return expected->factors[0] * doubles_value(expected->values[0], index) +
           expected->factors[1] * doubles_value(expected->values[1], index);
}

static void survey_one(struct doubles_found *found, double element, double expected, size_t index) {
    if (bits_of(element) == bits_of(expected)) {
        found->right++;
        return;
    }
    found->first_wrong = index < found->first_wrong ? index : found->first_wrong;
    found->relative_error += fabs(element - expected) / expected;
}

struct doubles_found doubles_survey(const struct doubles_expected *expected, const double *elements,
                                    size_t index, size_t count) {
    struct doubles_found found = {.count = count, .first_wrong = SIZE_MAX};
    for (size_t i = 0; i < count;) {
        const size_t right =
            LINE * right_lines(expected, elements + i, index + i, (count - i) / LINE);
        found.right += right;
        i += right;
        for (const size_t end = i + LINE; i < end && i < count; i++) {
            survey_one(&found, elements[i], expect(expected, index + i), index + i);
        }
    }
    return found;
}

struct doubles_found doubles_survey_sum(struct doubles values, size_t index, size_t count,
                                        double sum) {
    uint64_t units = 0;
    for (size_t i = 0; i < count; i++) {
        units += UNIT + (word_of(values, index + i) >> UPPER);
    }
    const double expected = (double)units / UNIT;
    const bool right = bits_of(sum) == bits_of(expected);
    return (struct doubles_found){
        .count = count,
        .right = right ? count : 0,
        .first_wrong = right ? SIZE_MAX : index,
        .relative_error = right ? 0 : fabs(sum - expected) / expected * (double)count,
    };
}

struct doubles_found doubles_join(struct doubles_found left, struct doubles_found right) {
    return (struct doubles_found){
        .count = left.count + right.count,
        .right = left.right + right.right,
        .first_wrong = left.first_wrong < right.first_wrong ? left.first_wrong : right.first_wrong,
        .relative_error = left.relative_error + right.relative_error,
    };
}

struct doubles_verdict doubles_judge(struct doubles_found found) {
    const double mean = found.relative_error / (double)found.count;
    return (struct doubles_verdict){
        .good = mean < EPSILON && found.right == found.count,
        .has_error = isfinite(mean),
        .mean_relative_error = mean,
    };
}
