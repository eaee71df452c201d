/* A packet of updates: each has an offset and a length in front of it, which is what combining adds
 * to the traffic. */
#include <string.h>

#include "state.h"

struct record {
    uint32_t offset;
    uint32_t bytes;
};

enum { WORD_BYTES = 4 };

static size_t whole_words(size_t bytes) {
    return (bytes + WORD_BYTES - 1) / WORD_BYTES * WORD_BYTES;
}

bool records_take(size_t bytes) {
    return bytes <= MESSAGES_BYTES_MOST - sizeof(struct record);
}

bool records_add(struct records *records, uint32_t offset, size_t bytes) {
    const struct record record = {.offset = offset, .bytes = (uint32_t)bytes};
    const size_t needed = sizeof record + whole_words(bytes);
    if (needed > sizeof records->room - records->bytes) {
        return false;
    }
    unsigned char *place = records->room + records->bytes;
    memcpy(place, &record, sizeof record);
    memcpy(place + sizeof record, sharing.raw + offset, bytes);
    records->bytes += needed;
    return true;
}

void records_apply(const void *payload, size_t bytes) {
    const unsigned char *place = payload;
    const unsigned char *end = place + bytes;
    struct record record;
    while ((size_t)(end - place) >= sizeof record) {
        memcpy(&record, place, sizeof record);
        place += sizeof record;
        if (record.bytes > (size_t)(end - place) || record.offset > SHARING_RANGE_BYTES ||
            record.bytes > SHARING_RANGE_BYTES - record.offset) {
            return; /* no record of ours; the library has checked the packet as a whole */
        }
        memcpy(sharing.raw + record.offset, place, record.bytes);
        place += whole_words(record.bytes);
    }
}
