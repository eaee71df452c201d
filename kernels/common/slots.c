#define _GNU_SOURCE
#include "slots.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "cannot_run.h"

enum { LINE_BYTES = 64, WORD_BYTES = 8 };

/* Odd numbers without a pattern, so that no two slots, samples or words look alike. */
#define OF_SLOT UINT64_C(0x9e3779b97f4a7c15)
#define OF_SERIAL UINT64_C(0xc2b2ae3d27d4eb4f)
#define OF_WORD UINT64_C(0xd6e8feb86659fd93)

enum { POISON = 0xa5 };

void slots_make(struct slots *slots, uint64_t message_bytes, uint64_t window,
                uint64_t rotation_bytes, uint64_t seed) {
    const uint64_t lines = (message_bytes + LINE_BYTES - 1) / LINE_BYTES;
    const uint64_t slot_bytes = (lines ? lines : 1) * LINE_BYTES;
    const uint64_t windows = rotation_bytes / (window * slot_bytes);
    const uint64_t count = window * (windows ? windows : 1);
    if (slots->bytes != count * slot_bytes) {
        if (slots->first) {
            munmap(slots->first, slots->bytes);
        }
        slots->bytes = count * slot_bytes;
        slots->first =
            mmap(NULL, slots->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (slots->first == MAP_FAILED) {
            cannot_run("no memory for %llu bytes of messages (%s); give a smaller rotation_bytes",
                       (unsigned long long)slots->bytes, strerror(errno));
        }
    }
    slots->count_of_slots = count;
    slots->message_bytes = message_bytes;
    slots->slot_bytes = slot_bytes;
    slots->seed = seed;
    slots->next = slots->count = slots->looked_at = slots->wrong = 0;
}

static uint64_t first_word(const struct slots *slots, uint64_t slot, uint64_t serial) {
    return (slots->seed + slot * OF_SLOT) ^ (serial * OF_SERIAL);
}

void slots_stamp(struct slots *slots, uint64_t serial) {
    for (uint64_t slot = 0; slot < slots->count_of_slots; slot++) {
        unsigned char *const message = slots->first + slot * slots->slot_bytes;
        uint64_t word = first_word(slots, slot, serial);
        /* Whole words: a slot has room for the last one. */
        for (uint64_t at = 0; at < slots->message_bytes; at += WORD_BYTES) {
            memcpy(message + at, &word, WORD_BYTES);
            word += OF_WORD;
        }
    }
}

void slots_poison(struct slots *slots) {
    memset(slots->first, POISON, slots->bytes);
}

static int is_right(const struct slots *slots, uint64_t slot, uint64_t serial) {
    const unsigned char *const message = slots->first + slot * slots->slot_bytes;
    const uint64_t whole = slots->message_bytes / WORD_BYTES * WORD_BYTES;
    uint64_t word = first_word(slots, slot, serial);
    uint64_t wrong = 0;
    for (uint64_t at = 0; at < whole; at += WORD_BYTES) {
        uint64_t found;
        memcpy(&found, message + at, WORD_BYTES);
        wrong |= found ^ word;
        word += OF_WORD;
    }
    return !wrong && memcmp(message + whole, &word, slots->message_bytes - whole) == 0;
}

void slots_look(struct slots *slots, uint64_t window, uint64_t serial) {
    for (uint64_t back = 1; back <= window; back++) {
        const uint64_t slot = (slots->next + slots->count_of_slots - back) % slots->count_of_slots;
        slots->wrong += !is_right(slots, slot, serial);
        slots->looked_at++;
    }
}
