#include "bytes_option.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { OPTION_BYTES = 0x100 };

static const struct bench_size *size;
static char doc[128];

static const struct argp_option options[] = {
    {.name = "bytes", .key = OPTION_BYTES, .arg = "N", .doc = doc},
    {0},
};

static uint64_t parse_bytes(const char *text) {
    const uint64_t bytes = parse_number("--bytes ", text, strlen(text), size->multiple, size->most);
    if (bytes % size->multiple != 0) {
        refuse("--bytes %s is not a multiple of %" PRIu64 "; give one that is", text,
               size->multiple);
    }
    return bytes;
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    (void)state;
    switch (key) {
    case OPTION_BYTES:
        *size->bytes = parse_bytes(argument);
        return 0;
    case ARGP_KEY_END:
        if (*size->bytes == 0) {
            refuse("--bytes is missing; give the size of %s", size->of);
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp *bytes_option(const struct bench_size *asked) {
    static const struct argp none;
    static const struct argp argp = {.options = options, .parser = parse_option};
    if (!asked->bytes) {
        return &none;
    }
    size = asked;
    snprintf(doc, sizeof doc, "Size of %s: a multiple of %" PRIu64, size->of, size->multiple);
    return &argp;
}
