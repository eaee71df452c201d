/* Messages of the three kinds, and the queues that they go to. */
#include <string.h>

#include "endpoint.h"

/* False where the connection failed, or a handler would have to wait. */
static bool await_room(struct endpoint *endpoint) {
    if (endpoint_room(endpoint) == 0 && endpoint->is_delivering) {
        return false;
    }
    endpoint->counts.window_waits += endpoint_room(endpoint) == 0;
    while (endpoint_room(endpoint) == 0 && !endpoint_failure(endpoint)) {
        if (endpoint->options.sleeps) {
            endpoint_wait(endpoint, UINT64_MAX);
        } else {
            endpoint_poll(endpoint);
        }
    }
    return !endpoint_failure(endpoint);
}

static bool put_message(struct endpoint *endpoint, enum frame_kind kind, uint32_t key,
                        uint32_t offset, const void *payload, size_t bytes) {
    if (bytes > MESSAGES_BYTES_MOST) {
        return false;
    }
    if (!await_room(endpoint)) {
        return false;
    }
    struct sent_frame *frame = sending_next(endpoint);
    frame->header.bytes = (uint16_t)bytes;
    frame->header.kind = (uint8_t)kind;
    frame->header.key = key;
    frame->header.offset = offset;
    if (bytes > 0) {
        memcpy(frame->payload, payload, bytes);
    }
    sending_commit(endpoint);
    return true;
}

static bool send_message(struct endpoint *endpoint, enum frame_kind kind, uint32_t key,
                         uint32_t offset, const void *payload, size_t bytes) {
    endpoint_enter(endpoint);
    const bool is_sent = put_message(endpoint, kind, key, offset, payload, bytes);
    endpoint_leave(endpoint);
    return is_sent;
}

bool endpoint_write(struct endpoint *endpoint, uint32_t key, uint32_t offset, const void *payload,
                    size_t bytes) {
    const unsigned char *place = payload;
    for (; bytes > MESSAGES_BYTES_MOST; bytes -= MESSAGES_BYTES_MOST) {
        if (!send_message(endpoint, FRAME_WRITE, key, offset, place, MESSAGES_BYTES_MOST)) {
            return false;
        }
        place += MESSAGES_BYTES_MOST;
        offset += MESSAGES_BYTES_MOST;
    }
    return send_message(endpoint, FRAME_WRITE, key, offset, place, bytes);
}

bool endpoint_append(struct endpoint *endpoint, uint32_t key, const void *payload, size_t bytes) {
    return send_message(endpoint, FRAME_APPEND, key, 0, payload, bytes);
}

bool endpoint_signal(struct endpoint *endpoint, uint32_t key, const void *payload, size_t bytes) {
    return send_message(endpoint, FRAME_SIGNAL, key, 0, payload, bytes);
}

const void *endpoint_front(struct endpoint *endpoint, uint32_t key, size_t *bytes) {
    struct target *queue = targets_find(&endpoint->targets, key, FRAME_APPEND);
    endpoint_enter(endpoint);
    const void *front = queue ? target_front(queue, bytes) : NULL;
    endpoint_leave(endpoint);
    return front;
}

void endpoint_pop(struct endpoint *endpoint, uint32_t key) {
    struct target *queue = targets_find(&endpoint->targets, key, FRAME_APPEND);
    size_t bytes;
    if (!endpoint_front(endpoint, key, &bytes)) {
        return;
    }
    endpoint_enter(endpoint);
    target_pop(queue);
    if (queue->is_awaited && queue->held <= queue->bytes / 2) {
        queue->is_awaited = false;
        endpoint->has_gap = false;
        control_send(endpoint, FRAME_ROOM);
    }
    endpoint_leave(endpoint);
}
