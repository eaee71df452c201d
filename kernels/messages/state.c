/* What is known of a connection. */
#include <stdarg.h>
#include <stdio.h>

#include "endpoint.h"

void endpoint_fail(struct endpoint *endpoint, const char *format, ...) {
    if (!*endpoint->failure) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(endpoint->failure, sizeof endpoint->failure, format, arguments);
        va_end(arguments);
    }
}

const char *endpoint_failure(const struct endpoint *endpoint) {
    return *endpoint->failure ? endpoint->failure : NULL;
}

const struct messages_counts *endpoint_counts(const struct endpoint *endpoint) {
    return &endpoint->counts;
}

uint64_t endpoint_dropped(const struct endpoint *endpoint) {
    return endpoint->carrier->methods->dropped(endpoint->carrier);
}
