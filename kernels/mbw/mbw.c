/* Memory copy as mbw does it: in one piece, in blocks as three of its versions did, and word by
 * word. The forms 1.1.1 and 1.2.2 copy less than they declare; that is what they are here for. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>

#include "bench.h"
#include "buffer.h"
#include "pattern.h"

enum { LINE_BYTES = 64, WORD_BYTES = 8 };
enum { KEY_BLOCK_BYTES, KEY_CALL };
enum { CALL_MEMCPY, CALL_MEMPCPY };
enum { COPY, LOOP, BLOCK_1_1_1, BLOCK_1_2_2, BLOCK_1_3_0 };

struct copy {
    unsigned char *destination;
    const unsigned char *source;
    size_t bytes;
    size_t block_bytes;
};

static uint64_t bytes;
static struct pattern pattern;
static uint64_t *source;
static uint64_t *destination;
static struct copy current;

BENCH_TIMED static void timed_copy_memcpy(const void *state) {
    const struct copy *copy = state;
    memcpy(copy->destination, copy->source, copy->bytes);
}

BENCH_TIMED static void timed_copy_mempcpy(const void *state) {
    const struct copy *copy = state;
    bench_barrier(mempcpy(copy->destination, copy->source, copy->bytes));
}

/* Plain, and without restrict: what becomes of it is the compiler's answer. */
BENCH_TIMED static void timed_loop(const void *state) {
    const struct copy *copy = state;
    uint64_t *b = (uint64_t *)copy->destination;
    const uint64_t *a = (const uint64_t *)copy->source;
    const size_t words = copy->bytes / sizeof *b;
    for (size_t t = 0; t < words; t++) {
        b[t] = a[t];
    }
}

/* The three forms differ in what moves: nothing, the destination, both. Each ends with a shorter
 * block where the blocks do not fill the buffer. The barrier is there because compilers know
 * memcpy: they may do a repeated copy only once, or join copies that follow one another. It takes
 * what mempcpy returns, because hardened headers make a memcpy of it where it is not used. */

BENCH_TIMED static void timed_block_1_1_1_memcpy(const void *state) {
    struct copy copy = *(const struct copy *)state;
    for (; copy.bytes >= copy.block_bytes; copy.bytes -= copy.block_bytes) {
        memcpy(copy.destination, copy.source, copy.block_bytes);
        bench_barrier(copy.destination);
    }
    if (copy.bytes > 0) {
        memcpy(copy.destination, copy.source, copy.bytes);
    }
}

BENCH_TIMED static void timed_block_1_1_1_mempcpy(const void *state) {
    struct copy copy = *(const struct copy *)state;
    for (; copy.bytes >= copy.block_bytes; copy.bytes -= copy.block_bytes) {
        bench_barrier(mempcpy(copy.destination, copy.source, copy.block_bytes));
    }
    if (copy.bytes > 0) {
        bench_barrier(mempcpy(copy.destination, copy.source, copy.bytes));
    }
}

BENCH_TIMED static void timed_block_1_2_2_memcpy(const void *state) {
    struct copy copy = *(const struct copy *)state;
    for (; copy.bytes >= copy.block_bytes; copy.bytes -= copy.block_bytes) {
        memcpy(copy.destination, copy.source, copy.block_bytes);
        copy.destination += copy.block_bytes;
        bench_barrier(copy.destination);
    }
    if (copy.bytes > 0) {
        memcpy(copy.destination, copy.source, copy.bytes);
    }
}

BENCH_TIMED static void timed_block_1_2_2_mempcpy(const void *state) {
    struct copy copy = *(const struct copy *)state;
    for (; copy.bytes >= copy.block_bytes; copy.bytes -= copy.block_bytes) {
        copy.destination = mempcpy(copy.destination, copy.source, copy.block_bytes);
        bench_barrier(copy.destination);
    }
    if (copy.bytes > 0) {
        bench_barrier(mempcpy(copy.destination, copy.source, copy.bytes));
    }
}

BENCH_TIMED static void timed_block_1_3_0_memcpy(const void *state) {
    struct copy copy = *(const struct copy *)state;
    for (; copy.bytes >= copy.block_bytes; copy.bytes -= copy.block_bytes) {
        memcpy(copy.destination, copy.source, copy.block_bytes);
        copy.destination += copy.block_bytes;
        copy.source += copy.block_bytes;
        bench_barrier(copy.destination);
    }
    if (copy.bytes > 0) {
        memcpy(copy.destination, copy.source, copy.bytes);
    }
}

BENCH_TIMED static void timed_block_1_3_0_mempcpy(const void *state) {
    struct copy copy = *(const struct copy *)state;
    for (; copy.bytes >= copy.block_bytes; copy.bytes -= copy.block_bytes) {
        copy.destination = mempcpy(copy.destination, copy.source, copy.block_bytes);
        copy.source += copy.block_bytes;
        bench_barrier(copy.destination);
    }
    if (copy.bytes > 0) {
        bench_barrier(mempcpy(copy.destination, copy.source, copy.bytes));
    }
}

static bench_timed *const timed[][2] = {
    [COPY] = {timed_copy_memcpy, timed_copy_mempcpy},
    [LOOP] = {timed_loop, timed_loop},
    [BLOCK_1_1_1] = {timed_block_1_1_1_memcpy, timed_block_1_1_1_mempcpy},
    [BLOCK_1_2_2] = {timed_block_1_2_2_memcpy, timed_block_1_2_2_mempcpy},
    [BLOCK_1_3_0] = {timed_block_1_3_0_memcpy, timed_block_1_3_0_mempcpy},
};

static const char *const calls[] = {
    [CALL_MEMCPY] = "memcpy",
    [CALL_MEMPCPY] = "mempcpy",
    NULL,
};

static const struct bench_key keys[] = {
    [KEY_BLOCK_BYTES] = {.name = "block_bytes"},
    [KEY_CALL] = {.name = "call", .words = calls},
    {0},
};

static const struct bench_method methods[] = {
    [COPY] = {.name = "copy", .keys = 1 << KEY_CALL},
    [LOOP] = {.name = "loop"},
    [BLOCK_1_1_1] = {.name = "block-1.1.1", .keys = 1 << KEY_CALL | 1 << KEY_BLOCK_BYTES},
    [BLOCK_1_2_2] = {.name = "block-1.2.2", .keys = 1 << KEY_CALL | 1 << KEY_BLOCK_BYTES},
    [BLOCK_1_3_0] = {.name = "block-1.3.0", .keys = 1 << KEY_CALL | 1 << KEY_BLOCK_BYTES},
    {0},
};

/* The whole buffer where a method knows no blocks. */
static uint64_t block_bytes(const struct bench_point *point) {
    const bool has_blocks = methods[point->method].keys & 1 << KEY_BLOCK_BYTES;
    return has_blocks ? point->values[KEY_BLOCK_BYTES] : bytes;
}

static void accept_point(const struct bench_point *point) {
    const uint64_t block = block_bytes(point);
    if (block == 0 || block % LINE_BYTES != 0 || block > bytes) {
        refuse("block_bytes=%" PRIu64 " is not a multiple of %d up to --bytes %" PRIu64
               "; give one that is",
               block, LINE_BYTES, bytes);
    }
}

static struct bench_buffers open_buffers(const struct bench_settings *settings) {
    pattern = pattern_make(settings->seed);
    source = buffer_allocate(bytes, settings->source_offset);
    destination = buffer_allocate(bytes, settings->destination_offset);
    pattern_fill(pattern, source, bytes / WORD_BYTES);
    return (struct bench_buffers){.source = source, .destination = destination};
}

static struct bench_task prepare_again(const struct bench_point *point) {
    current = (struct copy){
        .destination = (unsigned char *)destination,
        .source = (const unsigned char *)source,
        .bytes = bytes,
        .block_bytes = block_bytes(point),
    };
    return (struct bench_task){
        .timed = timed[point->method][point->values[KEY_CALL]],
        .state = &current,
        .bytes_declared = bytes,
        .buffers = {{source, bytes}, {destination, bytes}},
    };
}

static struct bench_task prepare(const struct bench_point *point) {
    pattern_poison(pattern, destination, bytes / WORD_BYTES);
    return prepare_again(point);
}

/* How many words of the destination block that begins at `word` are as the method defines. */
static size_t words_as_defined(size_t method, size_t word, size_t count) {
    if (method == BLOCK_1_1_1 && word > 0) {
        return pattern_match_poison(pattern, destination + word, count);
    }
    return pattern_match(pattern, destination + word, count, method == BLOCK_1_2_2 ? 0 : word);
}

static void check_definition(const struct bench_point *point, size_t words, size_t block_words,
                             struct bench_report *report) {
    for (size_t word = 0; word < words; word += block_words) {
        const size_t count = block_words < words - word ? block_words : words - word;
        const size_t good = words_as_defined(point->method, word, count);
        if (good < count) {
            bench_fail(report,
                       "the destination is not what %s defines from byte %zu (block %zu) on",
                       methods[point->method].name, (word + good) * WORD_BYTES, word / block_words);
            return;
        }
    }
}

/* Two questions: did the program do what its method defines, and what share of the declared work
 * is that? */
static void check(const struct bench_point *point, struct bench_report *report) {
    const size_t words = bytes / WORD_BYTES;
    const size_t block_words = block_bytes(point) / WORD_BYTES;
    if (pattern_match(pattern, source, words, 0) < words) {
        bench_fail(report, "the source was written to");
        pattern_fill(pattern, source, words); /* the next point starts from a good one */
    }
    const struct pattern_survey survey = pattern_survey(pattern, destination, words, block_words);
    const bool copies_all = point->method != BLOCK_1_1_1 && point->method != BLOCK_1_2_2;
    if (!copies_all || survey.words_in_place < words) {
        check_definition(point, words, block_words, report);
    }
    bench_observe_share(report, "work_done_fraction", survey.words_in_place, words);
    bench_observe_share(report, "destination_written_fraction", survey.words_written, words);
    bench_observe_count(report, "distinct_source_blocks", survey.source_blocks);
    if (survey.has_last_source_block) {
        bench_observe_count(report, "last_source_block", survey.last_source_block);
    } else {
        bench_observe_absent(report, "last_source_block");
    }
    bench_observe_count(report, "blocks_declared", (words + block_words - 1) / block_words);
}

const struct bench_kernel bench_kernel = {
    .name = "mbw",
    .question = "How fast is memory copied, and was it copied at all?",
    .size = {.bytes = &bytes, .of = "each buffer", .multiple = LINE_BYTES, .most = INT64_MAX},
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_buffers,
    .prepare = prepare,
    .check = check,
    .prepare_again = prepare_again,
};
