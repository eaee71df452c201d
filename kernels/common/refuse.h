/* The two ways to end early, each with one sentence for the user, and numbers read with them. */
#ifndef REFUSE_H
#define REFUSE_H

#include <argp.h>
#include <stddef.h>
#include <stdint.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_CANNOT_RUN = 77 };
enum { SENTENCE_BYTES = 512 };

/* The user asked for something wrong: exit 1. Name the value and the remedy. */
_Noreturn void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* This machine or its limits do not allow it: exit 77, and an end line that carries the reason. */
_Noreturn void cannot_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on neither prints anything: the sentence is left in `room`, for another process. */
void refuse_into(char room[SENTENCE_BYTES]);

/* The whole number in the first `length` characters of `text`, else refused; `label` is printed
 * in front of the text ("--bytes ", "samples="). */
uint64_t parse_number(const char *label, const char *text, size_t length, uint64_t least,
                      uint64_t most);

/* For the end of an argp parser that runs with ARGP_NO_ERRS: argp itself says an error in two
 * lines, and exits with 64. */
error_t refuse_other(int key, const char *argument, const struct argp_state *state);

#endif
