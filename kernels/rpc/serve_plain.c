/* Servers of as many bytes as calls and their answers have, without a library between them and
 * their sockets. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "far_side.h"
#include "serve.h"

static unsigned char request[MESSAGE_BYTES_MOST + 64];
static unsigned char answer[MARK_BYTES + REPLY_BYTES + ANSWER_BYTES];

static bool is_not_there_yet(ssize_t length) {
    return length < 0 && (errno == EAGAIN || errno == EINTR);
}

static int flags(void) {
    return far_spins() ? MSG_DONTWAIT : 0;
}

/* Begins with the word, as a payload does. */
static void make_answer(int socket) {
    const uint32_t first = far_take(socket, request, far_payload_bytes());
    memcpy(answer, &first, sizeof first);
}

static bool take_request(int near) {
    for (size_t done = 0; done < far_request_bytes();) {
        const ssize_t length = recv(near, request + done, far_request_bytes() - done, flags());
        if (length > 0) {
            done += (size_t)length;
        } else if (!is_not_there_yet(length)) {
            return false;
        }
    }
    return true;
}

_Noreturn void serve_stream(int listening) {
    for (;;) {
        const int near = accept(listening, NULL, NULL);
        while (near >= 0 && take_request(near)) {
            make_answer(near);
            (void)send(near, answer, far_answer_bytes(), MSG_NOSIGNAL);
        }
        if (near >= 0) {
            close(near);
        }
    }
}

_Noreturn void serve_datagrams(int socket) {
    for (;;) {
        struct sockaddr_in near;
        socklen_t room = sizeof near;
        const ssize_t length =
            recvfrom(socket, request, sizeof request, flags(), (struct sockaddr *)&near, &room);
        if (length >= 0 && (size_t)length == far_request_bytes()) {
            make_answer(socket);
            (void)sendto(socket, answer, far_answer_bytes(), 0, (const struct sockaddr *)&near,
                         room);
        }
    }
}
