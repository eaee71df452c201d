/* JSON lines on standard output. A line is opened, filled with named values, and closed. */
#ifndef EMIT_H
#define EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void emit_open_line(const char *kind);
void emit_close_line(void);

void emit_integer(const char *name, uint64_t value);
void emit_real(const char *name, double value); /* null unless finite */
void emit_flag(const char *name, bool value);
void emit_text(const char *name, const char *value);
void emit_null(const char *name);
void emit_known(const char *name, bool known, uint64_t value); /* null if it is not */
void emit_integers(const char *name, const uint64_t *values, size_t count);

void emit_open_object(const char *name);
void emit_close_object(void);

/* Refuses to go on if what was written did not arrive. */
void emit_flush(void);

#endif
