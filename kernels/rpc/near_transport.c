#include "near_transport.h"

#include <rpc/rpc.h>
#include <string.h>

#include "transport.h"

static unsigned char came[TRANSPORT_BYTES_MOST];
static size_t came_bytes;
static bool has_come;

static void take_answer(enum protocol protocol, const unsigned char *payload, size_t bytes) {
    (void)protocol;
    memcpy(came, payload, bytes);
    came_bytes = bytes;
    has_come = true;
}

void near_transport_open(const struct ends *ends) {
    transport_open(ends->near.carrier, ends->connection, "the server of messages", true,
                   take_answer);
}

static bool exchange(const struct trip *trip, const void *request, size_t bytes) {
    has_come = false;
    if (!transport_send(trip->protocol, request, bytes)) {
        return false;
    }
    while (!has_come) {
        if (!transport_take(trip->spins)) {
            return false;
        }
    }
    return true;
}

ssize_t near_transport_exchange(const struct trip *trip, const void *request, size_t bytes,
                                unsigned char *answer, size_t room) {
    if (!exchange(trip, request, bytes) || came_bytes > room) {
        return -1;
    }
    memcpy(answer, came, came_bytes);
    return (ssize_t)came_bytes;
}

/* --- A transport for the RPC library's stubs, as its own ones for TCP and UDP are. */

static struct {
    const struct trip *trip;
    struct rpc_msg head; /* of all calls, but for its number and procedure */
    struct rpc_err error;
} calls;

static enum clnt_stat fail(enum clnt_stat status) {
    calls.error.re_status = status;
    return status;
}

static enum clnt_stat call(CLIENT *client, rpcproc_t procedure, xdrproc_t encode, void *arguments,
                           xdrproc_t decode, void *results, struct timeval limit) {
    unsigned char request[TRANSPORT_BYTES_MOST];
    struct rpc_msg reply = {.acpted_rply.ar_verf = _null_auth,
                            .acpted_rply.ar_results = {.where = results, .proc = decode}};
    XDR stream;
    (void)client;
    (void)limit; /* a silent peer is noticed before */
    calls.head.rm_xid++;
    calls.head.rm_call.cb_proc = procedure;
    xdrmem_create(&stream, (char *)request, sizeof request, XDR_ENCODE);
    if (!xdr_callmsg(&stream, &calls.head) || !encode(&stream, arguments)) {
        return fail(RPC_CANTENCODEARGS);
    }
    if (!exchange(calls.trip, request, xdr_getpos(&stream))) {
        return fail(RPC_CANTRECV);
    }
    xdrmem_create(&stream, (char *)came, (u_int)came_bytes, XDR_DECODE);
    if (!xdr_replymsg(&stream, &reply) || reply.rm_xid != calls.head.rm_xid) {
        return fail(RPC_CANTDECODERES);
    }
    _seterr_reply(&reply, &calls.error);
    return calls.error.re_status;
}

static void copy_error(CLIENT *client, struct rpc_err *error) {
    (void)client;
    *error = calls.error;
}

static bool_t free_results(CLIENT *client, xdrproc_t decode, void *results) {
    XDR stream = {.x_op = XDR_FREE};
    (void)client;
    return decode(&stream, results);
}

static void do_nothing(CLIENT *client) {
    (void)client;
}

static bool_t control(CLIENT *client, u_int request, void *value) {
    (void)client;
    (void)request;
    (void)value;
    return FALSE;
}

void *near_transport_client(const struct trip *trip, uint32_t program, uint32_t version) {
    static struct clnt_ops operations = {
        .cl_call = call,
        .cl_abort = do_nothing,
        .cl_geterr = copy_error,
        .cl_freeres = free_results,
        .cl_destroy = do_nothing,
        .cl_control = control,
    };
    static CLIENT client = {.cl_ops = &operations};
    calls.trip = trip;
    calls.head.rm_direction = CALL;
    calls.head.rm_call = (struct call_body){
        .cb_rpcvers = RPC_MSG_VERSION,
        .cb_prog = program,
        .cb_vers = version,
        .cb_cred = _null_auth,
        .cb_verf = _null_auth,
    };
    return &client;
}
