/* The servers of the far side. None of them returns. */
#ifndef SERVE_H
#define SERVE_H

#include <netinet/in.h>

#include "../messages/ends.h"

/* Where a server waits, at ports that the system chooses; index: enum protocol. */
struct listening {
    int sockets[2];
    struct sockaddr_in addresses[2];
};

_Noreturn void serve_calls(struct listening listening);
_Noreturn void serve_stream(int listening);
_Noreturn void serve_datagrams(int socket);
_Noreturn void serve_messages(const struct ends *ends);

#endif
