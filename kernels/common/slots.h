/* Places for messages, used one after the other, and again from the first; each has data that tells
 * which place, and which sample, it is of. */
#ifndef SLOTS_H
#define SLOTS_H

#include <stddef.h>
#include <stdint.h>

struct slots {
    unsigned char *first;
    uint64_t bytes; /* of all slots */
    uint64_t count_of_slots;
    uint64_t message_bytes;
    uint64_t slot_bytes;
    uint64_t next;  /* slot */
    uint64_t count; /* of messages so far */
    uint64_t looked_at;
    uint64_t wrong;
    uint64_t seed;
};

/* As many whole windows as go into `rotation_bytes`, at least one. Memory is kept from point to
 * point. */
void slots_make(struct slots *slots, uint64_t message_bytes, uint64_t window,
                uint64_t rotation_bytes, uint64_t seed);

void slots_stamp(struct slots *slots, uint64_t serial);
void slots_poison(struct slots *slots);

/* The `window` messages that came last are to be those of this sample. */
void slots_look(struct slots *slots, uint64_t window, uint64_t serial);

static inline void *slots_next(struct slots *slots) {
    unsigned char *const slot = slots->first + slots->next * slots->slot_bytes;
    slots->next = slots->next + 1 < slots->count_of_slots ? slots->next + 1 : 0;
    slots->count++;
    return slot;
}

#endif
