/* The near side of calls, as a program has it that uses rpcgen: one handle for all calls of a
 * point. The library waits as it does, asleep, and writes and allocates as it does: that is what a
 * call costs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "methods.h"
#include "near_transport.h"
#include "transfer.h"
#include "transport.h"

_Static_assert(TRANSFER_BYTES_MOST == TRIP_BYTES_MOST, "both say what the longest payload is");

static CLIENT *client;
static block data;
static u_int answer;
static enum clnt_stat status;

static void set_limit(enum protocol protocol) {
    struct timeval limit = {.tv_sec = protocol == PROTOCOL_TCP ? STREAM_LIMIT_S : DATAGRAM_LIMIT_S};
    clnt_control(client, CLSET_TIMEOUT, (char *)&limit);
    if (protocol == PROTOCOL_UDP) {
        /* Nothing is sent again: what is lost is seen to be. */
        clnt_control(client, CLSET_RETRY_TIMEOUT, (char *)&limit);
    }
}

static void open_client(struct trip *trip) {
    struct netbuf address = {
        .maxlen = sizeof trip->there,
        .len = sizeof trip->there,
        .buf = &trip->there,
    };
    data = (block){.block_len = (u_int)trip->bytes, .block_val = (char *)trip->request};
    if (protocol_has_messages(trip->protocol)) {
        client = near_transport_client(trip, TRANSFER, TRANSFER_VERSION);
        return;
    }
    trip->socket = trip_connect(trip);
    client = trip->protocol == PROTOCOL_TCP
                 ? clnt_vc_create(trip->socket, &address, TRANSFER, TRANSFER_VERSION, 0, 0)
                 : clnt_dg_create(trip->socket, &address, TRANSFER, TRANSFER_VERSION, 0, 0);
    if (!client) {
        refuse("the RPC library has no handle for calls%s; check memory and limits",
               clnt_spcreateerror(""));
    }
    set_limit(trip->protocol);
}

BENCH_TIMED static void timed_call(const void *state) {
    const struct trip *trip = state;
    if (!trip->is_given_up) {
        status = take_1(data, &answer, client);
    }
}

static void look(struct trip *trip) {
    trip->answer = answer;
    if (status == RPC_SUCCESS) {
        trip->end = TRIP_ANSWERED;
    } else {
        trip->end = status == RPC_TIMEDOUT ? TRIP_LOST : TRIP_BROKEN;
        trip->why = protocol_has_messages(trip->protocol) && transport_failure()
                        ? transport_failure()
                        : clnt_sperrno(status);
    }
}

static void close_client(struct trip *trip) {
    clnt_destroy(client);
    client = NULL;
    if (protocol_has_messages(trip->protocol)) {
        transport_acknowledge();
        return;
    }
    close(trip->socket);
}

const char *procedure_library(void) {
    static char path[PATH_MAX];
    Dl_info info;
    if (dladdr((void *)(uintptr_t)clnt_vc_create, &info) == 0 || !realpath(info.dli_fname, path)) {
        return NULL;
    }
    return basename(path);
}

const struct trip_method call_method = {
    .open = open_client,
    .timed = timed_call,
    .look = look,
    .close = close_client,
};
