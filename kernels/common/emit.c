#include "emit.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refuse.h"

enum { PROTOCOL_VERSION = 1 };

static bool needs_comma;

static void open_value(const char *name) {
    if (needs_comma) {
        putchar(',');
    }
    needs_comma = true;
    printf("\"%s\":", name);
}

void emit_open_line(const char *kind) {
    putchar('{');
    needs_comma = false;
    emit_integer("version", PROTOCOL_VERSION);
    emit_text("kind", kind);
}

void emit_close_line(void) {
    fputs("}\n", stdout);
}

void emit_integer(const char *name, uint64_t value) {
    open_value(name);
    printf("%" PRIu64, value);
}

void emit_real(const char *name, double value) {
    if (!isfinite(value)) {
        emit_null(name);
        return;
    }
    open_value(name);
    printf("%.17g", value);
}

void emit_flag(const char *name, bool value) {
    open_value(name);
    fputs(value ? "true" : "false", stdout);
}

/* An argument may hold any byte and may be quoted in a reason: what is not printable ASCII
 * becomes '?', so that the line stays valid JSON. */
void emit_text(const char *name, const char *value) {
    open_value(name);
    putchar('"');
    for (const char *c = value; *c; c++) {
        if (*c == '"' || *c == '\\') {
            putchar('\\');
        }
        putchar(*c >= ' ' && *c <= '~' ? *c : '?');
    }
    putchar('"');
}

void emit_null(const char *name) {
    open_value(name);
    fputs("null", stdout);
}

void emit_known(const char *name, bool known, uint64_t value) {
    if (known) {
        emit_integer(name, value);
    } else {
        emit_null(name);
    }
}

void emit_integers(const char *name, const uint64_t *values, size_t count) {
    open_value(name);
    putchar('[');
    for (size_t i = 0; i < count; i++) {
        printf("%s%" PRIu64, i ? "," : "", values[i]);
    }
    putchar(']');
}

void emit_open_object(const char *name) {
    open_value(name);
    putchar('{');
    needs_comma = false;
}

void emit_close_object(void) {
    putchar('}');
    needs_comma = true;
}

void emit_flush(void) {
    if (fflush(stdout) != 0 || ferror(stdout)) {
        refuse("the results could not be written to standard output (%s); free some space or keep "
               "its reader alive",
               strerror(errno));
    }
}
