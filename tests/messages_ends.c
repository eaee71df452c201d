/* Both ends of a connection in one process or two, for tests: a carrier that loses and damages, a
 * stranger that sends whatever it likes, a peer that is killed. Prints names and numbers. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "frame.h"
#include "messages.h"

enum { REGION_KEY = 0x51, QUEUE_KEY = 0x72, HANDLER_KEY = 0x93, QUEUE_BYTES = 6000 };
enum { REGION_BYTES = 4096, GUARD_BYTES = 4096, RATE = 10000, RARE_RATE = 1000 };
enum { KINDS = 3, LENGTH_LEAST = 8 };
#define CONNECTION UINT64_C(0x1234567890abcdef)

static const struct endpoint_options options = {
    .peer = "the peer",
    .connection = CONNECTION,
    .resend_ns = 300000,
};

_Noreturn static void stop(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static void *share(void) {
    void *memory = mmap(NULL, memory_carrier_bytes(), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Carriers of both ends, of that name. */
static void open_carriers(const char *name, bool sleeps, struct carrier *carriers[2]) {
    if (strcmp(name, "memory") == 0) {
        void *shared = share();
        carriers[0] = memory_carrier_open(shared, true, sleeps);
        carriers[1] = memory_carrier_open(shared, false, sleeps);
        return;
    }
    struct sockaddr_in places[2];
    int sockets[2];
    for (int i = 0; i < 2; i++) {
        places[i] = (struct sockaddr_in){.sin_family = AF_INET};
        places[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        sockets[i] = udp_carrier_bind(&places[i]);
    }
    for (int i = 0; i < 2; i++) {
        carriers[i] = udp_carrier_join(sockets[i], &places[1 - i]);
    }
}

static void print_counts(const char *end, const struct messages_counts *counts) {
    printf("%s_sent %" PRIu64 "\n%s_resent %" PRIu64 "\n%s_resends_by_clock %" PRIu64 "\n", end,
           counts->sent, end, counts->resent, end, counts->resends_by_clock);
    printf("%s_delivered %" PRIu64 "\n%s_refused %" PRIu64 "\n%s_repeated %" PRIu64 "\n", end,
           counts->delivered, end, counts->refused, end, counts->repeated);
    printf("%s_ahead %" PRIu64 "\n%s_queue_full %" PRIu64 "\n%s_damaged %" PRIu64 "\n", end,
           counts->ahead, end, counts->queue_full, end, counts->damaged);
    printf("%s_strange %" PRIu64 "\n%s_acknowledgements %" PRIu64 "\n", end, counts->strange, end,
           counts->acknowledgements);
}

/* --- A stream of numbered messages: writes, appends and signals in turn. */

static struct {
    unsigned char region[REGION_BYTES];
    uint64_t expected; /* number of the next message appended or signalled */
    uint64_t wrong;
} receiver;

static size_t length_of(uint64_t number) {
    return LENGTH_LEAST + number * 2654435761u % (MESSAGES_BYTES_MOST - LENGTH_LEAST + 1);
}

static void make_message(uint64_t number, unsigned char *room) {
    memcpy(room, &number, sizeof number);
    for (size_t i = sizeof number; i < length_of(number); i++) {
        room[i] = (unsigned char)(number * 31 + i * 7 + (i >> 8));
    }
}

static void take_number(const void *payload, size_t bytes) {
    unsigned char right[MESSAGES_BYTES_MOST];
    make_message(receiver.expected, right);
    receiver.wrong += bytes != length_of(receiver.expected) || memcmp(payload, right, bytes) != 0;
    /* The write before it has arrived, and no later one. */
    make_message(receiver.expected - receiver.expected % KINDS, right);
    receiver.wrong += memcmp(receiver.region, right, LENGTH_LEAST) != 0;
    receiver.expected += 1 + (receiver.expected % KINDS == KINDS - 1);
}

static void take_signal(void *context, const void *payload, size_t bytes) {
    struct endpoint *end = *(struct endpoint **)context;
    size_t length;
    const void *front;
    while ((front = endpoint_front(end, QUEUE_KEY, &length))) {
        take_number(front, length);
        endpoint_pop(end, QUEUE_KEY);
    }
    take_number(payload, bytes);
}

static bool send_number(struct endpoint *end, uint64_t number) {
    unsigned char message[MESSAGES_BYTES_MOST];
    make_message(number, message);
    switch (number % KINDS) {
    case 0:
        return endpoint_write(end, REGION_KEY, 0, message, length_of(number));
    case 1:
        return endpoint_append(end, QUEUE_KEY, message, length_of(number));
    default:
        return endpoint_signal(end, HANDLER_KEY, message, length_of(number));
    }
}

static void stream(const char *carrier_name, uint64_t messages, uint64_t seed) {
    const struct lossy_rates rates = {
        .lost = RATE, .repeated = RATE, .reordered = RATE, .damaged = RARE_RATE};
    struct carrier *carriers[2];
    struct endpoint *ends[2];
    open_carriers(carrier_name, false, carriers);
    for (int i = 0; i < 2; i++) {
        carriers[i] = lossy_carrier_open(carriers[i], &rates, seed * 2 + (uint64_t)i);
        ends[i] = endpoint_open(carriers[i], &options);
    }
    receiver.expected = 1;
    if (!endpoint_register(ends[1], REGION_KEY, receiver.region, sizeof receiver.region) ||
        !endpoint_register_queue(ends[1], QUEUE_KEY, QUEUE_BYTES) ||
        !endpoint_register_handler(ends[1], HANDLER_KEY, take_signal, &ends[1])) {
        stop("a target could not be registered");
    }
    const struct messages_counts *counts = endpoint_counts(ends[0]);
    const struct messages_counts *far_counts = endpoint_counts(ends[1]);
    for (uint64_t number = 0; far_counts->delivered < messages;) {
        /* As many as go without waiting, since this thread is the receiver too. */
        if (number < messages && endpoint_room(ends[0]) > 0 && !send_number(ends[0], number++)) {
            stop(endpoint_failure(ends[0]));
        }
        endpoint_poll(ends[1]);
        endpoint_poll(ends[0]);
        if (endpoint_failure(ends[0]) || endpoint_failure(ends[1])) {
            stop("the connection failed");
        }
    }
    const struct lossy_counts hits = lossy_carrier_counts(carriers[0]);
    printf("expected %" PRIu64 "\nwrong %" PRIu64 "\n", receiver.expected, receiver.wrong);
    printf("lost %" PRIu64 "\nlossy_repeated %" PRIu64 "\nreordered %" PRIu64 "\n", hits.lost,
           hits.repeated, hits.reordered);
    printf("lossy_damaged %" PRIu64 "\n", hits.damaged);
    print_counts("near", counts);
    print_counts("far", far_counts);
    endpoint_close(ends[0]);
    endpoint_close(ends[1]);
}

/* --- A stranger. */

static uint64_t state;

static uint64_t draw(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static struct frame_header good_header(uint32_t sequence, uint32_t acknowledged) {
    return (struct frame_header){
        .bytes = (uint16_t)(1 + draw(64)),
        .version = FRAME_VERSION,
        .kind = FRAME_WRITE,
        .connection = CONNECTION,
        .sequence = sequence,
        .acknowledged = acknowledged,
        .key = REGION_KEY,
    };
}

enum { STRANGERS = 10 };

/* Makes of a good frame one that must change nothing; says how many bytes of it go out. */
static size_t make_strange(unsigned kind, struct frame_header *header) {
    size_t cut = 0;
    switch (kind) {
    case 0: /* no such key, most often that of another kind */
        header->key = draw(2) ? HANDLER_KEY : (uint32_t)draw(UINT32_MAX) | 0x100;
        break;
    case 1: /* around the end of the region, or of all numbers */
        header->offset = draw(2) ? (uint32_t)(REGION_BYTES - header->bytes + 1 + draw(64))
                                 : (uint32_t)(UINT32_MAX - draw(64));
        break;
    case 2: /* no such kind */
        header->kind = (uint8_t)(FRAME_KINDS + draw(200));
        break;
    case 3: /* another connection */
        header->connection ^= UINT64_C(1) << draw(64);
        break;
    case 4: /* cut */
        cut = 1 + draw(header->bytes + sizeof *header - 1);
        break;
    case 5: /* longer than any frame, or than what came */
        header->bytes = (uint16_t)(MESSAGES_BYTES_MOST - draw(8) + 8);
        cut = draw(64) + 64;
        break;
    case 6: /* replayed */
        header->sequence -= (uint32_t)(1 + draw(1000));
        break;
    case 7: /* far ahead, or acknowledging what was never sent */
        header->sequence += (uint32_t)(1 + draw(1u << 30));
        header->acknowledged += (uint32_t)draw(UINT32_MAX);
        break;
    case 8: /* too long for a queue, or a signal for the region */
        header->kind = draw(2) ? FRAME_APPEND : FRAME_SIGNAL;
        break;
    default: /* without a message */
        header->kind = (uint8_t)(FRAME_ACKNOWLEDGE + draw(FRAME_ASK - FRAME_ACKNOWLEDGE + 1));
        header->bytes = 0;
        header->acknowledged += (uint32_t)draw(UINT32_MAX);
        break;
    }
    const size_t all = sizeof *header + (header->bytes < 512 ? header->bytes : 512);
    return all > cut ? all - cut : 0;
}

static void count_signal(void *context, const void *payload, size_t bytes) {
    (void)payload;
    *(uint64_t *)context += 1 + bytes;
}

static void hostile(uint64_t frames, uint64_t seed) {
    struct carrier *carriers[2];
    uint64_t signals = 0;
    unsigned char *memory = malloc(GUARD_BYTES * 2 + REGION_BYTES);
    state = seed * 2 + 1;
    open_carriers("memory", false, carriers);
    struct endpoint *end = endpoint_open(carriers[1], &options);
    memset(memory, 0x5a, GUARD_BYTES * 2 + REGION_BYTES);
    if (!endpoint_register(end, REGION_KEY, memory + GUARD_BYTES, REGION_BYTES) ||
        !endpoint_register_queue(end, QUEUE_KEY, 64) ||
        !endpoint_register_handler(end, HANDLER_KEY, count_signal, &signals)) {
        stop("a target could not be registered");
    }
    const struct messages_counts *counts = endpoint_counts(end);
    const uint32_t first = UINT32_MAX - 1000; /* as endpoint_open begins */
    for (uint64_t i = 0; i < frames; i++) {
        unsigned char
            frame[2 * CARRIER_FRAME_MOST_BYTES]; /* some headers claim more than there is */
        struct frame_header header = good_header(first + (uint32_t)counts->refused, first);
        const unsigned kind = (unsigned)draw(STRANGERS);
        const size_t length = make_strange(kind, &header);
        for (size_t at = sizeof header; at < sizeof frame; at++) {
            frame[at] = (unsigned char)draw(256);
        }
        header.checksum = frame_checksum(&header, frame + sizeof header);
        header.checksum ^= draw(20) == 0; /* and a few are damaged */
        memcpy(frame, &header, sizeof header);
        if (length > 0 && !carriers[0]->methods->send(carriers[0], frame, length)) {
            stop("the carrier has no room");
        }
        while (endpoint_poll(end)) {
        }
        size_t bytes;
        while (carriers[0]->methods->take(carriers[0], &bytes)) { /* answers */
            carriers[0]->methods->release(carriers[0]);
        }
    }
    uint64_t changed = signals;
    for (size_t i = 0; i < GUARD_BYTES * 2 + REGION_BYTES; i++) {
        changed += memory[i] != 0x5a;
    }
    size_t bytes;
    changed += endpoint_front(end, QUEUE_KEY, &bytes) != NULL;
    printf("changed %" PRIu64 "\n", changed);
    print_counts("far", counts);
    /* And what is right still arrives. */
    struct frame_header header = good_header(first + (uint32_t)counts->refused, first);
    unsigned char frame[CARRIER_FRAME_MOST_BYTES] = {0};
    header.bytes = 4;
    header.checksum = frame_checksum(&header, frame + sizeof header);
    memcpy(frame, &header, sizeof header);
    (void)carriers[0]->methods->send(carriers[0], frame, sizeof header + 4);
    while (endpoint_poll(end)) {
    }
    printf("still_delivered %d\n", memory[GUARD_BYTES] == 0);
    endpoint_close(end);
    carriers[0]->methods->close(carriers[0]);
    free(memory);
}

/* --- A peer that is killed: this end waits for an answer, or only listens. */

static void killed(const char *carrier_name, bool sleeps, bool listens) {
    struct carrier *carriers[2];
    unsigned char inbox[8] = {0};
    struct endpoint_options peer_options = options;
    peer_options.sleeps = sleeps;
    open_carriers(carrier_name, sleeps, carriers);
    const pid_t peer = fork();
    if (peer == 0) {
        struct endpoint *end = endpoint_open(carriers[1], &peer_options);
        endpoint_register(end, REGION_KEY, inbox, sizeof inbox);
        for (;;) {
            endpoint_wait(end, UINT64_MAX);
        }
    }
    /* The peer alone holds its socket, as in another program. */
    carriers[1]->methods->close(carriers[1]);
    struct endpoint *end = endpoint_open(carriers[0], &peer_options);
    if (!endpoint_write(end, REGION_KEY, 0, "ping", 4) || !endpoint_drain(end)) {
        stop(endpoint_failure(end));
    }
    kill(peer, SIGKILL);
    const uint64_t began_ns = clock_now();
    if (!listens) {
        (void)endpoint_write(end, REGION_KEY, 0, "ping", 4);
    }
    while (!endpoint_failure(end)) {
        endpoint_wait(end, UINT64_MAX);
    }
    printf("%" PRIu64 " %s\n", (clock_now() - began_ns) / 1000000, endpoint_failure(end));
    waitpid(peer, NULL, 0);
    endpoint_close(end);
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "stream") == 0) {
        stream(argv[2], strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
    } else if (argc == 4 && strcmp(argv[1], "hostile") == 0) {
        hostile(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    } else if (argc == 5 && strcmp(argv[1], "killed") == 0) {
        killed(argv[2], strcmp(argv[3], "sleeps") == 0, strcmp(argv[4], "listens") == 0);
    } else {
        stop("which test?");
    }
    return 0;
}
