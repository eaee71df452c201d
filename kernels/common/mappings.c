#define _GNU_SOURCE
#include "mappings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const labels[MAPPED_COUNTS] = {
    [MAPPED_RESIDENT] = "Rss:",
    [MAPPED_ANONYMOUS] = "Anonymous:",
    [MAPPED_ANON_HUGE] = "AnonHugePages:",
};

/* Pages that were written to and are not in "Anonymous:": swapped out, or huge ones of a pool. */
static const char *const written_too[] = {"Swap:", "Private_Hugetlb:", "Shared_Hugetlb:"};
enum { WRITTEN_TOO = sizeof(written_too) / sizeof(written_too[0]) };

/* How much of the buffers lies from `first` on, up to `end`. */
static uint64_t overlap(const struct bench_range *ranges, uintptr_t first, uintptr_t end) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < BENCH_RANGES_MAX; i++) {
        const uintptr_t start = (uintptr_t)ranges[i].first;
        const uintptr_t stop = start + ranges[i].bytes;
        const uintptr_t from = start > first ? start : first;
        const uintptr_t to = stop < end ? stop : end;
        bytes += to > from ? to - from : 0;
    }
    return bytes;
}

/* Whether the line has this label; then its number, in bytes. */
static bool has(const char *line, const char *label, uint64_t *bytes) {
    const size_t length = strlen(label);
    uint64_t kib = 0;
    if (strncmp(line, label, length) != 0 || sscanf(line + length, "%" SCNu64 " kB", &kib) != 1) {
        return false;
    }
    *bytes = kib * 1024;
    return true;
}

static void add_line(struct mapped *mapped, size_t *told, const char *line) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < MAPPED_COUNTS; i++) {
        if (has(line, labels[i], &bytes)) {
            mapped->bytes[i] += bytes;
            told[i]++;
        }
    }
    for (size_t i = 0; i < WRITTEN_TOO; i++) {
        if (has(line, written_too[i], &bytes)) {
            mapped->bytes[MAPPED_ANONYMOUS] += bytes;
        }
    }
}

struct mapped mappings_find(const struct bench_range *ranges) {
    struct mapped mapped = {.buffers_bytes = overlap(ranges, 0, UINTPTR_MAX)};
    FILE *file = mapped.buffers_bytes ? fopen("/proc/self/smaps", "re") : NULL;
    if (!file) {
        return mapped;
    }
    uint64_t seen = 0; /* of the buffers' bytes */
    size_t mappings = 0;
    size_t told[MAPPED_COUNTS] = {0};
    bool is_theirs = false;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0) {
        uintptr_t first = 0;
        uintptr_t end = 0;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &first, &end) == 2) {
            const uint64_t bytes = overlap(ranges, first, end);
            seen += bytes;
            is_theirs = bytes > 0;
            mappings += is_theirs;
        } else if (is_theirs) {
            add_line(&mapped, told, line);
        }
    }
    free(line);
    fclose(file);
    for (size_t i = 0; i < MAPPED_COUNTS; i++) {
        mapped.known[i] = seen == mapped.buffers_bytes && told[i] == mappings;
    }
    return mapped;
}
