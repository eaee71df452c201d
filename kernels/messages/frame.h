/* A frame: its header, then the payload. */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "messages.h"

enum { FRAME_VERSION = 1 };

enum frame_kind {
    FRAME_WRITE,
    FRAME_APPEND,
    FRAME_SIGNAL,
    FRAME_ACKNOWLEDGE, /* these have no payload, and no number of their own */
    FRAME_GAP,         /* an earlier frame is missing: send all from there on */
    FRAME_ROOM,        /* a queue that was full has room: send all from there on */
    FRAME_ASK,         /* are you there? */
    FRAME_CLOSE,       /* its sequence is what would have come next */
    FRAME_KINDS,
};

struct frame_header {
    uint32_t checksum; /* of all that follows */
    uint16_t bytes;    /* of the payload */
    uint8_t version;
    uint8_t kind;
    uint64_t connection;
    uint32_t sequence;     /* number of this message */
    uint32_t acknowledged; /* all messages before this number have arrived */
    uint32_t key;
    uint32_t offset;
};

_Static_assert(sizeof(struct frame_header) == 32, "the header has no holes");
_Static_assert(sizeof(struct frame_header) + MESSAGES_BYTES_MOST == CARRIER_FRAME_MOST_BYTES,
               "the longest message fits into a frame");

/* Of frames that were changed on their way, one in 2^32 has a checksum that fits. */
uint32_t frame_checksum(const struct frame_header *header, const void *payload);

enum frame_fault { FRAME_GOOD, FRAME_STRANGE, FRAME_DAMAGED };

/* Copies the header out of `bytes` bytes that came, so that nobody changes it after this look, and
 * says what is wrong with the frame. */
enum frame_fault frame_look(const unsigned char *frame, size_t bytes, uint64_t connection,
                            struct frame_header *header);

#endif
