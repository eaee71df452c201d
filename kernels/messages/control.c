#include "endpoint.h"

/* Where the carrier has no room, it is lost like any frame: the peer asks or sends again. */
void control_send(struct endpoint *endpoint, enum frame_kind kind) {
    struct frame_header header = {
        .version = FRAME_VERSION,
        .kind = (uint8_t)kind,
        .connection = endpoint->options.connection,
        .sequence = endpoint->next,
        .acknowledged = endpoint->expected,
    };
    header.checksum = frame_checksum(&header, NULL);
    if (endpoint->carrier->methods->send(endpoint->carrier, &header, sizeof header)) {
        endpoint->owed = 0;
        endpoint->counts.acknowledgements += kind == FRAME_ACKNOWLEDGE;
    }
}
