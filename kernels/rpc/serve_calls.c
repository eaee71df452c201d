/* The server of calls: what rpcgen made of transfer.x hands each to take_1_svc. Its ports are not
 * registered, so that no rpcbind is needed. */
#include <stdlib.h>

#include "far_side.h"
#include "serve.h"
#include "transfer.h"

/* rpcgen declares neither of them. */
void transfer_1(struct svc_req *request, SVCXPRT *transport);
bool_t take_1_svc(block data, u_int *answer, struct svc_req *request);

bool_t take_1_svc(block data, u_int *answer, struct svc_req *request) {
    *answer = far_take(request->rq_xprt->xp_fd, data.block_val, data.block_len);
    return TRUE;
}

int transfer_1_freeresult(SVCXPRT *transport, xdrproc_t free_result, caddr_t result) {
    (void)transport;
    (void)free_result;
    (void)result;
    return TRUE; /* an answer is a number, which was not allocated */
}

_Noreturn void serve_calls(struct listening listening) {
    SVCXPRT *const transports[] = {
        [PROTOCOL_TCP] = svc_vc_create(listening.sockets[PROTOCOL_TCP], 0, 0),
        [PROTOCOL_UDP] = svc_dg_create(listening.sockets[PROTOCOL_UDP], 0, 0),
    };
    for (size_t i = 0; i < sizeof transports / sizeof *transports; i++) {
        if (!transports[i] ||
            !svc_reg(transports[i], TRANSFER, TRANSFER_VERSION, transfer_1, NULL)) {
            refuse("the RPC library takes no calls at its socket; check memory and limits");
        }
    }
    svc_run();
    refuse("the RPC library takes no more calls; check the limit of open files");
}
