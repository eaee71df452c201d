/* Who is silent is asked; who stays silent is dead. */
#include <inttypes.h>

#include "endpoint.h"

enum { ASKS = 6 }; /* before a silent peer is given up */
#define NS_PER_MS UINT64_C(1000000)

void silence_look(struct endpoint *endpoint, uint64_t now_ns) {
    const uint64_t limit_ns = endpoint->options.silent_ns;
    const uint64_t ask_every_ns = limit_ns / ASKS;
    if (limit_ns == MESSAGES_SILENT_EVER) {
        return;
    }
    /* An end that did not listen for long heard nothing, whoever spoke. */
    const bool was_away = now_ns - endpoint->looked_ns > 2 * ask_every_ns;
    if (endpoint->has_heard || was_away) {
        endpoint->heard_ns = endpoint->asked_ns = now_ns;
        endpoint->has_heard = false;
    } else if (now_ns - endpoint->heard_ns > limit_ns) {
        endpoint_fail(endpoint,
                      "%s has not answered for %" PRIu64 " ms: it is dead, or was stopped",
                      endpoint->options.peer, (now_ns - endpoint->heard_ns) / NS_PER_MS);
    } else if (now_ns - endpoint->asked_ns > ask_every_ns) {
        endpoint->asked_ns = now_ns;
        control_send(endpoint, FRAME_ASK);
    }
    endpoint->looked_ns = now_ns;
}
