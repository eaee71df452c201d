#define _GNU_SOURCE
#include "points.h"

#include <stdio.h>
#include <string.h>

#define SAMPLES_MOST 10000000u
#define LOOPS_MOST 1000000000000u

/* The keys of every point; the kernel's own follow them in the set of keys seen. */
enum { KEY_METHOD, KEY_SAMPLES, KEY_WARM_UP, KEY_LOOPS, COMMON_KEYS };
static const char *const common_keys[COMMON_KEYS] = {"method", "samples", "warmup", "loops"};

/* A piece of the argument, which stays as it was given. */
struct piece {
    const char *text;
    size_t length;
};

static bool equals(struct piece piece, const char *word) {
    return strlen(word) == piece.length && memcmp(piece.text, word, piece.length) == 0;
}

static const char *key_name(const struct bench_kernel *kernel, size_t key) {
    if (key < COMMON_KEYS) {
        return common_keys[key];
    }
    return kernel->keys && key < COMMON_KEYS + BENCH_KEYS_MAX ? kernel->keys[key - COMMON_KEYS].name
                                                              : NULL;
}

static bool is_optional(const struct bench_kernel *kernel, size_t key) {
    return key >= COMMON_KEYS && kernel->keys[key - COMMON_KEYS].optional;
}

static size_t find_key(const struct bench_kernel *kernel, struct piece name, const char *whole) {
    for (size_t key = 0; key_name(kernel, key); key++) {
        if (equals(name, key_name(kernel, key))) {
            return key;
        }
    }
    refuse("--point %s has the unknown key '%.*s'; see --help for the keys of %s", whole,
           (int)name.length, name.text, kernel->name);
}

static size_t find_method(const struct bench_kernel *kernel, struct piece name) {
    for (size_t method = 0; kernel->methods[method].name; method++) {
        if (equals(name, kernel->methods[method].name)) {
            return method;
        }
    }
    refuse("method=%.*s is no method of %s; see --help for its methods", (int)name.length,
           name.text, kernel->name);
}

static uint64_t key_value(const struct bench_key *key, struct piece value) {
    if (!key->words) {
        char label[64];
        snprintf(label, sizeof label, "%s=", key->name);
        return parse_number(label, value.text, value.length, 0, UINT64_MAX);
    }
    for (size_t word = 0; key->words[word]; word++) {
        if (equals(value, key->words[word])) {
            return word;
        }
    }
    refuse("%s=%.*s is not a value of this key; see --help for its values", key->name,
           (int)value.length, value.text);
}

static void set(struct bench_point *point, const struct bench_kernel *kernel, size_t key,
                struct piece value) {
    switch (key) {
    case KEY_METHOD:
        point->method = find_method(kernel, value);
        break;
    case KEY_SAMPLES:
        point->samples = parse_number("samples=", value.text, value.length, 1, SAMPLES_MOST);
        break;
    case KEY_WARM_UP:
        point->warm_up = parse_number("warmup=", value.text, value.length, 0, SAMPLES_MOST);
        break;
    case KEY_LOOPS:
        point->loops = parse_number("loops=", value.text, value.length, 1, LOOPS_MOST);
        break;
    default:
        point->values[key - COMMON_KEYS] = key_value(&kernel->keys[key - COMMON_KEYS], value);
    }
}

static void require_exactly(const struct bench_kernel *kernel, const struct bench_point *point,
                            unsigned seen, const char *whole) {
    const struct bench_method *method = &kernel->methods[point->method];
    const unsigned wanted = ((1u << COMMON_KEYS) - 1) | (method->keys << COMMON_KEYS);
    for (size_t key = 0; key_name(kernel, key); key++) {
        const bool is_seen = seen >> key & 1;
        const bool is_wanted = wanted >> key & 1;
        if (is_wanted && !is_seen && !is_optional(kernel, key)) {
            refuse("--point %s lacks %s=; add it", whole, key_name(kernel, key));
        }
        if (is_seen && !is_wanted) {
            refuse("--point %s has %s=, which method %s does not take; leave it out", whole,
                   key_name(kernel, key), method->name);
        }
    }
}

struct bench_point point_parse(const struct bench_kernel *kernel, const char *text) {
    struct bench_point point = {0};
    unsigned seen = 0;
    const char *next = text;
    do {
        const char *start = next;
        const char *end = strchrnul(start, ',');
        const char *equal = memchr(start, '=', (size_t)(end - start));
        if (!equal) {
            refuse("--point %s has '%.*s' where KEY=VALUE is wanted", text, (int)(end - start),
                   start);
        }
        const size_t key = find_key(
            kernel, (struct piece){.text = start, .length = (size_t)(equal - start)}, text);
        if (seen >> key & 1) {
            refuse("--point %s has %s= twice; leave one out", text, key_name(kernel, key));
        }
        seen |= 1u << key;
        set(&point, kernel, key,
            (struct piece){.text = equal + 1, .length = (size_t)(end - equal - 1)});
        next = *end ? end + 1 : NULL;
    } while (next);
    if (seen & 1u << KEY_METHOD) {
        require_exactly(kernel, &point, seen, text);
        return point;
    }
    refuse("--point %s lacks method=; add it", text);
}
