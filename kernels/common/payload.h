/* What goes to a far side and is looked for there, or when it comes back: it carries its number,
 * and behind it bytes that follow from number and seed. So it tells which one it is, and whether it
 * is whole. */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

enum { PAYLOAD_LEAST_BYTES = 4 };

/* Fills `room`, which begins at a word of 8 bytes and has whole ones. */
void payload_make(uint64_t seed, uint32_t number, unsigned char *room, size_t bytes);

/* The number of a payload of this seed; of others anything. */
uint32_t payload_number(uint64_t seed, const unsigned char *payload);

#endif
