/* Two columns of lines that only meet in the nearest cache where they begin at like places in
 * their pages: together they need more ways than it has. Where the buffers lie decides the speed,
 * unless one column is put aside. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <unistd.h>

#include "bench.h"
#include "buffer.h"
#include "pattern.h"

enum { LINE_BYTES = 64, WORD_BYTES = 8, PAGE_BYTES = 4096 };
enum { WAYS_LEAST = 4, WAYS_MOST = 16, HALF_PAGE_BYTES = PAGE_BYTES / 2 };
enum { LINES_MOST = 2 * WAYS_MOST * HALF_PAGE_BYTES / LINE_BYTES };
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

/* Of the nearest data cache; 0 where it is none whose ways are as large as a page. */
static size_t ways_of_cache(void) {
    const long size = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    const long ways = sysconf(_SC_LEVEL1_DCACHE_ASSOC);
    const bool fits = ways >= WAYS_LEAST && ways <= WAYS_MOST && size / ways == PAGE_BYTES;
    return fits ? (size_t)ways : 0;
}

/* One column leaves a quarter of the ways free, and two of them want half as many again as there
 * are. */
static size_t pages_of_column(void) {
    return ways_of_cache() * 3 / 4;
}

static size_t room_bytes(void) {
    return (pages_of_column() + 1) * PAGE_BYTES;
}

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

static size_t list(unsigned char *column, uint64_t bytes, struct line **lines) {
    size_t count = 0;
    for (size_t page = 0; page < pages_of_column(); page++) {
        for (size_t byte = 0; byte < bytes; byte += LINE_BYTES) {
            lines[count++] = (struct line *)(void *)(column + page * PAGE_BYTES + byte);
        }
    }
    return count;
}

/* In an order without any rule, the same in each run of the program: nothing can be fetched ahead,
 * and nothing but the places differs between starts. The first line. */
static struct line *chain(struct line **lines, size_t count) {
    uint64_t drawn = 1;
    for (size_t left = count; left > 1; left--) {
        drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const size_t other = (drawn >> 32) % left;
        struct line *line = lines[other];
        lines[other] = lines[left - 1];
        lines[left - 1] = line;
    }
    for (size_t i = 0; i < count; i++) {
        lines[i]->next = i + 1 < count ? lines[i + 1] : NULL;
    }
    return lines[0];
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
    if (ways_of_cache() == 0) {
        cannot_run("the nearest data cache is not of %d to %d ways of %d bytes (%ld bytes, %ld "
                   "ways)",
                   WAYS_LEAST, WAYS_MOST, PAGE_BYTES, sysconf(_SC_LEVEL1_DCACHE_SIZE),
                   sysconf(_SC_LEVEL1_DCACHE_ASSOC));
    }
}

static struct bench_buffers open_buffers(const struct bench_settings *settings) {
    pattern = pattern_make(settings->seed);
    first = (unsigned char *)buffer_allocate(room_bytes(), settings->source_offset);
    second = (unsigned char *)buffer_allocate(room_bytes(), settings->destination_offset);
    pattern_fill(pattern, (uint64_t *)(void *)first, room_bytes() / WORD_BYTES);
    pattern_fill(pattern, (uint64_t *)(void *)second, room_bytes() / WORD_BYTES);
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
    struct line *lines[LINES_MOST];
    size_t count = list(first, bytes, lines);
    count += list(point->method == ASIDE ? put_aside() : second, bytes, lines + count);
    current = (struct columns){.first = chain(lines, count), .sum = &sum};
    sum = 0;
    return (struct bench_task){
        .timed = timed_columns,
        .state = &current,
        .bytes_declared = count * LINE_BYTES,
        .buffers = {{first, room_bytes()}, {second, room_bytes()}},
    };
}

static void check(const struct bench_point *point, struct bench_report *report) {
    const uint64_t bytes = 2 * pages_of_column() * point->values[KEY_COLUMN_BYTES];
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
