#define _GNU_SOURCE
#include "server.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "companion.h"
#include "crew.h"
#include "refuse.h"

enum { ROOM_BYTES = 1 << 16 };

/* What both sides see. */
struct served {
    atomic_uint_fast64_t request_bytes;
    atomic_uint_fast64_t bytes;
};

static struct served *served;

int server_listen(struct sockaddr_in *address) {
    socklen_t length = sizeof *address;
    const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listening < 0 || bind(listening, (const struct sockaddr *)address, length) != 0 ||
        listen(listening, 1) != 0) {
        refuse("no socket can listen on the far side (%s); check its address and the limits",
               strerror(errno));
    }
    getsockname(listening, (struct sockaddr *)address, &length);
    return listening;
}

/* So many bytes; false where the other side has closed. */
static bool take(int from, uint64_t bytes) {
    static unsigned char room[ROOM_BYTES];
    while (bytes > 0) {
        const ssize_t length = recv(from, room, bytes < sizeof room ? bytes : sizeof room, 0);
        if (length <= 0) {
            return false;
        }
        bytes -= (uint64_t)length;
    }
    return true;
}

static void serve(int near) {
    const uint64_t bytes = atomic_load(&served->request_bytes);
    unsigned char tag[TAG_BYTES];
    while (take(near, bytes - TAG_BYTES) && recv(near, tag, TAG_BYTES, MSG_WAITALL) == TAG_BYTES) {
        atomic_fetch_add(&served->bytes, bytes);
        if (send(near, tag, TAG_BYTES, MSG_NOSIGNAL) != TAG_BYTES) {
            return;
        }
    }
}

static void be_server(const void *argument) {
    const int *listening = argument;
    companion_ready(0);
    for (;;) {
        const int near = accept(*listening, NULL, NULL);
        if (near >= 0) {
            serve(near);
            close(near);
        }
    }
}

void server_start(int listening, int cpu) {
    served = crew_share(sizeof *served, "what arrives");
    companion_start("the far side", cpu, be_server, &listening);
    close(listening); /* so that no client can connect when it has ended */
}

void server_expect(uint64_t request_bytes) {
    atomic_store(&served->request_bytes, request_bytes);
}

uint64_t server_bytes(void) {
    return atomic_load(&served->bytes);
}
