/* The server of requests that come by messages: calls go to what rpcgen made of transfer.x, as they
 * do over sockets. A request by SIGNAL is served in the handler that it runs. */
#include <string.h>

#include "bench.h"
#include "far_side.h"
#include "serve.h"
#include "transfer.h"
#include "transport.h"

/* rpcgen does not declare it. */
void transfer_1(struct svc_req *request, SVCXPRT *transport);

static struct {
    XDR arguments;
    uint32_t number; /* of the call */
    unsigned char answer[TRANSPORT_BYTES_MOST];
    size_t bytes;
} serving;

static bool_t get_arguments(SVCXPRT *transport, xdrproc_t decode, void *arguments) {
    (void)transport;
    return decode(&serving.arguments, arguments);
}

static bool_t free_arguments(SVCXPRT *transport, xdrproc_t decode, void *arguments) {
    XDR stream = {.x_op = XDR_FREE};
    (void)transport;
    return decode(&stream, arguments);
}

static bool_t reply(SVCXPRT *transport, struct rpc_msg *message) {
    XDR stream;
    (void)transport;
    message->rm_xid = serving.number;
    xdrmem_create(&stream, (char *)serving.answer, sizeof serving.answer, XDR_ENCODE);
    if (!xdr_replymsg(&stream, message)) {
        return FALSE;
    }
    serving.bytes = xdr_getpos(&stream);
    return TRUE;
}

static void serve_call(const unsigned char *request, size_t bytes) {
    static const struct xp_ops operations = {
        .xp_getargs = get_arguments, .xp_reply = reply, .xp_freeargs = free_arguments};
    static SVCXPRT transport = {.xp_fd = -1, .xp_ops = &operations};
    char credentials[2 * MAX_AUTH_BYTES];
    struct rpc_msg message = {0};
    message.rm_call.cb_cred.oa_base = credentials;
    message.rm_call.cb_verf.oa_base = credentials + MAX_AUTH_BYTES;
    transport.xp_verf = _null_auth;
    xdrmem_create(&serving.arguments, (char *)(uintptr_t)request, (u_int)bytes, XDR_DECODE);
    if (xdr_callmsg(&serving.arguments, &message)) {
        struct svc_req call = {
            .rq_prog = message.rm_call.cb_prog,
            .rq_vers = message.rm_call.cb_vers,
            .rq_proc = message.rm_call.cb_proc,
            .rq_cred = message.rm_call.cb_cred,
            .rq_xprt = &transport,
        };
        serving.number = message.rm_xid;
        transfer_1(&call, &transport);
    }
}

static void serve_exchange(const unsigned char *request) {
    const uint32_t first = far_take(-1, request, far_payload_bytes());
    memset(serving.answer, 0, far_answer_bytes());
    memcpy(serving.answer, &first, sizeof first);
    serving.bytes = far_answer_bytes();
}

static void serve(enum protocol protocol, const unsigned char *request, size_t bytes) {
    serving.bytes = 0;
    if (far_is_called()) {
        serve_call(request, bytes);
    } else if (bytes == far_request_bytes()) {
        serve_exchange(request);
    }
    /* Empty where the request was none: its end waits for an answer. */
    (void)transport_send(protocol, serving.answer, serving.bytes);
}

_Noreturn void serve_messages(const struct ends *ends) {
    transport_open(ends->far.carrier, ends->connection, "the near side", false, serve);
    while (transport_take(far_spins() && far_has_messages())) {
        far_note_frames(transport_frames());
    }
    refuse("it could not go on: %s", transport_failure());
}
