/* Numbers in order of size. */
#ifndef ORDER_H
#define ORDER_H

#include <stddef.h>
#include <stdint.h>

void sort(uint64_t *values, size_t count);

/* Sorts them; there must be one at least. */
double median(uint64_t *values, size_t count);

#endif
