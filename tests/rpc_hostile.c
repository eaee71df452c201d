/* A stranger at the near end of the RPC server by messages: calls that were cut, changed or made up
 * are answered or refused, and a good call after each is answered as before. Prints how many were
 * answered as calls, how many as none, and how the end of a killed server was named. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kernels/rpc/far_side.h"
#include "../kernels/rpc/near_transport.h"
#include "../kernels/rpc/serve.h"
#include "crew.h"
#include "transfer.h"

enum { PAYLOAD_BYTES = 256, HEAD_BYTES = CALL_BYTES + LENGTH_BYTES };
enum { CUT, CHANGED, MADE_UP, LONGER_THAN_IT_IS, KINDS };
enum { ACCEPTED_PLACE = 20 }; /* in a reply: whether the call was made */

static struct trip trip;
static unsigned char request[TRANSPORT_BYTES_MOST];
static unsigned char answer[TRANSPORT_BYTES_MOST];

_Noreturn static void stop(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static pid_t start_server(struct ends *ends) {
    const pid_t server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        end_let_go(&ends->near);
        serve_messages(ends);
    }
    end_let_go(&ends->far);
    return server;
}

static void call_well(enum protocol protocol) {
    static unsigned char payload[PAYLOAD_BYTES];
    block data = {.block_len = sizeof payload, .block_val = (char *)payload};
    uint32_t expected;
    u_int got = 0;
    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (unsigned char)rand();
    }
    memcpy(&expected, payload, sizeof expected);
    trip.protocol = protocol;
    if (take_1(data, &got, near_transport_client(&trip, TRANSFER, TRANSFER_VERSION)) !=
            RPC_SUCCESS ||
        got != expected || !far_has(payload, sizeof payload)) {
        stop("a good call has no good answer");
    }
}

/* A good call, as it would be sent. */
static size_t make_call(void) {
    struct rpc_msg head = {.rm_xid = 1, .rm_direction = CALL};
    char payload[PAYLOAD_BYTES] = {0};
    block data = {.block_len = sizeof payload, .block_val = payload};
    XDR stream;
    head.rm_call.cb_rpcvers = RPC_MSG_VERSION;
    head.rm_call.cb_prog = TRANSFER;
    head.rm_call.cb_vers = TRANSFER_VERSION;
    head.rm_call.cb_proc = TAKE;
    head.rm_call.cb_cred = head.rm_call.cb_verf = _null_auth;
    xdrmem_create(&stream, (char *)request, sizeof request, XDR_ENCODE);
    if (!xdr_callmsg(&stream, &head) || !xdr_block(&stream, &data)) {
        stop("no call can be made");
    }
    return xdr_getpos(&stream);
}

static size_t make_hostile(void) {
    size_t bytes = make_call();
    switch (rand() % KINDS) {
    case CUT:
        return (size_t)rand() % bytes;
    case CHANGED:
        for (int changes = 1 + rand() % 8; changes > 0; changes--) {
            request[(size_t)rand() % HEAD_BYTES] = (unsigned char)rand();
        }
        return bytes;
    case MADE_UP:
        bytes = (size_t)rand() % sizeof request;
        for (size_t i = 0; i < bytes; i++) {
            request[i] = (unsigned char)rand();
        }
        return bytes;
    default:
        memset(request + CALL_BYTES, rand() % 2 ? 0xff : 0x1f, LENGTH_BYTES);
        return bytes;
    }
}

int main(int argc, char **argv) {
    const long calls = argc > 1 ? atol(argv[1]) : 0;
    struct ends ends = {.connection = 0x727063, .near.socket = -1, .far.socket = -1};
    void *shared = crew_share(memory_carrier_bytes(), "messages");
    unsigned long accepted = 0;
    unsigned long refused = 0;
    srand(argc > 2 ? (unsigned)atoi(argv[2]) : 0);
    ends.near.carrier = memory_carrier_open(shared, true, true);
    ends.far.carrier = memory_carrier_open(shared, false, true);
    far_share();
    trip = (struct trip){.is_call = true, .bytes = PAYLOAD_BYTES};
    far_expect(&trip);
    const pid_t server = start_server(&ends);
    near_transport_open(&ends);
    for (long call = 0; call < calls; call++) {
        const enum protocol protocol = call % 2 ? PROTOCOL_FIFO : PROTOCOL_SIGNAL;
        const size_t bytes = make_hostile();
        trip.protocol = protocol;
        const ssize_t length =
            near_transport_exchange(&trip, request, bytes, answer, sizeof answer);
        if (length < 0) {
            stop(transport_failure() ? transport_failure() : "a call has no answer");
        }
        if (length == REPLY_BYTES + ANSWER_BYTES && answer[ACCEPTED_PLACE + 3] == 0) {
            accepted++;
        } else {
            refused++;
        }
        call_well(protocol);
    }
    printf("accepted %lu\nrefused %lu\n", accepted, refused);
    kill(server, SIGKILL);
    if (near_transport_exchange(&trip, request, make_call(), answer, sizeof answer) >= 0) {
        stop("a dead server answered");
    }
    printf("%s\n", transport_failure());
    return waitpid(server, NULL, 0) == server ? 0 : 1;
}
