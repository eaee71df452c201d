/* Ends the program where this machine or its limits do not allow what was asked for. */
#ifndef CANNOT_RUN_H
#define CANNOT_RUN_H

/* Exits with 77, after an end line that carries the reason. */
_Noreturn void cannot_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
