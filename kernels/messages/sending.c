/* Messages are kept until they are acknowledged. Where one is missing at the other end, that one
 * and all behind it are sent again: at once where the other end tells of a gap, else by the clock.
 */
#include <string.h>

#include "endpoint.h"

enum { DOUBLINGS_MOST = 5 };

size_t endpoint_room(const struct endpoint *endpoint) {
    return endpoint->options.window - (endpoint->next - endpoint->acknowledged);
}

static struct sent_frame *frame_of(const struct endpoint *endpoint, uint32_t number) {
    return &endpoint->frames[number % endpoint->options.window];
}

struct sent_frame *sending_next(const struct endpoint *endpoint) {
    return frame_of(endpoint, endpoint->next);
}

void sending_commit(struct endpoint *endpoint) {
    struct frame_header *header = &frame_of(endpoint, endpoint->next)->header;
    header->version = FRAME_VERSION;
    header->connection = endpoint->options.connection;
    header->sequence = endpoint->next++;
    endpoint->counts.sent++;
    sending_continue(endpoint);
}

/* As many as the carrier has room for. */
void sending_continue(struct endpoint *endpoint) {
    while (endpoint->unsent != endpoint->next) {
        struct sent_frame *frame = frame_of(endpoint, endpoint->unsent);
        frame->header.acknowledged = endpoint->expected;
        frame->header.checksum = frame_checksum(&frame->header, frame->payload);
        if (!endpoint->carrier->methods->send(endpoint->carrier, frame,
                                              sizeof frame->header + frame->header.bytes)) {
            return;
        }
        endpoint->owed = 0;
        if (endpoint->unsent++ == endpoint->highest) {
            endpoint->highest++;
        } else {
            endpoint->counts.resent++;
        }
    }
}

void sending_take_acknowledgement(struct endpoint *endpoint, uint32_t acknowledged) {
    const uint32_t gained = acknowledged - endpoint->acknowledged;
    if (gained == 0 || gained > endpoint->highest - endpoint->acknowledged) {
        return; /* an old one, or one of what was never sent */
    }
    if (endpoint->unsent - endpoint->acknowledged < gained) {
        endpoint->unsent = acknowledged;
    }
    endpoint->acknowledged = acknowledged;
    endpoint->is_timed = false;
    endpoint->resend_after_ns = endpoint->options.resend_ns;
}

static void send_all_again(struct endpoint *endpoint) {
    endpoint->unsent = endpoint->acknowledged;
    endpoint->is_timed = false;
    sending_continue(endpoint);
}

/* A gap is told once; where it is told again before the clock has seen to it, it was answered. */
void sending_answer_gap(struct endpoint *endpoint, bool always) {
    if (always || endpoint->gap != endpoint->acknowledged - 1) {
        endpoint->gap = endpoint->acknowledged - 1;
        send_all_again(endpoint);
    }
}

bool sending_is_done(const struct endpoint *endpoint) {
    return endpoint->acknowledged == endpoint->next;
}

void sending_look(struct endpoint *endpoint, uint64_t now_ns) {
    if (sending_is_done(endpoint)) {
        return;
    }
    if (endpoint->is_timed && now_ns >= endpoint->resend_at_ns) {
        if (endpoint->resend_after_ns < endpoint->options.resend_ns << DOUBLINGS_MOST) {
            endpoint->resend_after_ns *= 2;
        }
        endpoint->counts.resends_by_clock++;
        send_all_again(endpoint);
    }
    /* No clock is read when a message is sent: its time begins at the next look. */
    if (!endpoint->is_timed) {
        endpoint->is_timed = true;
        endpoint->resend_at_ns = now_ns + endpoint->resend_after_ns;
    }
}
