#define _GNU_SOURCE
#include "arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "bytes_option.h"
#include "emit.h"
#include "turns.h"

enum {
    OPTION_HELP = 0x100,
    OPTION_POINT,
    OPTION_SOURCE,
    OPTION_DESTINATION,
    OPTION_SEED,
    OPTION_PROCESSES,
    OPTION_SCHEDULE,
    OPTION_TURNS,
    OPTION_PAUSE,
    OPTION_COLD_TURNS
};
enum { PROCESSES_MOST = 1024 };

struct input {
    const struct bench_kernel *kernel;
    struct arguments *arguments;
};

static const struct argp_option options[] = {
    {.name = "point",
     .key = OPTION_POINT,
     .arg = "KEY=VALUE,...",
     .doc = "Measure this: method=, samples=, warmup=, loops= and the method's own keys; up to 64, "
            "in the order given"},
    {.name = "source-offset",
     .key = OPTION_SOURCE,
     .arg = "BYTES",
     .doc = "Where in its first 4096 bytes the source begins: 0 to 4088, a multiple of 8"},
    {.name = "destination-offset",
     .key = OPTION_DESTINATION,
     .arg = "BYTES",
     .doc = "Where in its first 4096 bytes the destination begins, as for the source"},
    {.name = "seed", .key = OPTION_SEED, .arg = "N", .doc = "Seed of the data that is moved"},
    {.name = "processes",
     .key = OPTION_PROCESSES,
     .arg = "N",
     .doc = "Measure in N processes at once, each on one CPU, with buffers and data of its own"},
    {.name = "schedule",
     .key = OPTION_SCHEDULE,
     .arg = "together|apart",
     .doc = "Let the processes begin each sample together, and time them as one; or apart, each "
            "at its own pace (the default)"},
    {.name = "turns",
     .key = OPTION_TURNS,
     .arg = "N",
     .doc = "Measure each point in N parts, in turns with the others (1 if not given); one process "
            "only"},
    {.name = "pause",
     .key = OPTION_PAUSE,
     .doc = "Stop before each turn until a SIGCONT, so that another program can have its turn"},
    {.name = "cold-turns",
     .key = OPTION_COLD_TURNS,
     .doc = "Warm up before the first turn alone: for what is so large that no pass finds in the "
            "caches what the one before left"},
    {.name = "help", .key = OPTION_HELP, .doc = "Print this text"},
    {0},
};

static uint64_t parse_offset(const char *label, const char *text) {
    const uint64_t offset = parse_number(label, text, strlen(text), 0, BUFFER_OFFSET_MOST);
    if (offset % BUFFER_OFFSET_STEP != 0) {
        refuse("%s%s is not a multiple of %d; give one that is", label, text, BUFFER_OFFSET_STEP);
    }
    return offset;
}

static bool parse_together(const char *text) {
    const bool together = strcmp(text, "together") == 0;
    if (!together && strcmp(text, "apart") != 0) {
        refuse("--schedule '%s' is neither together nor apart; give one of them", text);
    }
    return together;
}

static void add_point(const struct input *input, const char *text) {
    struct arguments *arguments = input->arguments;
    if (arguments->point_count == POINTS_MAX) {
        refuse("there are more than %d --point; give them to several runs", POINTS_MAX);
    }
    arguments->points[arguments->point_count++] = point_parse(input->kernel, text);
}

static void print_method(const struct bench_kernel *kernel, const struct bench_method *method) {
    printf("  method=%s", method->name);
    for (size_t key = 0; method->keys >> key; key++) {
        if (!(method->keys >> key & 1)) {
            continue;
        }
        const char *const *words = kernel->keys[key].words;
        const bool optional = kernel->keys[key].optional;
        printf(" %s%s=%s", optional ? "[" : "", kernel->keys[key].name, words ? "" : "N");
        for (size_t word = 0; words && words[word]; word++) {
            printf("%s%s", word ? "|" : "", words[word]);
        }
        printf("%s", optional ? "]" : "");
    }
    putchar('\n');
}

_Noreturn static void print_help(const struct bench_kernel *kernel, const struct argp *argp) {
    argp_help(argp, stdout, ARGP_HELP_STD_HELP, (char *)kernel->name);
    puts("\nThe methods and the keys that each takes:");
    for (const struct bench_method *method = kernel->methods; method->name; method++) {
        print_method(kernel, method);
    }
    emit_flush();
    exit(EXIT_OK);
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    const struct input *input = state->input;
    struct bench_settings *settings = &input->arguments->settings;
    switch (key) {
    case OPTION_POINT:
        add_point(input, argument);
        return 0;
    case OPTION_SOURCE:
        settings->source_offset = parse_offset("--source-offset ", argument);
        return 0;
    case OPTION_DESTINATION:
        settings->destination_offset = parse_offset("--destination-offset ", argument);
        return 0;
    case OPTION_SEED:
        settings->seed = parse_number("--seed ", argument, strlen(argument), 0, UINT64_MAX);
        return 0;
    case OPTION_PROCESSES:
        input->arguments->processes =
            parse_number("--processes ", argument, strlen(argument), 1, PROCESSES_MOST);
        return 0;
    case OPTION_SCHEDULE:
        input->arguments->together = parse_together(argument);
        return 0;
    case OPTION_TURNS:
        input->arguments->turns =
            parse_number("--turns ", argument, strlen(argument), 1, TURNS_MOST);
        return 0;
    case OPTION_PAUSE:
        input->arguments->pauses = true;
        return 0;
    case OPTION_COLD_TURNS:
        input->arguments->cold = true;
        return 0;
    case OPTION_HELP:
        print_help(input->kernel, state->root_argp);
    default:
        return refuse_other(key, argument, state);
    }
}

void arguments_parse(const struct bench_kernel *kernel, int argc, char **argv,
                     struct arguments *arguments) {
    struct input input = {.kernel = kernel, .arguments = arguments};
    arguments->processes = 1;
    arguments->turns = 1;
    const struct argp_child children[] = {
        {.argp = bytes_option(&kernel->size)},
        {.argp = kernel->argp}, /* without one, the list ends here */
        {0},
    };
    const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .doc = kernel->question,
        .children = children,
    };
    argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &input);
    if (arguments->point_count == 0) {
        refuse("there is nothing to measure; give at least one --point");
    }
    if (arguments->processes > 1 && (arguments->turns > 1 || arguments->pauses)) {
        refuse("several processes cannot take turns; give --processes alone");
    }
    for (size_t i = 0; i < arguments->point_count && kernel->accept; i++) {
        kernel->accept(&arguments->points[i]);
    }
}
