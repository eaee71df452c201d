#include <stdlib.h>
#include <string.h>

#include "carrier.h"

enum { MILLION = 1000000, BITS_PER_BYTE = 8 };

struct held_frame {
    unsigned char bytes[CARRIER_FRAME_MOST_BYTES];
    size_t length; /* 0: none is held back */
};

struct lossy_carrier {
    struct carrier carrier;
    struct carrier *below;
    struct lossy_rates rates;
    struct lossy_counts counts;
    uint64_t state;
    struct held_frame held;
    struct held_frame changed;
};

static struct lossy_carrier *lossy_of(struct carrier *carrier) {
    return (struct lossy_carrier *)carrier;
}

/* xorshift64* */
static uint64_t draw(struct lossy_carrier *lossy) {
    lossy->state ^= lossy->state >> 12;
    lossy->state ^= lossy->state << 25;
    lossy->state ^= lossy->state >> 27;
    return (lossy->state * UINT64_C(0x2545f4914f6cdd1d)) >> 16;
}

static bool is_hit(struct lossy_carrier *lossy, uint32_t rate, uint64_t *count) {
    const bool hit = draw(lossy) % MILLION < rate;
    *count += hit;
    return hit;
}

static bool pass(struct lossy_carrier *lossy, const void *frame, size_t bytes) {
    return lossy->below->methods->send(lossy->below, frame, bytes);
}

static bool lossy_send(struct carrier *carrier, const void *frame, size_t bytes) {
    struct lossy_carrier *lossy = lossy_of(carrier);
    struct held_frame *held = &lossy->held;
    lossy->counts.frames++;
    if (is_hit(lossy, lossy->rates.lost, &lossy->counts.lost)) {
        return true;
    }
    if (held->length == 0 && is_hit(lossy, lossy->rates.reordered, &lossy->counts.reordered)) {
        memcpy(held->bytes, frame, bytes);
        held->length = bytes;
        return true;
    }
    if (is_hit(lossy, lossy->rates.damaged, &lossy->counts.damaged)) {
        const uint64_t bit = draw(lossy) % (bytes * BITS_PER_BYTE);
        memcpy(lossy->changed.bytes, frame, bytes);
        lossy->changed.bytes[bit / BITS_PER_BYTE] ^= (unsigned char)(1 << bit % BITS_PER_BYTE);
        frame = lossy->changed.bytes;
    }
    if (!pass(lossy, frame, bytes)) {
        return false;
    }
    if (is_hit(lossy, lossy->rates.repeated, &lossy->counts.repeated)) {
        (void)pass(lossy, frame, bytes);
    }
    if (held->length > 0) {
        (void)pass(lossy, held->bytes, held->length);
        held->length = 0;
    }
    return true;
}

static const unsigned char *lossy_take(struct carrier *carrier, size_t *bytes) {
    struct carrier *below = lossy_of(carrier)->below;
    const unsigned char *frame = below->methods->take(below, bytes);
    carrier->is_gone = below->is_gone;
    return frame;
}

static void lossy_release(struct carrier *carrier) {
    struct carrier *below = lossy_of(carrier)->below;
    below->methods->release(below);
}

static void lossy_wait(struct carrier *carrier, uint64_t limit_ns) {
    struct carrier *below = lossy_of(carrier)->below;
    below->methods->wait(below, limit_ns);
}

static uint64_t lossy_dropped(struct carrier *carrier) {
    struct carrier *below = lossy_of(carrier)->below;
    return below->methods->dropped(below);
}

static int lossy_descriptor(const struct carrier *carrier) {
    const struct carrier *below = ((const struct lossy_carrier *)carrier)->below;
    return below->methods->descriptor(below);
}

static void lossy_close(struct carrier *carrier) {
    struct carrier *below = lossy_of(carrier)->below;
    below->methods->close(below);
    free(carrier);
}

static const struct carrier_methods methods = {
    .send = lossy_send,
    .take = lossy_take,
    .release = lossy_release,
    .wait = lossy_wait,
    .dropped = lossy_dropped,
    .descriptor = lossy_descriptor,
    .close = lossy_close,
};

struct carrier *lossy_carrier_open(struct carrier *below, const struct lossy_rates *rates,
                                   uint64_t seed) {
    struct lossy_carrier *lossy = below ? calloc(1, sizeof *lossy) : NULL;
    if (!lossy) {
        return NULL;
    }
    lossy->carrier.methods = &methods;
    lossy->below = below;
    lossy->rates = *rates;
    lossy->state = seed | 1;
    return &lossy->carrier;
}

struct lossy_counts lossy_carrier_counts(const struct carrier *carrier) {
    return ((const struct lossy_carrier *)carrier)->counts;
}
