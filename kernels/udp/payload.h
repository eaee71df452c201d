/* What datagrams carry: each its own number, and after it bytes that follow from number and seed,
 * so that an answer tells which datagram it answers, and whether it is whole. */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PAYLOAD_LEAST_BYTES = 4, PAYLOAD_MOST_BYTES = 1408 };

/* There is room behind the longest, so that a longer answer is seen to be longer. */
struct payload {
    _Alignas(64) unsigned char bytes[PAYLOAD_MOST_BYTES + 64];
};

void payload_make(struct payload *payload, size_t bytes, uint64_t seed, uint32_t number);

/* Of any payload of that seed. */
uint32_t payload_number(const struct payload *payload, uint64_t seed);

/* What became of datagrams. */
struct tally {
    uint64_t answered;
    uint64_t lost;
    uint64_t wrong;
    char first_wrong[160]; /* a sentence */
};

/* Counts an answer of `length` bytes to a datagram of `bytes` bytes, which was `sent`. */
void tally_answer(struct tally *tally, uint32_t number, const struct payload *sent, size_t bytes,
                  const struct payload *received, ssize_t length);

/* Another answer that is wrong. */
void tally_wrong(struct tally *tally, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
