#define _GNU_SOURCE
#include "channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "payload.h"

enum { REGION_KEY = 0x57000001, QUEUE_KEY = 0x46000002, HANDLER_KEY = 0x53000003 };
enum { QUEUE_BYTES = CHANNEL_SLOTS * (MESSAGES_BYTES_MOST + 16) };
enum { LOOKS_PER_POLL = 1 << 16 }; /* where interrupts bring the messages, time-outs need polls */
#define SLEEP_NS UINT64_C(100000000)

static unsigned char *slot_of(struct channel *channel, uint64_t message) {
    return channel->inbox + message % CHANNEL_SLOTS * channel->bytes;
}

/* --- Messages. */

static bool send_write(struct channel *channel, const void *payload) {
    const uint32_t offset = (uint32_t)(channel->sent % CHANNEL_SLOTS * channel->bytes);
    return endpoint_room(channel->endpoint) > 0 &&
           endpoint_write(channel->endpoint, REGION_KEY, offset, payload, channel->bytes);
}

/* Nobody tells of a write: the first word of the slot is that of the next message, or not yet. */
static bool is_written(struct channel *channel) {
    uint32_t first;
    memcpy(&first, slot_of(channel, channel->arrived), sizeof first);
    return first == (channel->mask ^ (channel->first_in + (uint32_t)channel->arrived));
}

static bool take_writes(struct channel *channel) {
    const bool came = is_written(channel) || endpoint_poll(channel->endpoint);
    if (is_written(channel)) {
        channel->arrived++;
    }
    return came;
}

static bool send_append(struct channel *channel, const void *payload) {
    return endpoint_room(channel->endpoint) > 0 &&
           endpoint_append(channel->endpoint, QUEUE_KEY, payload, channel->bytes);
}

static bool take_queue(struct channel *channel) {
    size_t bytes;
    const bool came = endpoint_poll(channel->endpoint);
    const void *message = endpoint_front(channel->endpoint, QUEUE_KEY, &bytes);
    if (message) {
        memcpy(slot_of(channel, channel->arrived), message, bytes);
        endpoint_pop(channel->endpoint, QUEUE_KEY);
        channel->arrived++;
    }
    return came || message;
}

static bool send_signal(struct channel *channel, const void *payload) {
    return endpoint_room(channel->endpoint) > 0 &&
           endpoint_signal(channel->endpoint, HANDLER_KEY, payload, channel->bytes);
}

static void handle(void *context, const void *payload, size_t bytes) {
    struct channel *channel = context;
    if (bytes == channel->bytes) {
        memcpy(slot_of(channel, channel->arrived), payload, bytes);
        channel->arrived++;
    }
}

static bool take_calls(struct channel *channel) {
    return endpoint_poll(channel->endpoint);
}

/* This end does something else, here: it looks whether its handler has run. */
static bool look_for_signals(struct channel *channel) {
    const uint64_t before = channel->arrived;
    if (++channel->looks % LOOKS_PER_POLL == 0) {
        (void)endpoint_poll(channel->endpoint);
    }
    return channel->arrived != before;
}

/* --- A TCP connection. */

static bool is_for_now(ssize_t length) {
    return length < 0 && (errno == EAGAIN || errno == EINTR);
}

static bool send_stream(struct channel *channel, const void *payload) {
    const int flags = MSG_NOSIGNAL | (channel->spins ? MSG_DONTWAIT : 0);
    const unsigned char *rest = (const unsigned char *)payload + channel->bytes_sent;
    const ssize_t length = send(channel->socket, rest, channel->bytes - channel->bytes_sent, flags);
    if (length < 0) {
        channel->is_closed = channel->is_closed || !is_for_now(length);
        return false;
    }
    channel->bytes_sent += (size_t)length;
    if (channel->bytes_sent < channel->bytes) {
        return false;
    }
    channel->bytes_sent = 0;
    return true;
}

/* An end that may sleep does so in this call, as programs do. */
static bool take_stream(struct channel *channel) {
    const size_t room = CHANNEL_SLOTS * channel->bytes;
    const size_t at = channel->bytes_arrived % room;
    const ssize_t length =
        recv(channel->socket, channel->inbox + at, room - at, channel->spins ? MSG_DONTWAIT : 0);
    if (length <= 0) {
        channel->is_closed = channel->is_closed || !is_for_now(length);
        return false;
    }
    channel->bytes_arrived += (size_t)length;
    channel->arrived = channel->bytes_arrived / channel->bytes;
    return true;
}

/* --- Both. */

static const struct channel_methods methods[] = {
    [PRIMITIVE_WRITE] = {.send = send_write, .take = take_writes},
    [PRIMITIVE_FIFO] = {.send = send_append, .take = take_queue},
    [PRIMITIVE_SIGNAL] = {.send = send_signal, .take = look_for_signals},
    [PRIMITIVE_CALL] = {.send = send_signal, .take = take_calls},
    [PRIMITIVE_STREAM] = {.send = send_stream, .take = take_stream},
};

bool channel_open_messages(struct channel *channel, struct endpoint *endpoint, bool spins) {
    channel->endpoint = endpoint;
    channel->socket = -1;
    channel->spins = spins;
    return endpoint_register(endpoint, REGION_KEY, channel->inbox, sizeof channel->inbox) &&
           endpoint_register_queue(endpoint, QUEUE_KEY, QUEUE_BYTES) &&
           endpoint_register_handler(endpoint, HANDLER_KEY, handle, channel);
}

void channel_open_stream(struct channel *channel, int socket, bool spins) {
    channel->endpoint = NULL;
    channel->socket = socket;
    channel->spins = spins;
}

bool channel_begin(struct channel *channel, enum primitive primitive, size_t bytes,
                   uint32_t first_out, uint32_t first_in) {
    static const unsigned char nothing[PAYLOAD_LEAST_BYTES];
    channel->methods = &methods[primitive];
    channel->primitive = primitive;
    channel->bytes = bytes;
    channel->first_out = first_out;
    channel->first_in = first_in;
    channel->mask =
        payload_number(channel->seed, nothing); /* of a payload of this number: itself */
    channel->sent = channel->arrived = 0;
    channel->bytes_sent = channel->bytes_arrived = 0;
    return primitive != PRIMITIVE_SIGNAL || endpoint_interrupt(channel->endpoint, true);
}

void channel_end(struct channel *channel) {
    if (channel->primitive == PRIMITIVE_SIGNAL) {
        endpoint_interrupt(channel->endpoint, false);
    }
}

void channel_make(struct channel *channel, size_t count) {
    for (uint64_t message = channel->sent; message < channel->sent + count; message++) {
        payload_make(channel->seed, channel->first_out + (uint32_t)message,
                     channel->outbox[message % CHANNEL_SLOTS], channel->bytes);
    }
}

uint64_t channel_count_wrong(const struct channel *channel, size_t count) {
    _Alignas(8) unsigned char right[MESSAGES_BYTES_MOST];
    uint64_t wrong = 0;
    for (uint64_t message = channel->arrived - count; message < channel->arrived; message++) {
        payload_make(channel->seed, channel->first_in + (uint32_t)message, right, channel->bytes);
        wrong += memcmp(channel->inbox + message % CHANNEL_SLOTS * channel->bytes, right,
                        channel->bytes) != 0;
    }
    return wrong;
}

const char *channel_failure(const struct channel *channel) {
    if (channel->endpoint) {
        return endpoint_failure(channel->endpoint);
    }
    return channel->is_closed ? "the connection was closed" : NULL;
}

static void do_something_else(uint64_t for_ns) {
    const uint64_t until_ns = clock_now() + for_ns;
    while (clock_now() < until_ns) {
    }
}

void channel_sleep(struct channel *channel) {
    if (channel->spins && channel->pause_ns > 0) {
        do_something_else(channel->pause_ns);
    }
    if (channel->endpoint && !channel->spins) {
        endpoint_sleep(channel->endpoint, SLEEP_NS);
    }
}
