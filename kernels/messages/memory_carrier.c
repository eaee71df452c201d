/* Two rows of slots in memory that both ends share. Each slot says itself whether it is full, so
 * that a short frame crosses from core to core in one line of the cache. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "carrier.h"

enum { SLOTS = 256 };
#define NS_PER_S UINT64_C(1000000000)

struct slot {
    _Alignas(64) _Atomic uint32_t bytes; /* 0: empty */
    unsigned char frame[CARRIER_FRAME_MOST_BYTES];
};

struct row {
    struct slot slots[SLOTS];
    _Alignas(256) _Atomic uint32_t sleeper; /* 1: who receives sleeps */
};

struct memory_carrier {
    struct carrier carrier;
    struct row *out;
    struct row *in;
    size_t next_out;
    size_t next_in;
    bool sleeps;
};

static struct memory_carrier *memory_of(struct carrier *carrier) {
    return (struct memory_carrier *)carrier;
}

static void call_futex(_Atomic uint32_t *word, int operation, uint32_t value,
                       const struct timespec *limit) {
    (void)syscall(SYS_futex, word, operation, value, limit, NULL, 0);
}

static bool memory_send(struct carrier *carrier, const void *frame, size_t bytes) {
    struct memory_carrier *memory = memory_of(carrier);
    struct slot *slot = &memory->out->slots[memory->next_out];
    if (atomic_load_explicit(&slot->bytes, memory_order_acquire) != 0) {
        return false;
    }
    memcpy(slot->frame, frame, bytes);
    memory->next_out = (memory->next_out + 1) % SLOTS;
    if (!memory->sleeps) {
        atomic_store_explicit(&slot->bytes, (uint32_t)bytes, memory_order_release);
        return true;
    }
    atomic_store(&slot->bytes, (uint32_t)bytes);
    if (atomic_exchange(&memory->out->sleeper, 0) == 1) {
        call_futex(&memory->out->sleeper, FUTEX_WAKE, 1, NULL);
    }
    return true;
}

static const unsigned char *memory_take(struct carrier *carrier, size_t *bytes) {
    struct memory_carrier *memory = memory_of(carrier);
    struct slot *slot = &memory->in->slots[memory->next_in];
    const uint32_t length = atomic_load_explicit(&slot->bytes, memory_order_acquire);
    if (length == 0) {
        return NULL;
    }
    *bytes = length < sizeof slot->frame ? length : sizeof slot->frame;
    return slot->frame;
}

static void memory_release(struct carrier *carrier) {
    struct memory_carrier *memory = memory_of(carrier);
    atomic_store_explicit(&memory->in->slots[memory->next_in].bytes, 0, memory_order_release);
    memory->next_in = (memory->next_in + 1) % SLOTS;
}

static void memory_wait(struct carrier *carrier, uint64_t limit_ns) {
    struct memory_carrier *memory = memory_of(carrier);
    const struct timespec limit = {
        .tv_sec = (time_t)(limit_ns / NS_PER_S),
        .tv_nsec = (long)(limit_ns % NS_PER_S),
    };
    atomic_store(&memory->in->sleeper, 1);
    if (atomic_load(&memory->in->slots[memory->next_in].bytes) == 0) {
        call_futex(&memory->in->sleeper, FUTEX_WAIT, 1, &limit);
    }
    atomic_store(&memory->in->sleeper, 0);
}

/* A frame is sent into an empty slot or not at all. */
static uint64_t memory_dropped(struct carrier *carrier) {
    (void)carrier;
    return 0;
}

static int memory_descriptor(const struct carrier *carrier) {
    (void)carrier;
    return -1;
}

static void memory_close(struct carrier *carrier) {
    free(carrier);
}

static const struct carrier_methods methods = {
    .send = memory_send,
    .take = memory_take,
    .release = memory_release,
    .wait = memory_wait,
    .dropped = memory_dropped,
    .descriptor = memory_descriptor,
    .close = memory_close,
};

size_t memory_carrier_bytes(void) {
    return 2 * sizeof(struct row);
}

struct carrier *memory_carrier_open(void *shared, bool is_first, bool sleeps) {
    struct row *rows = shared;
    struct memory_carrier *memory = calloc(1, sizeof *memory);
    if (!memory) {
        return NULL;
    }
    memory->carrier.methods = &methods;
    memory->out = &rows[is_first ? 0 : 1];
    memory->in = &rows[is_first ? 1 : 0];
    memory->sleeps = sleeps;
    return &memory->carrier;
}
