/* Two columns of lines that only meet in the nearest cache where they begin at like places in
 * their pages: together they need more ways than it has. Where the buffers lie decides the speed,
 * unless one column is put aside. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <unistd.h>

#include "bench.h"
#include "buffer.h"
#include "pattern.h"

enum { LINE_BYTES = 64, WORD_BYTES = 8, PAGE_BYTES = 4096 };
/* Up to 7 ways hold one column, and 14 are more than any such cache has. */
enum { PAGES = 7, HALF_PAGE_BYTES = PAGE_BYTES / 2, ROOM_BYTES = (PAGES + 1) * PAGE_BYTES };
enum { KEY_COLUMN_BYTES };
enum { ANYWHERE, ASIDE };

/* What a line begins with; the rest is the pattern's. */
struct line {
    const struct line *next;
    uint64_t value;
};

struct columns {
    const struct line *first;
    uint64_t *sum;
};

static struct pattern pattern;
static unsigned char *first;
static unsigned char *second;
static uint64_t sum;
static struct columns current;

/* Each line says where the next one is: a miss cannot hide behind another. */
static uint64_t follow(const struct line *line) {
    uint64_t total = 0;
    for (; line; line = line->next) {
        total += line->value;
    }
    return total;
}

BENCH_TIMED static void timed_columns(const void *state) {
    const struct columns *columns = state;
    *columns->sum = follow(columns->first);
}

/* Like places of all pages come one after the other, so that nothing is fetched ahead. */
static struct line **chain(unsigned char *column, uint64_t bytes, struct line **link) {
    for (size_t byte = 0; byte < bytes; byte += LINE_BYTES) {
        for (size_t page = 0; page < PAGES; page++) {
            struct line *line = (struct line *)(void *)(column + page * PAGE_BYTES + byte);
            *link = line;
            link = (struct line **)(void *)&line->next;
        }
    }
    return link;
}

static const struct bench_key keys[] = {
    [KEY_COLUMN_BYTES] = {.name = "column_bytes"},
    {0},
};

static const struct bench_method methods[] = {
    [ANYWHERE] = {.name = "anywhere", .keys = 1 << KEY_COLUMN_BYTES},
    [ASIDE] = {.name = "aside", .keys = 1 << KEY_COLUMN_BYTES},
    {0},
};

/* Where lines that far apart do not meet in the cache, layout matters in another way. */
static void accept_point(const struct bench_point *point) {
    const uint64_t column = point->values[KEY_COLUMN_BYTES];
    if (column == 0 || column % LINE_BYTES != 0 || column > HALF_PAGE_BYTES) {
        refuse("column_bytes=%" PRIu64 " is not a multiple of %d up to %d; give one that is",
               column, LINE_BYTES, HALF_PAGE_BYTES);
    }
    const long size = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    const long ways = sysconf(_SC_LEVEL1_DCACHE_ASSOC);
    if (size <= 0 || ways <= 0 || size / ways != PAGE_BYTES || ways < PAGES || ways >= 2 * PAGES) {
        cannot_run("the nearest data cache is not of 7 to 13 ways of 4096 bytes (%ld bytes, %ld "
                   "ways)",
                   size, ways);
    }
}

static struct bench_buffers open_buffers(const struct bench_settings *settings) {
    pattern = pattern_make(settings->seed);
    first = (unsigned char *)buffer_allocate(ROOM_BYTES, settings->source_offset);
    second = (unsigned char *)buffer_allocate(ROOM_BYTES, settings->destination_offset);
    pattern_fill(pattern, (uint64_t *)(void *)first, ROOM_BYTES / WORD_BYTES);
    pattern_fill(pattern, (uint64_t *)(void *)second, ROOM_BYTES / WORD_BYTES);
    return (struct bench_buffers){.source = first, .destination = second};
}

/* The second column half a page behind the first one's place: they never meet. */
static unsigned char *put_aside(void) {
    const uint64_t place = ((uintptr_t)first + HALF_PAGE_BYTES) % PAGE_BYTES;
    const uint64_t own = (uintptr_t)second % PAGE_BYTES;
    return second + (place + PAGE_BYTES - own) % PAGE_BYTES;
}

static struct bench_task prepare(const struct bench_point *point) {
    const uint64_t bytes = point->values[KEY_COLUMN_BYTES];
    struct line *head = NULL;
    struct line **end = chain(first, bytes, &head);
    *chain(point->method == ASIDE ? put_aside() : second, bytes, end) = NULL;
    sum = 0;
    current = (struct columns){.first = head, .sum = &sum};
    return (struct bench_task){
        .timed = timed_columns,
        .state = &current,
        .bytes_declared = 2 * PAGES * bytes,
        .buffers = {{first, ROOM_BYTES}, {second, ROOM_BYTES}},
    };
}

static void check(const struct bench_point *point, struct bench_report *report) {
    const uint64_t bytes = 2 * PAGES * point->values[KEY_COLUMN_BYTES];
    uint64_t lines = 0;
    for (const struct line *line = current.first; line; line = line->next) {
        lines++;
    }
    const uint64_t expected = follow(current.first);
    if (sum != expected || lines * LINE_BYTES != bytes) {
        bench_fail(report, "the sum over %" PRIu64 " lines is %" PRIu64 " instead of %" PRIu64,
                   lines, sum, expected);
    }
}

const struct bench_kernel bench_kernel = {
    .name = "layout",
    .question = "How much does it matter where two buffers happen to lie?",
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_buffers,
    .prepare = prepare,
    .check = check,
};
