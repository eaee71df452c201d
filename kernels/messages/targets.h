/* What the other end may reach at this one: regions, queues and handlers, each under its key. */
#ifndef TARGETS_H
#define TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"
#include "messages.h"

struct target {
    bool is_taken;
    enum frame_kind kind; /* of the messages that it takes */
    uint32_t key;
    unsigned char *memory; /* of a region, or of a queue that it then owns */
    size_t bytes;
    size_t head; /* of a queue: where the oldest message is, and where the next one goes */
    size_t tail;
    size_t held;     /* bytes in use */
    bool is_awaited; /* a message found no room */
    messages_handler *handler;
    void *context;
};

struct targets {
    struct target places[MESSAGES_TARGETS_MOST];
};

/* The place for a target of that kind and key, now taken; NULL where it was. */
struct target *targets_add(struct targets *targets, uint32_t key, enum frame_kind kind);

/* Room for messages of so many bytes; false where there is no memory. */
bool target_make_queue(struct target *queue, size_t bytes);

/* Frees what the target owns; does nothing where there is none under this key. */
void targets_remove(struct targets *targets, uint32_t key);

struct target *targets_find(struct targets *targets, uint32_t key, enum frame_kind kind);
void targets_free(struct targets *targets);

enum delivery { DELIVERY_DONE, DELIVERY_REFUSED, DELIVERY_FULL };

/* Brings the payload to where its header says, or touches nothing. */
enum delivery targets_deliver(struct targets *targets, const struct frame_header *header,
                              const unsigned char *payload);

/* The oldest message of a queue, or NULL; and takes it out, of a queue that has one. */
const void *target_front(struct target *queue, size_t *bytes);
void target_pop(struct target *queue);

#endif
