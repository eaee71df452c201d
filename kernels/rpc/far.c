#define _GNU_SOURCE
#include "far.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "companion.h"
#include "crew.h"

enum { BACKLOG = 4 };

/* What both sides see. */
struct seen {
    atomic_size_t payload_bytes;
    atomic_size_t request_bytes;
    atomic_size_t answer_bytes;
    atomic_bool spins;
    atomic_bool wants_nodelay;
    atomic_int nodelay;
    atomic_size_t bytes; /* of what came */
    unsigned char came[TRIP_BYTES_MOST];
};

static struct seen *seen;

static int listen_at(struct sockaddr_in *address, int type) {
    socklen_t length = sizeof *address;
    const int one = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    if (one < 0 || bind(one, (const struct sockaddr *)address, length) != 0 ||
        (type == SOCK_STREAM && listen(one, BACKLOG) != 0)) {
        char text[INET_ADDRSTRLEN];
        inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
        refuse("the far side has no socket at %s (%s); free ports there, or see its limits", text,
               strerror(errno));
    }
    getsockname(one, (struct sockaddr *)address, &length);
    return one;
}

struct listening far_listen(struct in_addr address) {
    static const int types[] = {[PROTOCOL_TCP] = SOCK_STREAM, [PROTOCOL_UDP] = SOCK_DGRAM};
    struct listening found;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        found.addresses[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = address};
        found.sockets[i] = listen_at(&found.addresses[i], types[i]);
    }
    return found;
}

static void be_server_of_calls(const void *argument) {
    companion_ready(0);
    serve_calls(*(const struct listening *)argument);
}

static void be_server_of_streams(const void *argument) {
    companion_ready(0);
    serve_stream(((const struct listening *)argument)->sockets[PROTOCOL_TCP]);
}

static void be_server_of_datagrams(const void *argument) {
    companion_ready(0);
    serve_datagrams(((const struct listening *)argument)->sockets[PROTOCOL_UDP]);
}

/* Each server has its own sockets alone: at those of one that has ended, nobody is there. */
static void let_go(struct listening listening, enum protocol protocol) {
    close(listening.sockets[protocol]);
}

void far_start(struct listening calls, struct listening plain, int cpu) {
    seen = crew_share(sizeof *seen, "what arrives");
    companion_start("the server of calls", cpu, be_server_of_calls, &calls);
    let_go(calls, PROTOCOL_TCP);
    let_go(calls, PROTOCOL_UDP);
    companion_start("the server of streams", cpu, be_server_of_streams, &plain);
    let_go(plain, PROTOCOL_TCP);
    companion_start("the server of datagrams", cpu, be_server_of_datagrams, &plain);
    let_go(plain, PROTOCOL_UDP);
}

void far_expect(const struct trip *trip) {
    atomic_store(&seen->payload_bytes, trip->bytes);
    atomic_store(&seen->request_bytes, trip->request_bytes);
    atomic_store(&seen->answer_bytes, trip->answer_bytes);
    atomic_store(&seen->spins, trip->spins);
    atomic_store(&seen->nodelay, -1);
    atomic_store(&seen->wants_nodelay, trip->protocol == PROTOCOL_TCP);
}

void far_rest(void) {
    atomic_store(&seen->spins, false);
}

bool far_has(const unsigned char *payload, size_t bytes) {
    return atomic_load(&seen->bytes) == bytes && memcmp(seen->came, payload, bytes) == 0;
}

int far_nodelay(void) {
    return atomic_load(&seen->nodelay);
}

/* Of the first request of a point only: the others pay no system call for it. */
static void look_at_nodelay(int socket) {
    int on = 0;
    socklen_t length = sizeof on;
    atomic_store(&seen->wants_nodelay, false);
    if (getsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, &length) == 0) {
        atomic_store(&seen->nodelay, on != 0);
    }
}

uint32_t far_take(int socket, const void *payload, size_t bytes) {
    uint32_t first = 0;
    if (atomic_load(&seen->wants_nodelay)) {
        look_at_nodelay(socket);
    }
    if (bytes >= sizeof first && bytes <= sizeof seen->came) {
        memcpy(seen->came, payload, bytes);
        memcpy(&first, payload, sizeof first);
    }
    atomic_store(&seen->bytes, bytes);
    return first;
}

size_t far_payload_bytes(void) {
    return atomic_load(&seen->payload_bytes);
}

size_t far_request_bytes(void) {
    return atomic_load(&seen->request_bytes);
}

size_t far_answer_bytes(void) {
    return atomic_load(&seen->answer_bytes);
}

bool far_spins(void) {
    return atomic_load(&seen->spins);
}
