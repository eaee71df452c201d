/* Ends the program early with one sentence for the user, and reads numbers that may do so. */
#ifndef REFUSE_H
#define REFUSE_H

#include <argp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_CANNOT_RUN = 77 };
enum { SENTENCE_BYTES = 512 };

/* The user asked for something wrong: exit 1. Name the value and the remedy. */
_Noreturn void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on refuse and cannot_run print nothing: they leave the sentence in `room`, for another
 * process. */
void refuse_into(char room[SENTENCE_BYTES]);

/* Writes a sentence to standard error and returns it; where refuse_into was called, leaves it in
 * that room and returns NULL. */
const char *refuse_write(const char *format, va_list arguments)
    __attribute__((format(printf, 1, 0)));

/* The whole number in the first `length` characters of `text`, else refused; `label` is printed
 * in front of the text ("--bytes ", "samples="). */
uint64_t parse_number(const char *label, const char *text, size_t length, uint64_t least,
                      uint64_t most);

/* For the end of an argp parser that runs with ARGP_NO_ERRS: argp itself says an error in two
 * lines, and exits with 64. */
error_t refuse_other(int key, const char *argument, const struct argp_state *state);

#endif
