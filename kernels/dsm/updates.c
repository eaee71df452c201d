#include "state.h"

#if defined(DSM_COMBINING)
static struct records waiting;

void updates_flush(void) {
    for (size_t node = 0; waiting.bytes > 0 && node < sharing.nodes; node++) {
        if (node != sharing.node) {
            post_signal(&sharing.peers[node], KEY_RECORDS, waiting.room, waiting.bytes);
        }
    }
    waiting.bytes = 0;
}

static bool combine(uint32_t offset, size_t bytes) {
    if (!records_take(bytes)) {
        updates_flush(); /* all updates arrive in the order in which they were made */
        return false;
    }
    if (!records_add(&waiting, offset, bytes)) {
        updates_flush();
        records_add(&waiting, offset, bytes);
    }
    return true;
}
#else
void updates_flush(void) {
}

static bool combine(uint32_t offset, size_t bytes) {
    (void)offset;
    (void)bytes;
    return false;
}
#endif

void sharing_update(const void *first, size_t bytes) {
    sharing.counts[SHARING_CODES]++;
    if (sharing.nodes == 1 || bytes == 0 || combine(offset_of(first), bytes)) {
        return;
    }
    for (size_t node = 0; node < sharing.nodes; node++) {
        if (node != sharing.node) {
            post_write(&sharing.peers[node], KEY_RANGE, offset_of(first), first, bytes);
        }
    }
}
