/* What a kernel gives to the harness, and what it may call. One of its C files defines
 * `bench_kernel`; harness.c has main() and knows nothing else about it. */
#ifndef BENCH_H
#define BENCH_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cannot_run.h"
#include "refuse.h"
#include "sink.h"

/* For every function whose body is timed. Its name begins with timed_, and it must remain one
 * function of that name: the calls in the timed region are found in its disassembly. */
#if defined(__clang__)
#define BENCH_TIMED __attribute__((noinline))
#else
#define BENCH_TIMED __attribute__((noinline, noclone, noipa))
#endif

enum { BENCH_KEYS_MAX = 8, BENCH_OBSERVATIONS_MAX = 32, BENCH_RANGES_MAX = 4 };

/* A KEY=VALUE of --point that only this kernel knows. */
struct bench_key {
    const char *name;
    const char *const *words; /* the values it may have, up to a NULL; without: a whole number */
    bool optional;            /* a method takes it, and does not need it: 0 where it is left out */
};

struct bench_method {
    const char *name;
    unsigned keys; /* bit N: it takes the N-th of the kernel's keys, and needs it unless optional */
};

struct bench_point {
    size_t method; /* which of the kernel's methods */
    uint64_t samples;
    uint64_t warm_up;
    uint64_t loops;
    uint64_t values[BENCH_KEYS_MAX]; /* by key: the number, or which of its words */
};

struct bench_settings {
    uint64_t source_offset;
    uint64_t destination_offset;
    uint64_t seed;
};

/* Where the buffers stand; NULL where the kernel has none. */
struct bench_buffers {
    const void *source;
    const void *destination;
    bool fixed; /* no offset moves them: the linker put them there, or the code under test does */
};

/* Some memory; none where there are no bytes. */
struct bench_range {
    const void *first;
    uint64_t bytes;
};

struct sample; /* measure.h */

typedef void bench_timed(const void *state);
typedef void bench_call(const void *argument);

/* Fills `count` samples itself, all three members of each. */
typedef void bench_series(const void *state, struct sample *samples, size_t count);

struct bench_task {
    bench_timed *timed;
    const void *state;
    uint64_t bytes_declared;                      /* moved by one call, as the method declares it */
    struct bench_range buffers[BENCH_RANGES_MAX]; /* that the point works on */

    /* Instead, where only the samples bring them about: as many, read when they have ended. May be
     * NULL. */
    const struct bench_range *brought;

    /* May be NULL: called with the state after each sample, untimed, but within the usage. */
    bench_call *between;

    /* More threads than CPUs may take part: that they wait for a CPU is then what is measured, and
     * tells of no other work on the machine. */
    bool crowded;

    /* Instead of `timed`, for samples that overlap or begin by a clock: called for the warm-ups
     * and then for the samples, where there are any. Its loops are 1, and no crew meets. */
    bench_series *series;
};

/* What --bytes is the size of. A kernel that leaves it out has no such option. */
struct bench_size {
    uint64_t *bytes; /* where the number goes */
    const char *of;  /* "the buffer" */
    uint64_t multiple;
    uint64_t most;
};

struct bench_report;

/* Both tables end with an entry whose name is NULL. */
struct bench_kernel {
    const char *name;
    const char *question;         /* first lines of --help */
    struct bench_size size;       /* --bytes, if it has one */
    const struct argp *argp;      /* the kernel's other options, or NULL */
    const struct bench_key *keys; /* or NULL */
    const struct bench_method *methods;

    /* In this order; accept, open and close may be NULL. A kernel without a check has no numbers.
     * Where several processes measure, each of them calls all but accept. */
    void (*accept)(const struct bench_point *point); /* all points first: refuse the bad ones */
    struct bench_buffers (*open)(const struct bench_settings *settings);
    struct bench_task (*prepare)(const struct bench_point *point); /* before each point */
    void (*check)(const struct bench_point *point, struct bench_report *report); /* after it */

    /* Optional, for points in parts (turns.h) whose prepare and check take long: called instead of
     * prepare for all parts but the first and the last, and only the last part is checked. */
    struct bench_task (*prepare_again)(const struct bench_point *point);
    void (*close)(void);

    /* Makes the call in each thread that its timed functions use; NULL: they use the caller's. */
    void (*in_each_thread)(bench_call *call, const void *argument);
};

extern const struct bench_kernel bench_kernel;

/* For check(). A failure voids the point; an observation is evidence, whatever its value. */
void bench_fail(struct bench_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bench_observe_count(struct bench_report *report, const char *name, uint64_t value);
/* Of something that happens again and again: the parts of a point are added. */
void bench_observe_events(struct bench_report *report, const char *name, uint64_t value);
void bench_observe_real(struct bench_report *report, const char *name, double value);
void bench_observe_share(struct bench_report *report, const char *name, uint64_t part,
                         uint64_t whole);
void bench_observe_text(struct bench_report *report, const char *name, const char *text);
void bench_observe_absent(struct bench_report *report, const char *name);

#endif
