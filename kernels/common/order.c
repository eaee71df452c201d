#include "order.h"

#include <stdlib.h>

static int by_size(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

void sort(uint64_t *values, size_t count) {
    qsort(values, count, sizeof *values, by_size);
}

double median(uint64_t *values, size_t count) {
    sort(values, count);
    return ((double)values[(count - 1) / 2] + (double)values[count / 2]) / 2;
}
