#include "targets.h"

#include <stdlib.h>
#include <string.h>

/* In front of each message of a queue; a message never goes around its end. */
struct record {
    uint32_t bytes;
    uint32_t skips; /* bytes that are left out here, up to the end of the queue; else 0 */
};

enum { RECORD_STEP = 8, RECORD_MOST = 16 };

static size_t record_bytes(size_t payload_bytes) {
    return sizeof(struct record) + (payload_bytes + RECORD_STEP - 1) / RECORD_STEP * RECORD_STEP;
}

static struct target *place_of(struct targets *targets, uint32_t key) {
    return &targets->places[key % MESSAGES_TARGETS_MOST];
}

struct target *targets_add(struct targets *targets, uint32_t key, enum frame_kind kind) {
    struct target *target = place_of(targets, key);
    if (target->is_taken) {
        return NULL;
    }
    *target = (struct target){.is_taken = true, .kind = kind, .key = key};
    return target;
}

bool target_make_queue(struct target *queue, size_t bytes) {
    /* One of the longest may be left out at the end. */
    queue->bytes = (bytes + RECORD_MOST - 1) / RECORD_STEP * RECORD_STEP + RECORD_MOST;
    queue->memory = aligned_alloc(RECORD_STEP, queue->bytes);
    if (!queue->memory) {
        queue->is_taken = false;
        return false;
    }
    memset(queue->memory, 0, queue->bytes); /* its pages are there before anything arrives */
    return true;
}

struct target *targets_find(struct targets *targets, uint32_t key, enum frame_kind kind) {
    struct target *target = place_of(targets, key);
    return target->is_taken && target->key == key && target->kind == kind ? target : NULL;
}

static void remove_target(struct target *target) {
    if (target->is_taken && target->kind == FRAME_APPEND) {
        free(target->memory);
    }
    target->is_taken = false;
}

void targets_remove(struct targets *targets, uint32_t key) {
    struct target *target = place_of(targets, key);
    if (target->key == key) {
        remove_target(target);
    }
}

void targets_free(struct targets *targets) {
    for (size_t i = 0; i < MESSAGES_TARGETS_MOST; i++) {
        remove_target(&targets->places[i]);
    }
}

static struct record *record_at(struct target *queue, size_t place) {
    return (struct record *)(void *)(queue->memory + place);
}

static enum delivery append(struct target *queue, const unsigned char *payload, size_t bytes) {
    const size_t needed = record_bytes(bytes);
    const size_t to_end = queue->bytes - queue->tail;
    const size_t skipped = needed > to_end ? to_end : 0;
    if (needed > queue->bytes) {
        return DELIVERY_REFUSED;
    }
    if (queue->held == 0) {
        queue->head = queue->tail = 0;
    } else if (queue->held + skipped + needed > queue->bytes) {
        queue->is_awaited = true;
        return DELIVERY_FULL;
    } else if (skipped > 0) {
        *record_at(queue, queue->tail) = (struct record){.skips = (uint32_t)skipped};
        queue->tail = 0;
        queue->held += skipped;
    }
    *record_at(queue, queue->tail) = (struct record){.bytes = (uint32_t)bytes};
    memcpy(queue->memory + queue->tail + sizeof(struct record), payload, bytes);
    queue->tail = queue->tail + needed == queue->bytes ? 0 : queue->tail + needed;
    queue->held += needed;
    return DELIVERY_DONE;
}

enum delivery targets_deliver(struct targets *targets, const struct frame_header *header,
                              const unsigned char *payload) {
    struct target *target = targets_find(targets, header->key, (enum frame_kind)header->kind);
    if (!target) {
        return DELIVERY_REFUSED;
    }
    if (target->kind == FRAME_APPEND) {
        return append(target, payload, header->bytes);
    }
    if (target->kind == FRAME_SIGNAL) {
        target->handler(target->context, payload, header->bytes);
        return DELIVERY_DONE;
    }
    if (header->offset > target->bytes || header->bytes > target->bytes - header->offset) {
        return DELIVERY_REFUSED;
    }
    memcpy(target->memory + header->offset, payload, header->bytes);
    return DELIVERY_DONE;
}

const void *target_front(struct target *queue, size_t *bytes) {
    if (queue->held == 0) {
        return NULL;
    }
    const size_t skips = record_at(queue, queue->head)->skips;
    if (skips > 0) {
        queue->head = 0;
        queue->held -= skips;
    }
    *bytes = record_at(queue, queue->head)->bytes;
    return queue->memory + queue->head + sizeof(struct record);
}

void target_pop(struct target *queue) {
    const size_t taken = record_bytes(record_at(queue, queue->head)->bytes);
    queue->head = queue->head + taken == queue->bytes ? 0 : queue->head + taken;
    queue->held -= taken;
}
