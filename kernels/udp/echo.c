#define _GNU_SOURCE
#include "echo.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emit.h"
#include "network.h"
#include "refuse.h"

enum { DATAGRAM_MOST_BYTES = 1 << 16 };

/* Below it are services that answer by themselves, and an answer to an answer would go on for
 * ever. */
enum { SERVED_PORT_LEAST = 1024 };

struct datagram {
    unsigned char bytes[DATAGRAM_MOST_BYTES];
    size_t length;
    struct sockaddr_in sender;
};

static struct datagram datagram;

int echo_open(struct sockaddr_in *address) {
    char text[INET_ADDRSTRLEN];
    socklen_t length = sizeof *address;
    inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
    const int far = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (far < 0 || bind(far, (const struct sockaddr *)address, length) != 0) {
        refuse("no socket can be bound to %s port %d (%s); give another address or port", text,
               ntohs(address->sin_port), strerror(errno));
    }
    getsockname(far, (struct sockaddr *)address, &length);
    return far;
}

static bool receive(int socket, int flags) {
    socklen_t room = sizeof datagram.sender;
    const ssize_t length = recvfrom(socket, datagram.bytes, sizeof datagram.bytes, flags,
                                    (struct sockaddr *)&datagram.sender, &room);
    datagram.length = length < 0 ? 0 : (size_t)length;
    return length >= 0;
}

static void answer(int socket) {
    (void)sendto(socket, datagram.bytes, datagram.length, 0,
                 (const struct sockaddr *)&datagram.sender, sizeof datagram.sender);
}

bool echo_answer(int socket, int flags) {
    const bool is_here = receive(socket, flags);
    if (is_here) {
        answer(socket);
    }
    return is_here;
}

_Noreturn void echo_run(int socket, bool spins) {
    const int flags = spins ? MSG_DONTWAIT : 0;
    for (;;) {
        (void)echo_answer(socket, flags);
    }
}

static void end(int signal) {
    (void)signal;
    _exit(EXIT_OK);
}

_Noreturn void echo_serve(struct sockaddr_in address, bool spins) {
    char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
    if (!network_is_own(address.sin_addr)) {
        refuse("%s is not an address of this host; give one that is (`ip address` lists them)",
               text);
    }
    const int far = echo_open(&address);
    const int flags = spins ? MSG_DONTWAIT : 0;
    signal(SIGINT, end);
    signal(SIGTERM, end);
    printf("each datagram to %s port %d is given back to its sender; Ctrl-C ends it\n", text,
           ntohs(address.sin_port));
    emit_flush();
    for (;;) {
        /* Its own port: another one like itself, which would answer in turn. */
        if (receive(far, flags) && datagram.sender.sin_port != address.sin_port &&
            ntohs(datagram.sender.sin_port) >= SERVED_PORT_LEAST) {
            answer(far);
        }
    }
}
