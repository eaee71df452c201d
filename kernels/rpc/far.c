#define _GNU_SOURCE
#include "far.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "companion.h"
#include "far_side.h"
#include "serve.h"

enum { BACKLOG = 4 };

static int listen_at(struct sockaddr_in *address, int type) {
    socklen_t length = sizeof *address;
    const int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)address, length) != 0 ||
        (type == SOCK_STREAM && listen(fd, BACKLOG) != 0)) {
        char text[INET_ADDRSTRLEN];
        inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
        refuse("the far side has no socket at %s (%s); free ports there, or check its limits", text,
               strerror(errno));
    }
    getsockname(fd, (struct sockaddr *)address, &length);
    return fd;
}

struct listening far_listen(struct in_addr address) {
    static const int types[] = {[PROTOCOL_TCP] = SOCK_STREAM, [PROTOCOL_UDP] = SOCK_DGRAM};
    struct listening listening;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        listening.addresses[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = address};
        listening.sockets[i] = listen_at(&listening.addresses[i], types[i]);
    }
    return listening;
}

struct servers {
    struct listening calls;
    struct listening plain;
};

/* Each server has its own sockets alone: at those of one that has ended, no server listens, and
 * whoever connects to them hears so at once. */
static void let_go(struct listening listening, enum protocol protocol) {
    close(listening.sockets[protocol]);
}

static void be_server_of_calls(const void *argument) {
    const struct servers *servers = argument;
    let_go(servers->plain, PROTOCOL_TCP);
    let_go(servers->plain, PROTOCOL_UDP);
    companion_ready(0);
    serve_calls(servers->calls);
}

static void be_server_of_streams(const void *argument) {
    const struct servers *servers = argument;
    let_go(servers->plain, PROTOCOL_UDP);
    companion_ready(0);
    serve_stream(servers->plain.sockets[PROTOCOL_TCP]);
}

static void be_server_of_datagrams(const void *argument) {
    const struct servers *servers = argument;
    companion_ready(0);
    serve_datagrams(servers->plain.sockets[PROTOCOL_UDP]);
}

void far_start(struct listening calls, struct listening plain, int cpu) {
    const struct servers servers = {.calls = calls, .plain = plain};
    far_share();
    companion_start("the server of calls", cpu, be_server_of_calls, &servers);
    let_go(calls, PROTOCOL_TCP);
    let_go(calls, PROTOCOL_UDP);
    companion_start("the server of streams", cpu, be_server_of_streams, &servers);
    let_go(plain, PROTOCOL_TCP);
    companion_start("the server of datagrams", cpu, be_server_of_datagrams, &servers);
    let_go(plain, PROTOCOL_UDP);
}

static void be_server_of_messages(const void *argument) {
    struct ends *const *ends = argument;
    end_let_go(&(*ends)->near);
    companion_ready(0);
    serve_messages(*ends);
}

void far_start_messages(struct ends *ends, int cpu) {
    companion_start("the server of messages", cpu, be_server_of_messages, &ends);
    end_let_go(&ends->far);
}
