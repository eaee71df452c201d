#include "cannot_run.h"

#include <stdarg.h>
#include <stdlib.h>

#include "emit.h"
#include "refuse.h"

void cannot_run(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *reason = refuse_write(format, arguments);
    va_end(arguments);
    if (reason) {
        emit_open_line("end");
        emit_integer("status", EXIT_CANNOT_RUN);
        emit_text("reason", reason);
        emit_close_line();
        emit_flush();
    }
    exit(EXIT_CANNOT_RUN);
}
