/* Memory bandwidth as STREAM measures it, and the ceilings that it may be held against: three
 * arrays of doubles a, b and c, static or from the heap, and one pass over them by one or more
 * threads. */
#define _GNU_SOURCE
#include "stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "buffer.h"
#include "doubles.h"

enum { LINE_BYTES = 64, THREADS_MOST = 1 << 20, HALF_PAGE = 2048 };
enum { OPTION_MEMORY = 0x1000, OPTION_THREADS };
enum { NO_ARRAY = -1, A, B, C, ARRAYS };
enum { PART_BYTES, KEYS }; /* a point works on so much of each array; 0: on all of it */
enum { SOURCE_STEP = 1 << 15, SOURCE_CHECKED = SOURCE_STEP / 8 }; /* elements */

/* What a method does: to[i] = factors[0] * from[i] + factors[1] * other[i]. */
struct definition {
    int to;
    int from;
    int other;
    double factors[2];
};

static const struct definition definitions[] = {
    [COPY] = {.to = C, .from = A, .other = NO_ARRAY, .factors = {1}},
    [SCALE] = {.to = B, .from = C, .other = NO_ARRAY, .factors = {STREAM_SCALAR}},
    [ADD] = {.to = C, .from = A, .other = B, .factors = {1, 1}},
    [TRIAD] = {.to = A, .from = B, .other = C, .factors = {1, STREAM_SCALAR}},
    [COPY_NT] = {.to = C, .from = A, .other = NO_ARRAY, .factors = {1}},
    [COPY_NT_256] = {.to = C, .from = A, .other = NO_ARRAY, .factors = {1}},
    [COPY_MOVSB] = {.to = C, .from = A, .other = NO_ARRAY, .factors = {1}},
    [READ] = {.to = NO_ARRAY, .from = A, .other = NO_ARRAY},
    [WRITE] = {.to = C, .from = NO_ARRAY, .other = NO_ARRAY, .factors = {1}},
    [WRITE_NT] = {.to = C, .from = NO_ARRAY, .other = NO_ARRAY, .factors = {1}},
};

static const struct bench_key keys[KEYS + 1] = {[PART_BYTES] = {.name = "bytes", .optional = true}};

static const struct bench_method methods[] = {
    [COPY] = {.name = "copy", .keys = 1u << PART_BYTES},
    [SCALE] = {.name = "scale", .keys = 1u << PART_BYTES},
    [ADD] = {.name = "add", .keys = 1u << PART_BYTES},
    [TRIAD] = {.name = "triad", .keys = 1u << PART_BYTES},
    [COPY_NT] = {.name = "copy-nt", .keys = 1u << PART_BYTES},
    [COPY_NT_256] = {.name = "copy-nt-256", .keys = 1u << PART_BYTES},
    [COPY_MOVSB] = {.name = "copy-movsb", .keys = 1u << PART_BYTES},
    [READ] = {.name = "read", .keys = 1u << PART_BYTES},
    [WRITE] = {.name = "write", .keys = 1u << PART_BYTES},
    [WRITE_NT] = {.name = "write-nt", .keys = 1u << PART_BYTES},
    {0},
};

static const char array_names[ARRAYS] = {'a', 'b', 'c'};

static uint64_t bytes;
static int threads = 1;
static enum stream_memory memory;
static bool memory_is_given;

static double *arrays[ARRAYS];
static size_t spoiled[ARRAYS]; /* its first elements, to be filled before they are read */
static struct doubles values[ARRAYS];
static struct doubles written; /* by WRITE and WRITE_NT */
static struct stream_work work;
static struct doubles_found *found_in; /* each part */

static const struct argp_option options[] = {
    {.name = "memory",
     .key = OPTION_MEMORY,
     .arg = "static|heap",
     .doc = "Static arrays, where the linker put them, or arrays from the heap. On the heap, a has "
            "the source's offset, c the destination's, and b is half a page from c"},
    {.name = "threads",
     .key = OPTION_THREADS,
     .arg = "N",
     .doc = "How many threads share each pass (1 if not given); more than one need OpenMP"},
    {0},
};

static enum stream_memory parse_memory(const char *word) {
    if (strcmp(word, "static") == 0) {
        return STATIC;
    }
    if (strcmp(word, "heap") == 0) {
        return HEAP;
    }
    refuse("--memory '%s' is neither static nor heap; give one of these", word);
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    (void)state;
    switch (key) {
    case OPTION_MEMORY:
        memory = parse_memory(argument);
        memory_is_given = true;
        return 0;
    case OPTION_THREADS:
        threads = (int)parse_number("--threads ", argument, strlen(argument), 1, THREADS_MOST);
        return 0;
    case ARGP_KEY_END:
        if (!memory_is_given) {
            refuse("--memory is missing; give static or heap");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Of each array, in bytes: what the point works on. */
static uint64_t part_of(const struct bench_point *point) {
    return point->values[PART_BYTES] ? point->values[PART_BYTES] : bytes;
}

static void accept_point(const struct bench_point *point) {
    const uint64_t part = part_of(point);
    if (part % LINE_BYTES != 0 || part > bytes) {
        refuse("bytes=%" PRIu64 " is not a multiple of %d up to --bytes %" PRIu64
               "; give one that is",
               part, LINE_BYTES, bytes);
    }
    if (memory == STATIC && loops_arrays().exact && part != bytes) {
        refuse("bytes=%" PRIu64 " is less than the static arrays that the loops were built for; "
               "leave it out",
               part);
    }
    struct stream_work unused;
    if (point->method > TRIAD && !ceilings_timed(point->method, &unused)) {
        cannot_run("%s is written for x86-64 only; leave it out here", methods[point->method].name);
    }
}

/* Of a team of this size, as far as OpenMP grants it. */
static int team_size(void) {
    int size = 1;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#pragma omp single
    size = omp_get_num_threads();
#endif
    return size;
}

static void check_threads(void) {
#ifdef _OPENMP
    const int cpus = omp_get_num_procs();
    if (threads > cpus) {
        cannot_run("%d threads need as many CPUs, and %d may be used here; ask for fewer", threads,
                   cpus);
    }
    const int size = team_size();
    if (size < threads) {
        cannot_run("OpenMP grants %d of %d threads; unset OMP_THREAD_LIMIT and OMP_DYNAMIC", size,
                   threads);
    }
#else
    if (threads > 1) {
        cannot_run("this program was built without OpenMP and has one thread only; ask for "
                   "--threads 1 or build it with -fopenmp");
    }
#endif
}

static void find_static_arrays(void) {
    const struct stream_arrays found = loops_arrays();
    const uint64_t most = found.elements * sizeof(double);
    if (found.exact && bytes != most) {
        refuse("--bytes %" PRIu64 " is not the size that the static arrays were built with; give "
               "%" PRIu64,
               bytes, most);
    }
    if (bytes > most) {
        cannot_run("the static arrays hold at most %" PRIu64
                   " bytes; ask for fewer or for --memory heap",
                   most);
    }
    memcpy(arrays, found.all, sizeof arrays);
}

static void allocate_arrays(const struct bench_settings *settings) {
    const uint64_t offset = settings->destination_offset;
    arrays[A] = (double *)buffer_allocate(bytes, settings->source_offset);
    arrays[B] = (double *)buffer_allocate(bytes, (offset + HALF_PAGE) % (2 * HALF_PAGE));
    arrays[C] = (double *)buffer_allocate(bytes, offset);
}

static struct bench_buffers open_arrays(const struct bench_settings *settings) {
    check_threads();
    if (memory == STATIC) {
        find_static_arrays();
    } else {
        allocate_arrays(settings);
    }
    for (uint64_t array = 0; array < ARRAYS; array++) {
        values[array] = doubles_make(settings->seed, array);
        spoiled[array] = bytes / sizeof(double);
    }
    written = doubles_same(doubles_make(settings->seed, ARRAYS));
    work.threads = threads;
    work.parts = aligned_alloc(_Alignof(struct stream_part), (size_t)threads * sizeof *work.parts);
    found_in = calloc((size_t)threads, sizeof *found_in);
    if (!work.parts || !found_in) {
        cannot_run("no memory for %d threads; ask for fewer", threads);
    }
    return (struct bench_buffers){
        .source = arrays[A],
        .destination = arrays[C],
        .fixed = memory == STATIC,
    };
}

/* Those of the first `all` elements that a thread works on, as schedule(static) shares them. */
struct range {
    size_t first;
    size_t count;
};

static struct range range_of(int part, size_t all) {
    const size_t thread = (size_t)part;
    const size_t least = all / (size_t)threads;
    const size_t longer = all % (size_t)threads; /* the first ones, by one */
    return (struct range){
        .first = thread * least + (thread < longer ? thread : longer),
        .count = least + (thread < longer),
    };
}

static void fill(int array) {
    if (array == NO_ARRAY || spoiled[array] == 0) {
        return;
    }
    PARALLEL_FOR
    for (int part = 0; part < threads; part++) {
        const struct range range = range_of(part, spoiled[array]);
        doubles_fill(values[array], arrays[array] + range.first, range.first, range.count);
    }
    spoiled[array] = 0;
}

static void spoil(int array, size_t count) {
    if (array != NO_ARRAY && spoiled[array] < count) {
        spoiled[array] = count;
    }
}

static void poison(int array) {
    if (array == NO_ARRAY) {
        return;
    }
    PARALLEL_FOR
    for (int part = 0; part < threads; part++) {
        const struct range range = range_of(part, work.count);
        doubles_poison(arrays[array] + range.first, range.count);
    }
}

static double *array_or_null(int array) {
    return array == NO_ARRAY ? NULL : arrays[array];
}

static void share_out(void) {
    for (int part = 0; part < threads; part++) {
        const struct range range = range_of(part, work.count);
        work.parts[part] = (struct stream_part){
            .to = work.to ? work.to + range.first : NULL,
            .from = work.from ? work.from + range.first : NULL,
            .count = range.count,
            .value = doubles_value(written, 0),
        };
        doubles_poison(&work.parts[part].sum, 1);
    }
}

static struct bench_task prepare_again(const struct bench_point *point) {
    const struct definition *definition = &definitions[point->method];
    const int used[] = {definition->to, definition->from, definition->other};
    const uint64_t part_bytes = part_of(point);
    work.count = part_bytes / sizeof(double);
    spoil(definition->to, work.count);
    work.to = array_or_null(definition->to);
    work.from = array_or_null(definition->from);
    work.other = array_or_null(definition->other);
    share_out();
    struct bench_task task = {
        .timed = point->method > TRIAD ? ceilings_timed(point->method, &work)
                                       : loops_timed(point->method, memory, &work),
        .state = &work,
    };
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        if (used[i] != NO_ARRAY) {
            task.buffers[i] = (struct bench_range){arrays[used[i]], part_bytes};
            task.bytes_declared += part_bytes;
        }
    }
    return task;
}

/* Fills only what an earlier point has destroyed, and touches only the arrays that this one needs:
 * what it reads, as a whole, so that points of all sizes find the same pages. */
static struct bench_task prepare(const struct bench_point *point) {
    const struct definition *definition = &definitions[point->method];
    fill(definition->from);
    fill(definition->other);
    const struct bench_task task = prepare_again(point);
    poison(definition->to);
    return task;
}

static struct doubles_expected expected_of(const struct definition *definition) {
    return (struct doubles_expected){
        .values = {definition->from == NO_ARRAY ? written : values[definition->from],
                   definition->other == NO_ARRAY ? written : values[definition->other]},
        .factors = {definition->factors[0], definition->factors[1]},
    };
}

static struct doubles_found join_parts(void) {
    struct doubles_found all = {.first_wrong = SIZE_MAX};
    for (int part = 0; part < threads; part++) {
        all = doubles_join(all, found_in[part]);
    }
    return all;
}

/* All parts of an array; without one: the sums that were read. */
static struct doubles_found survey(int array, struct doubles_expected expected) {
    PARALLEL_FOR
    for (int part = 0; part < threads; part++) {
        const struct range range = range_of(part, work.count);
        found_in[part] = array == NO_ARRAY ? doubles_survey_sum(expected.values[0], range.first,
                                                                range.count, work.parts[part].sum)
                                           : doubles_survey(&expected, arrays[array] + range.first,
                                                            range.first, range.count);
    }
    return join_parts();
}

/* An eighth of a source: where the result is right, all of it was when it was read, and loops that
 * write to their sources do so all over. */
static struct doubles_found survey_source(int array) {
    const struct doubles_expected own = {.values = {values[array], values[array]}, .factors = {1}};
    PARALLEL_FOR
    for (int part = 0; part < threads; part++) {
        const struct range range = range_of(part, work.count);
        found_in[part] = (struct doubles_found){.first_wrong = SIZE_MAX};
        for (size_t i = 0; i < range.count; i += SOURCE_STEP) {
            const size_t left = range.count - i;
            const size_t count = left < SOURCE_CHECKED ? left : SOURCE_CHECKED;
            const size_t first = range.first + i;
            found_in[part] = doubles_join(
                found_in[part], doubles_survey(&own, arrays[array] + first, first, count));
        }
    }
    return join_parts();
}

static void check_source(int array, struct bench_report *report) {
    if (array == NO_ARRAY) {
        return;
    }
    const struct doubles_found found = survey_source(array);
    if (!doubles_judge(found).good) {
        bench_fail(report, "%c was written to, at element %zu first", array_names[array],
                   found.first_wrong);
        spoil(array, work.count); /* the next point starts from a good one */
    }
}

static void check_result(const struct bench_point *point, struct bench_report *report) {
    const struct definition *definition = &definitions[point->method];
    const struct doubles_found found = survey(definition->to, expected_of(definition));
    const struct doubles_verdict verdict = doubles_judge(found);
    if (!verdict.good && definition->to == NO_ARRAY) {
        bench_fail(report, "the sum over a that was read is wrong");
    } else if (!verdict.good) {
        bench_fail(report, "%zu of %zu elements of %c are not what %s defines, element %zu first",
                   found.count - found.right, found.count, array_names[definition->to],
                   methods[point->method].name, found.first_wrong);
    }
    bench_observe_share(report, "work_done_fraction", found.right, found.count);
    if (verdict.has_error) {
        bench_observe_real(report, "mean_relative_error", verdict.mean_relative_error);
    } else {
        bench_observe_absent(report, "mean_relative_error");
    }
}

static void check(const struct bench_point *point, struct bench_report *report) {
    check_source(definitions[point->method].from, report);
    check_source(definitions[point->method].other, report);
    check_result(point, report);
    const int size = team_size();
    if (size != threads) {
        bench_fail(report, "%d of %d threads ran", size, threads);
    }
    bench_observe_count(report, "threads_used", (uint64_t)size);
    const uint64_t bits = point->method > TRIAD ? ceilings_vector_bits(point->method) : 0;
    if (bits > 0) {
        bench_observe_count(report, "vector_bits", bits);
    }
}

static void in_each_thread(bench_call *call, const void *argument) {
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    call(argument);
}

static const struct argp argp = {.options = options, .parser = parse_option};

const struct bench_kernel bench_kernel = {
    .name = "stream",
    .question = "How fast is memory read, written and copied by all threads together?",
    .size = {.bytes = &bytes, .of = "each array", .multiple = LINE_BYTES, .most = INT64_MAX},
    .argp = &argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_arrays,
    .prepare = prepare,
    .check = check,
    .prepare_again = prepare_again,
    .in_each_thread = in_each_thread,
};
