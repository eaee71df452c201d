#include "refuse.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static char own[SENTENCE_BYTES];
static char *sentence = own;

void refuse_into(char room[SENTENCE_BYTES]) {
    sentence = room;
}

const char *refuse_write(const char *format, va_list arguments) {
    vsnprintf(sentence, SENTENCE_BYTES, format, arguments);
    if (sentence != own) {
        return NULL;
    }
    fprintf(stderr, "%s\n", sentence);
    return sentence;
}

void refuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    refuse_write(format, arguments);
    va_end(arguments);
    exit(EXIT_FAILED);
}

uint64_t parse_number(const char *label, const char *text, size_t length, uint64_t least,
                      uint64_t most) {
    uint64_t value = 0;
    bool good = length > 0;
    for (size_t i = 0; i < length && good; i++) {
        const uint64_t digit = (uint64_t)text[i] - '0';
        good = text[i] >= '0' && text[i] <= '9' && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, digit, &value);
    }
    if (!good || value < least || value > most) {
        refuse("%s'%.*s' is not a whole number from %" PRIu64 " to %" PRIu64 "; give one that is",
               label, (int)length, text, least, most);
    }
    return value;
}

error_t refuse_other(int key, const char *argument, const struct argp_state *state) {
    if (key == ARGP_KEY_ARG) {
        refuse("the argument '%s' belongs to no option; leave it out", argument);
    }
    if (key == ARGP_KEY_ERROR) {
        refuse("the option '%s' is unknown, or its value is missing or not wanted; see --help",
               state->argv[state->next - 1]);
    }
    return ARGP_ERR_UNKNOWN;
}
