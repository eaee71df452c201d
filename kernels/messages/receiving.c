/* Frames that came: what is whole, of this connection and next in order is delivered. */
#include <string.h>

#include "endpoint.h"

/* An acknowledgement of its own for so many parts of a window: else the answers carry it. */
enum { WINDOW_PARTS = 4 };

static void owe(struct endpoint *endpoint) {
    if (++endpoint->owed >= (endpoint->options.window + WINDOW_PARTS - 1) / WINDOW_PARTS) {
        control_send(endpoint, FRAME_ACKNOWLEDGE);
    }
}

static void take_message(struct endpoint *endpoint, const struct frame_header *header,
                         const unsigned char *payload) {
    const uint32_t ahead = header->sequence - endpoint->expected;
    if (ahead != 0 && ahead < MESSAGES_WINDOW_MOST) {
        endpoint->counts.ahead++;
        if (!endpoint->has_gap) {
            endpoint->has_gap = true;
            control_send(endpoint, FRAME_GAP);
        }
        return;
    }
    if (ahead != 0) {
        endpoint->counts.repeated++;
        owe(endpoint);
        return;
    }
    /* Counted before it is delivered: a handler that answers acknowledges it. */
    endpoint->expected++;
    endpoint->has_gap = false;
    endpoint->is_delivering = true;
    const enum delivery delivery = targets_deliver(&endpoint->targets, header, payload);
    endpoint->is_delivering = false;
    switch (delivery) {
    case DELIVERY_FULL:
        endpoint->expected--;
        endpoint->has_gap = true; /* what comes behind it is no news to the peer */
        endpoint->counts.queue_full++;
        return;
    case DELIVERY_REFUSED:
        endpoint->counts.refused++;
        break;
    case DELIVERY_DONE:
        endpoint->counts.delivered++;
        break;
    }
    owe(endpoint);
}

void receiving_take(struct endpoint *endpoint, const unsigned char *frame, size_t bytes) {
    struct frame_header header;
    switch (frame_look(frame, bytes, endpoint->options.connection, &header)) {
    case FRAME_STRANGE:
        endpoint->counts.strange++;
        return;
    case FRAME_DAMAGED:
        endpoint->counts.damaged++;
        return;
    case FRAME_GOOD:
        break;
    }
    endpoint->has_heard = true;
    sending_take_acknowledgement(endpoint, header.acknowledged);
    switch ((enum frame_kind)header.kind) {
    case FRAME_WRITE:
    case FRAME_APPEND:
    case FRAME_SIGNAL:
        take_message(endpoint, &header, frame + sizeof header);
        break;
    case FRAME_GAP:
    case FRAME_ROOM:
        if (header.acknowledged == endpoint->acknowledged) {
            sending_answer_gap(endpoint, header.kind == FRAME_ROOM);
        }
        break;
    case FRAME_ASK:
        control_send(endpoint, FRAME_ACKNOWLEDGE);
        break;
    case FRAME_CLOSE:
        if (header.sequence == endpoint->expected) {
            endpoint_fail(endpoint, "%s has closed the connection", endpoint->options.peer);
        }
        break;
    case FRAME_ACKNOWLEDGE:
    case FRAME_KINDS:
        break;
    }
}
